/* SPDX-License-Identifier: Apache-2.0 */

/* Three threads read settings all the time, one thread counts what it sends right beside them: each of its counts takes
 * the line of the settings away from the readers. The twin has the count on another line. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { READERS = 3, STEPS = 100000 };

static _Alignas(128) struct {
	uint32_t gains[4];
#ifdef FIXED
	char rest[112];
#endif
	volatile uint64_t n_sent;
} station = { .gains = { 7, 3, 4, 6 } };

static uint64_t sums[READERS][16];

static void *listen(void *argument)
{
	uint64_t *out = argument, sum = 0;
	const volatile uint32_t *gains = station.gains;

	for (uint32_t i = 0; i < STEPS; i++)
		sum = sum / 2 + (i ^ gains[sum & 3]);
	*out = sum;
	return NULL;
}

static void *send(void *argument)
{
	uint32_t *state = argument;

	for (uint32_t i = 0; i < STEPS * 2; i++) {
		*state = *state * 1664525 + 1013904223;
		station.n_sent += *state >> 31;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[READERS + 1];
	uint32_t state = 1;
	uint64_t sum = 0;

	for (int t = 0; t < READERS; t++)
		if (pthread_create(&threads[t], NULL, listen, sums[t]) != 0)
			return 1;
	if (pthread_create(&threads[READERS], NULL, send, &state) != 0)
		return 1;
	for (int t = 0; t <= READERS; t++)
		pthread_join(threads[t], NULL);
	for (int t = 0; t < READERS; t++)
		sum = sum * 31 + sums[t][0];
	printf("%llx\n", (unsigned long long)(sum + station.n_sent));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* Four threads sell things, and each adds every sale to one atomic sum. The twin adds up for each thread, and adds that
 * to the sum once in a thousand sales. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, SALES = 60000 };
#ifdef FIXED
enum { EACH = 1000 };
#else
enum { EACH = 1 };
#endif

static _Alignas(128) struct {
	atomic_ullong sum;
	char rest[120];
} total;

static void *sell(void *argument)
{
	uint32_t state = *(const uint32_t *)argument;
	uint64_t sum = 0;

	for (int i = 1; i <= SALES; i++) {
		state = state * 1664525 + 1013904223;
		sum += (state >> 16) * (state & 3) + (state >> 25) / 3;
		if (i % EACH == 0) {
			atomic_fetch_add_explicit(&total.sum, sum, memory_order_relaxed);
			sum = 0;
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	uint32_t seeds[THREADS] = { 1, 2, 3, 4 };

	for (int t = 0; t < THREADS; t++)
		if (pthread_create(&threads[t], NULL, sell, &seeds[t]) != 0)
			return 1;
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	printf("%llu\n", (unsigned long long)total.sum);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* Four drivers report where they are after each stage of a way; each looks at nobody but itself. The places
 * of all are in one array. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { DRIVERS = 4, STAGES = 60000 };

struct driver {
	uint32_t metres;
	uint16_t speed;
	uint16_t stops;
#ifdef FIXED
	char rest[120];
#endif
};

static struct driver convoy[DRIVERS] __attribute__((aligned(128)));

static void *drive(void *argument)
{
	struct driver *me = argument;
	uint32_t road = 12345 + (uint32_t)(me - convoy);

	for (int stage = 0; stage < STAGES; stage++) {
		road = road * 1664525 + 1013904223;
		__atomic_store_n(&me->speed, (uint16_t)((me->speed * 7 + (road >> 25)) / 8),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&me->metres, me->metres + me->speed, __ATOMIC_RELAXED);
		__atomic_store_n(&me->stops, (uint16_t)(me->stops + (me->speed < 40)),
				 __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[DRIVERS];
	uint64_t sum = 0;

	for (int i = 0; i < DRIVERS; i++)
		if (pthread_create(&threads[i], NULL, drive, &convoy[i]))
			return 1;
	for (int i = 0; i < DRIVERS; i++) {
		pthread_join(threads[i], NULL);
		sum = sum * 31 + convoy[i].metres + convoy[i].stops;
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* Four threads weigh fruit, and each adds to a sum of its own. The four sums and counts are in two cache lines, which go
 * from core to core. The twin gives each thread a line. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, FRUITS = 120000 };

struct basket {
	uint64_t weight, n, heaviest;
#ifdef FIXED
	char rest[128 - 24];
#endif
};

static _Alignas(128) struct basket baskets[THREADS];

static void *weigh(void *argument)
{
	volatile struct basket *basket = argument;
	uint32_t state = 1 + (uint32_t)(basket - baskets);

	for (int i = 0; i < FRUITS; i++) {
		uint32_t fruit;

		state = state * 1664525 + 1013904223;
		fruit = state >> 20;
		fruit = (fruit * fruit >> 7) + (fruit ^ 77);
		basket->weight += fruit;
		basket->n++;
		if (fruit > basket->heaviest)
			basket->heaviest = fruit;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;

	for (int t = 0; t < THREADS; t++)
		if (pthread_create(&threads[t], NULL, weigh, &baskets[t]) != 0)
			return 1;
	for (int t = 0; t < THREADS; t++) {
		pthread_join(threads[t], NULL);
		sum = sum * 31 + baskets[t].weight + baskets[t].n + baskets[t].heaviest;
	}
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* One thread works and says after each step how far it is; two others look at that number while they work. The line of
 * the number goes from core to core at each step. The twin says so at each 1024th step. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { STEPS = 120000 };
#ifdef FIXED
enum { EVERY = 1024 };
#else
enum { EVERY = 1 };
#endif

static _Alignas(64) volatile uint64_t reached;

static void *work(void *out)
{
	uint64_t x = 1;

	for (uint64_t i = 1; i <= STEPS; i++) {
		x = x * 6364136223846793005 + i;
		if (i % EVERY == 0)
			reached = i;
	}
	*(uint64_t *)out = x;
	return NULL;
}

static void *watch(void *out)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < STEPS; i++)
		x = (x ^ (reached >> 40)) * 3 + i;
	*(uint64_t *)out = x;
	return NULL;
}

int main(void)
{
	uint64_t results[3];
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, i == 0 ? work : watch, &results[i]) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%llx\n", (unsigned long long)(results[0] + results[1] + results[2]));
	return 0;
}

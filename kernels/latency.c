/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latency of a load by the size of what is read: the measurement of the SPE white paper's
 * tables 4.4 to 4.6, with its four plateaus. A chain of loads goes through memory in steps of a
 * page; built with -DRANDOM it goes from page to page at random ("-t").
 */
#include "start.h"

#ifndef LARGEST
#define LARGEST (64 << 20)
#endif

#ifndef SECOND
#define SECOND (160 << 10) /* as in the paper */
#endif

enum { STRIDE = 4096, ROUNDS = 1200 };

/*
 * What comes after step k: a permutation of the steps below `n`, which goes round all of them. At
 * random by steps below the next power of two, without those that are none.
 */
static size_t next_step(size_t k, size_t n)
{
#ifdef RANDOM
	size_t power = 1;

	while (power < n)
		power *= 2;
	do {
		k = (k * 1664525 + 1013904223) % power;
	} while (k >= n);
	return k;
#else
	return (k + 1) % n;
#endif
}

KERNEL static void link_steps(char *memory, size_t size)
{
	size_t n = size / STRIDE;

	for (size_t k = 0; k < n; k++)
		*(void **)(void *)(memory + k * STRIDE) = memory + next_step(k, n) * STRIDE;
}

#define TEN(what) what what what what what what what what what what

/* A hundred loads in a row, each of which has to wait for the one before. */
static inline void *follow(void *at, unsigned rounds)
{
	while (rounds-- > 0) {
		TEN(TEN(at = *(void **)at;))
	}
	return at;
}

KERNEL static void *plateau_1(void *at)
{
	return follow(at, ROUNDS);
}

KERNEL static void *plateau_2(void *at)
{
	return follow(at, ROUNDS);
}

KERNEL static void *plateau_3(void *at)
{
	return follow(at, ROUNDS);
}

KERNEL static void *plateau_4(void *at)
{
	return follow(at, ROUNDS);
}

/* The first rounds bring what is read to where it stays. */
KERNEL static void *warm_up(void *at, size_t size)
{
	return follow(at, (unsigned)(size / STRIDE / 50 + 1));
}

int kernel_main(void)
{
	static const struct {
		size_t size;
		void *(*measure)(void *at);
	} plateaus[] = {
		{ 32 << 10, plateau_1 },
		{ SECOND, plateau_2 },
		{ 16 << 20, plateau_3 },
		{ LARGEST, plateau_4 },
	};
	char *memory = fresh_memory(LARGEST);
	void *at = memory;

	for (unsigned i = 0; i < sizeof(plateaus) / sizeof(plateaus[0]); i++) {
		link_steps(memory, plateaus[i].size);
		at = plateaus[i].measure(warm_up(memory, plateaus[i].size));
	}
	return at == NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow of all kinds, for profiles of executions: a switch by a table of jumps, calls by pointers, a
 * function that is inlined in two places, loops in each other, code that is hardly executed.
 */
#include "start.h"

#ifndef ROUNDS
#define ROUNDS 12000
#endif

static volatile uint32_t sink;

static inline __attribute__((always_inline)) uint32_t mix(uint32_t x)
{
	if (x & 1)
		sink = x;
	return x ^ x >> 5;
}

#define CASE(n)                                                                                    \
	case n:                                                                                    \
		sink = x ^ n * 77;                                                                 \
		return x / (2 * n + 3) + sink;
#define FOUR(n) CASE(n) CASE(n + 1) CASE(n + 2) CASE(n + 3)

static KERNEL uint32_t handle(uint32_t kind, uint32_t x)
{
	switch (kind) {
		FOUR(0)
		FOUR(4)
		FOUR(8)
		FOUR(12)
	case 16:
		return mix(x) + 3;
	case 17:
		for (uint32_t i = 0; i < (x & 3); i++)
			sink = i;
		return x;
	default:
		return ~x;
	}
}

static KERNEL uint32_t add(uint32_t x)
{
	return mix(x) + sink;
}

static KERNEL uint32_t rotate(uint32_t x)
{
	return x >> 3 | x << 29;
}

static KERNEL uint32_t rare(uint32_t x)
{
	for (uint32_t i = 0; i < 40; i++)
		sink = x + i;
	return x;
}

static uint32_t (*volatile const functions[])(uint32_t) = { add, rotate, add, add };

int kernel_main(void)
{
	uint32_t state = 1, x = 0;

	for (uint32_t r = 0; r < ROUNDS; r++) {
		uint32_t chance = next_random(&state);

		x += handle(chance & 31, chance >> 8);
		if ((chance >> 5 & 127) == 0)
			x = rare(x);
		x = functions[chance >> 16 & 3](x);
	}
	sink = x;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through an array in steps of seven lines, where each step is read from the one before:
 * the benchmark of the Neoverse N1 performance analysis methodology. Built with -DAHEAD=40 it
 * asks for the line forty steps ahead.
 */
#include "start.h"

#ifndef ROUNDS
#define ROUNDS 400000
#endif

enum { SIZE = 16 << 20, LINE = 64, STEP = 7 };

static unsigned char array[SIZE] __attribute__((aligned(4096)));

KERNEL static void fill(void)
{
	uint64_t *words = (uint64_t *)(void *)array;

	for (size_t i = 0; i < SIZE / sizeof(*words); i += LINE / sizeof(*words))
		words[i] = STEP;
}

KERNEL static unsigned walk(void)
{
	unsigned position = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
#ifdef AHEAD
		__builtin_prefetch(&array[(position + AHEAD * STEP * LINE) % SIZE]);
#endif
		position = (position + array[position] * LINE) % SIZE;
	}
	return position;
}

int kernel_main(void)
{
	fill();
	return walk() != (unsigned)((uint64_t)ROUNDS * STEP * LINE % SIZE);
}

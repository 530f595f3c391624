/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer work in independent chains, on lines of the L1D, with branches that are easily foreseen:
 * nothing stands in its way.
 */
#include "start.h"

enum { WORDS = 4096, ROUNDS = 190, LANES = 4 };

static uint32_t words[WORDS];

static KERNEL void fill(uint32_t seed)
{
	for (int i = 0; i < WORDS; i++)
		words[i] = next_random(&seed);
}

/* Four sums that do not wait for each other. */
static KERNEL uint32_t add_up(void)
{
	uint32_t sums[LANES] = { 0 };

	for (int i = 0; i < WORDS; i += LANES) {
		sums[0] += words[i] ^ 0x55;
		sums[1] += words[i + 1] ^ 0x55;
		sums[2] += words[i + 2] ^ 0x55;
		sums[3] += words[i + 3] ^ 0x55;
	}
	return sums[0] + sums[1] + sums[2] + sums[3];
}

int kernel_main(void)
{
	uint32_t first, sum = 0;

	fill(1);
	first = add_up();
	for (int i = 0; i < ROUNDS; i++)
		sum += add_up();
	return sum == first * ROUNDS ? 0 : 1;
}

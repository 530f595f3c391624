/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bandwidth of reading memory in order, four bytes at a time: the measurement of the SPE white
 * paper's table 4.7.
 */
#include "start.h"

enum { SIZE = 48 << 20, WORDS = SIZE / 4, WORDS_PER_LINE = 16, UNROLLED = 128 };

KERNEL static void fill(uint32_t *words)
{
	for (size_t i = 0; i < WORDS; i += WORDS_PER_LINE)
		words[i] = 1;
}

KERNEL static uint32_t add_all(const volatile uint32_t *words)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < WORDS; i += UNROLLED) {
#pragma GCC unroll 128
		for (size_t k = 0; k < UNROLLED; k++)
			sum += words[i + k];
	}
	return sum;
}

int kernel_main(void)
{
	uint32_t *words = fresh_memory(SIZE);

	fill(words);
	return add_all(words) != WORDS / WORDS_PER_LINE;
}

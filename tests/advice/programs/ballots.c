/* SPDX-License-Identifier: Apache-2.0 */

/* Splits random numbers into small and large ones: a branch that no predictor guesses. The twin stores to both sides and
 * moves one end on. */

#include <stdint.h>
#include <stdio.h>

enum { NUMBERS = 6000, ROUNDS = 100 };

static uint32_t numbers[NUMBERS], small[NUMBERS + 1], large[NUMBERS + 1];

static uint32_t split(uint32_t pivot)
{
	uint32_t n_small = 0, n_large = 0;

	for (int i = 0; i < NUMBERS; i++) {
		uint32_t number = numbers[i];

#ifdef FIXED
		small[n_small] = number;
		large[n_large] = number;
		n_small += number < pivot;
		n_large += number >= pivot;
#else
		if (number < pivot)
			small[n_small++] = number;
		else
			large[n_large++] = number;
#endif
	}
	return n_small * 3 + small[n_small / 2] + large[n_large / 2];
}

int main(void)
{
	uint32_t state = 11, sum = 0;

	for (int i = 0; i < NUMBERS; i++) {
		state = state * 1664525 + 1013904223;
		numbers[i] = state >> 4;
	}
	for (uint32_t round = 0; round < ROUNDS; round++)
		sum = sum * 5 + split((1u << 27) + (round << 16));
	printf("%x\n", sum);
	return 0;
}

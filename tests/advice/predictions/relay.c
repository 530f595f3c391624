/* SPDX-License-Identifier: Apache-2.0 */

/* Merges the times of two teams into one list, again and again: which comes next cannot be predicted. The twin selects the
 * smaller one without a branch, and computes both positions each time. */

#include <stdint.h>
#include <stdio.h>

enum { RUNNERS = 2000, ROUNDS = 60 };

static uint32_t red[RUNNERS + 1], blue[RUNNERS + 1], merged[2 * RUNNERS];

static uint64_t state = 271828;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static __attribute__((noinline)) void merge(void)
{
	const uint32_t *a = red, *b = blue;

	for (int i = 0; i < 2 * RUNNERS; i++) {
#if defined(FIXED) && FIXED == 2 /* a shorter chain: written after the first twin had run */
		uint32_t of_a = *a, of_b = *b, is_b = of_b < of_a;

		merged[i] = of_b < of_a ? of_b : of_a;
		b += is_b;
		a += is_b ^ 1;
#elif defined(FIXED)
		uint32_t of_a = *a, of_b = *b;
		uint32_t is_b = (uint32_t)(((uint64_t)of_b - of_a) >> 63), mask = 0u - is_b;

		merged[i] = of_a ^ ((of_a ^ of_b) & mask);
		b += is_b;
		a += 1 - is_b;
#else
		if (*b < *a) {
			merged[i] = *b++;
			__asm__ volatile("" ::: "memory"); /* stays a branch */
		} else {
			merged[i] = *a++;
		}
#endif
	}
}

int main(void)
{
	uint64_t sum = 0;

	red[RUNNERS] = blue[RUNNERS] = UINT32_MAX;
	for (int round = 0; round < ROUNDS; round++) {
		red[0] = draw() % 1000;
		blue[0] = draw() % 1000;
		for (int i = 1; i < RUNNERS; i++) {
			red[i] = red[i - 1] + draw() % 1000;
			blue[i] = blue[i - 1] + draw() % 1000;
		}
		for (int k = 0; k < 4; k++)
			merge();
		sum = sum * 31 + merged[RUNNERS];
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* Adds up a harvest by tree: crates come with the code that is printed on them, and its hash says which of the counters in a
 * large table is that tree's. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BITS = 23, CRATES = 600000, AHEAD = 24 };

struct crate {
	uint32_t code;
	uint16_t apples, grams;
};

static uint64_t state = 4711;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static uint32_t slot_of(uint32_t code)
{
	code ^= code >> 15;
	code *= 0x2c1b3c6d;
	code ^= code >> 12;
	code *= 0x297a2d39;
	return (code ^ code >> 15) >> (32 - BITS);
}

static __attribute__((noinline)) void weigh(uint64_t *trees, const struct crate *crates, int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t *tree = &trees[slot_of(crates[i].code)];

#ifdef FIXED
		__builtin_prefetch(&trees[slot_of(crates[i + AHEAD].code)], 1);
#endif
		/* A tree's first crate is weighed with its wooden sign. */
		*tree = *tree * 3 / 2 + (uint64_t)crates[i].apples * crates[i].grams;
	}
}

int main(void)
{
	uint64_t *trees = calloc((size_t)1 << BITS, sizeof *trees), sum = 0;
	struct crate *crates = malloc((CRATES + AHEAD) * sizeof *crates);

	if (!trees || !crates)
		return 1;
	for (int i = 0; i < CRATES + AHEAD; i++) {
		uint32_t word = draw();

		crates[i] = (struct crate){ draw(), (uint16_t)(20 + word % 60),
					    (uint16_t)(110 + (word >> 16) % 90) };
	}
	weigh(trees, crates, CRATES);
	weigh(trees, crates, CRATES);
	for (int i = 0; i < CRATES; i += 1000)
		sum = sum * 31 + trees[slot_of(crates[i].code)];
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}

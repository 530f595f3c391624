/* SPDX-License-Identifier: Apache-2.0 */

/* A walk through a table of 524288 steps, 64 bits each (4 MiB): the place of each step depends on the one before, and
 * comes from the last-level cache. The steps are small numbers, so the twin keeps them as bytes, in the L2. */

#include <stdint.h>
#include <stdio.h>

enum { PLACES = 1 << 19, WALK = 400000 };
#ifdef FIXED
typedef uint8_t step;
#else
typedef uint64_t step;
#endif

static step steps[PLACES];

static uint32_t walk(uint32_t at, int n)
{
	uint32_t sum = 0;

	for (int i = 0; i < n; i++) {
		at = (at * 37 + (uint32_t)steps[at] + (uint32_t)i) % PLACES;
		sum += at;
	}
	return sum;
}

int main(void)
{
	uint32_t state = 77;

	for (size_t i = 0; i < PLACES; i++) {
		state = state * 1664525 + 1013904223;
		steps[i] = (step)(state >> 24);
	}
	printf("%x\n", walk(1, WALK));
	return 0;
}

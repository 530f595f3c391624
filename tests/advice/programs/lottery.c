/* SPDX-License-Identifier: Apache-2.0 */

/* A table of 65536 counters is 512 KiB of 64-bit numbers: each step depends on the number found, so the latency of the
 * L2 is on the critical path. The twin keeps them as bytes (64 KiB), which is all that they need. */

#include <stdint.h>
#include <stdio.h>

enum { NUMBERS = 1 << 16, DRAWS = 900000 };
#ifdef FIXED
typedef uint8_t number;
#else
typedef uint64_t number;
#endif

static number next[NUMBERS];

static uint64_t draw(uint64_t at, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		at = (at * 13 + next[at] + i) & (NUMBERS - 1);
		sum += at;
	}
	return sum;
}

int main(void)
{
	uint32_t state = 9;

	for (size_t i = 0; i < NUMBERS; i++) {
		state = state * 1664525 + 1013904223;
		next[i] = (number)(state >> 25);
	}
	printf("%llx\n", (unsigned long long)draw(1, DRAWS));
	return 0;
}

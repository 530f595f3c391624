/* SPDX-License-Identifier: Apache-2.0 */

/* Goes round a ring in steps of the seats' own widths: the place is taken modulo the length of the ring, which is known
 * only at run time, with a division in each step, for which the next one waits. As no step is longer than the ring, the
 * twin compares and subtracts. */

#include <stdint.h>
#include <stdio.h>

enum { SEATS = 997, STEPS = 400000 };

static uint32_t widths[SEATS];

static uint64_t go_round(uint64_t seats)
{
	uint64_t at = 0, sum = 0;

	for (int i = 0; i < STEPS; i++) {
		at += widths[at];
#ifdef FIXED
		at = at >= seats ? at - seats : at;
#else
		at %= seats;
#endif
		sum += at;
	}
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (uint32_t i = 0; i < SEATS; i++)
		widths[i] = (i * 389 + 7) % SEATS;
	printf("%llu\n", (unsigned long long)go_round(SEATS - 1 + (uint64_t)argc));
	return 0;
}

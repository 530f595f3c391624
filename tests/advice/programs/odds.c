/* SPDX-License-Identifier: Apache-2.0 */

/* Efficient: scalar work that vectors do not speed up, because each sum is checked for overflow, which never happens: four
 * sums beside each other, of a table in the L1D, with one multiplication in a round. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BETS = 2048, ROUNDS = 900 };

static uint64_t stakes[BETS];

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	if (__builtin_expect(__builtin_add_overflow(a, b, &sum), 0))
		abort();
	return sum;
}

static uint64_t sum_up(uint64_t odd, uint32_t round)
{
	uint64_t a = 0, b = 0, c = 0, d = 0, marks = round;
	uint32_t weight = 0;

	for (const uint64_t *at = stakes; at < stakes + BETS; at += 4) {
		uint64_t first = at[0], second = at[1], third = at[2], fourth = at[3];

		a = add(a, (first ^ odd) & 0xffffffff);
		b = add(b, (second + odd) & 0xffffffff);
		c = add(c, (third ^ round) & 0xffffffff);
		d = (d + fourth) ^ odd;
		weight += (uint32_t)first * round;
		marks += second & third;
	}
	return add(a, b) ^ c ^ d ^ marks ^ weight;
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < BETS; i++)
		stakes[i] = (uint64_t)i * 2654435761 >> 3;
	for (uint32_t round = 0; round < ROUNDS; round++)
		sum += sum_up(sum & 0xffff, round);
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}

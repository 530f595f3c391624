/* SPDX-License-Identifier: Apache-2.0 */

/* Efficient: scalar work that vectors do not speed up, because it needs 64-bit multiplications: six random number
 * generators beside each other, no memory, no branch on data. */

#include <stdint.h>
#include <stdio.h>

enum { DRAWS = 500000 };

static uint64_t draw_all(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	uint64_t sum = 0;

	for (int i = 0; i < DRAWS; i++) {
		a = a * 6364136223846793005u + 1442695040888963407u;
		b = b * 3935559000370003845u + 2691343689449507681u;
		c = c * 2862933555777941757u + 3037000493u;
		d = d * 3202034522624059733u + 4354685564936845319u;
		e = e * 2685821657736338717u + 104729;
		f = f * 1181783497276652981u + 7919;
		sum += (a >> 33 ^ b >> 29) + (c >> 37 ^ d >> 21) + (e >> 31 ^ f >> 35);
	}
	return sum;
}

int main(void)
{
	printf("%llx\n", (unsigned long long)draw_all(1, 2, 3, 4, 5, 6));
	return 0;
}

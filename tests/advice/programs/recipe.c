/* SPDX-License-Identifier: Apache-2.0 */

/* Mixes a state of four words in a loop that somebody unrolled 3000 times: 190 KiB of straight code, which comes from
 * the L2 each time. The twin is not unrolled. */

#include <stdint.h>
#include <stdio.h>

enum { STEPS = 3000, ROUNDS = 80 };

#define STEP                                                                                       \
	a += b ^ c;                                                                                \
	b ^= d >> 7;                                                                               \
	c += a << 3;                                                                               \
	d -= b ^ 0x5bd1e995;                                                                       \
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));                                 \
	b += d << 5;                                                                               \
	d ^= a >> 9;                                                                               \
	a -= c >> 2;                                                                               \
	c ^= b << 1;                                                                               \
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
#define STEP_10 STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP
#define STEP_100 STEP_10 STEP_10 STEP_10 STEP_10 STEP_10 STEP_10 STEP_10 STEP_10 STEP_10 STEP_10
#define STEP_1000                                                                                  \
	STEP_100 STEP_100 STEP_100 STEP_100 STEP_100 STEP_100 STEP_100 STEP_100 STEP_100 STEP_100

static uint64_t mix(uint64_t a)
{
	uint64_t b = 2, c = 3, d = 4;

#ifdef FIXED
	for (int i = 0; i < STEPS; i++) {
		STEP
	}
#else
	STEP_1000 STEP_1000 STEP_1000
#endif
	return a + b + c + d;
}

int main(void)
{
	uint64_t sum = 1;

	for (int round = 0; round < ROUNDS; round++)
		sum = mix(sum);
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}

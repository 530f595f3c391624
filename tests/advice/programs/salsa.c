/* SPDX-License-Identifier: Apache-2.0 */

/* Efficient: the rounds of a stream cipher (additions, rotations, exclusive ors) on vectors, four blocks beside each other,
 * so that there is always something to do while a result is on its way. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { BLOCKS = 8000, ROUNDS = 20 };

#define FOR_4(what, ...)                                                                           \
	what(0, __VA_ARGS__);                                                                      \
	what(1, __VA_ARGS__);                                                                      \
	what(2, __VA_ARGS__);                                                                      \
	what(3, __VA_ARGS__)
#define ADD(i, to, from) to##i = vaddq_u32(to##i, from##i)
#define MIX(i, to, from, n)                                                                        \
	to##i = veorq_u32(to##i, from##i);                                                         \
	to##i = vsriq_n_u32(vshlq_n_u32(to##i, n), to##i, 32 - (n))
#define STEP(n, m)                                                                                 \
	FOR_4(ADD, a, b);                                                                          \
	FOR_4(MIX, d, a, n);                                                                       \
	FOR_4(ADD, c, d);                                                                          \
	FOR_4(MIX, b, c, m)
#define START(i, block)                                                                            \
	uint32x4_t a##i = vdupq_n_u32((block)*4 + (i)), b##i = vdupq_n_u32(0x61707865);            \
	uint32x4_t c##i = vdupq_n_u32(0x3320646e + (i)), d##i = vdupq_n_u32(block)

static uint32x4_t encrypt(uint32_t block)
{
	FOR_4(START, block);
	for (int round = 0; round < ROUNDS; round++) {
		STEP(16, 12);
		STEP(8, 7);
	}
	return veorq_u32(veorq_u32(a0, b1), veorq_u32(c2, d3));
}

int main(void)
{
	uint32x4_t sum = vdupq_n_u32(0);

	for (uint32_t block = 0; block < BLOCKS; block++)
		sum = vaddq_u32(sum, encrypt(block));
	printf("%x %x\n", vgetq_lane_u32(sum, 0), vgetq_lane_u32(sum, 3));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* Efficient: changes the loudness of 16-bit samples in the L1D with vector instructions, 32 samples in a round, none of which
 * waits for another. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { SAMPLES = 12288, ROUNDS = 1500 };

static int16_t from[SAMPLES], to[SAMPLES];

static void change(int16_t gain)
{
	for (size_t i = 0; i < SAMPLES; i += 32) {
		int16x8_t a = vld1q_s16(from + i), b = vld1q_s16(from + i + 8);
		int16x8_t c = vld1q_s16(from + i + 16), d = vld1q_s16(from + i + 24);

		vst1q_s16(to + i, vqrdmulhq_n_s16(a, gain));
		vst1q_s16(to + i + 8, vqrdmulhq_n_s16(b, gain));
		vst1q_s16(to + i + 16, vqrdmulhq_n_s16(c, gain));
		vst1q_s16(to + i + 24, vqrdmulhq_n_s16(d, gain));
	}
}

int main(void)
{
	int32_t sum = 0;

	for (int i = 0; i < SAMPLES; i++)
		from[i] = (int16_t)(i * 37);
	for (int round = 0; round < ROUNDS; round++) {
		change((int16_t)(9000 + round));
		sum += to[round];
	}
	printf("%d\n", sum);
	return 0;
}

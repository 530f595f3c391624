/* SPDX-License-Identifier: Apache-2.0 */

/* A filter of 16 taps over blocks of sound. Written with vectors: 32 values at a time, eight independent sums. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { BLOCK = 2048, TAPS = 16, ROUNDS = 48 };

static float sound[BLOCK + TAPS], filtered[BLOCK], taps[TAPS];

static __attribute__((noinline)) void filter(void)
{
	for (int i = 0; i < BLOCK; i += 32) {
		float32x4_t sums[8];

		for (int k = 0; k < 8; k++)
			sums[k] = vdupq_n_f32(0);
		for (int t = 0; t < TAPS; t++) {
			const float *from = sound + i + t;

			for (int k = 0; k < 8; k++)
				sums[k] = vfmaq_n_f32(sums[k], vld1q_f32(from + 4 * k), taps[t]);
		}
		for (int k = 0; k < 8; k++)
			vst1q_f32(filtered + i + 4 * k, sums[k]);
	}
}

int main(void)
{
	uint32_t state = 440;
	float sum = 0;

	for (int i = 0; i < BLOCK + TAPS; i++) {
		state = state * 1664525 + 1013904223;
		sound[i] = (float)(state >> 16) / 65536 - 0.5f;
	}
	for (int t = 0; t < TAPS; t++)
		taps[t] = 1.0f / (float)(t + 2);
	for (int round = 0; round < ROUNDS; round++) {
		filter();
		sound[round] = filtered[round * 7] * 0.5f;
	}
	for (int i = 0; i < BLOCK; i += 64)
		sum += filtered[i];
	printf("%.4f\n", (double)sum);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* The power of each frequency: squares of real and imaginary parts, scaled, one number at a time. All data are in the L1D.
 * The twin takes four at a time. */

#include <arm_neon.h>
#include <stdio.h>

enum { BINS = 2400, ROUNDS = 400 };

static float real[BINS], imaginary[BINS], power[BINS];

static __attribute__((noinline)) void add_power(float scale, int n)
{
	int i = 0;

#ifdef FIXED
	for (; i + 4 <= n; i += 4) {
		float32x4_t re = vld1q_f32(real + i), im = vld1q_f32(imaginary + i);
		float32x4_t square = vfmaq_f32(vmulq_f32(re, re), im, im);

		vst1q_f32(power + i, vfmaq_n_f32(vld1q_f32(power + i), square, scale));
	}
#endif
	for (; i < n; i++)
		power[i] += (real[i] * real[i] + imaginary[i] * imaginary[i]) * scale;
}

int main(int argc, char **argv)
{
	float sum = 0;

	(void)argv;
	for (int i = 0; i < BINS; i++) {
		real[i] = (float)(i % 97) / 97;
		imaginary[i] = (float)(i % 89) / 89;
	}
	for (int round = 0; round < ROUNDS; round++)
		add_power(1.0f / (float)(round + 1), BINS - (argc > 9));
	for (int i = 0; i < BINS; i++)
		sum += power[i];
	printf("%.3f\n", (double)sum);
	return 0;
}

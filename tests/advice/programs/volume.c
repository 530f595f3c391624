/* SPDX-License-Identifier: Apache-2.0 */

/* Mixes two tracks of sound: 32-bit floating point, scaled, added and limited, one sample at a time. All data are in
 * the L1D and no value depends on the one before. The twin takes four samples at a time. */

#include <arm_neon.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SAMPLES = 3000, ROUNDS = 500 };

static void mix(float *out, const float *a, const float *b, float left, float right, size_t n)
{
	size_t i = 0;

#ifdef FIXED
	for (; i + 4 <= n; i += 4) {
		float32x4_t value =
			vfmaq_n_f32(vmulq_n_f32(vld1q_f32(a + i), left), vld1q_f32(b + i), right);

		vst1q_f32(out + i,
			  vmaxnmq_f32(vminnmq_f32(value, vdupq_n_f32(1)), vdupq_n_f32(-1)));
	}
#endif
	for (; i < n; i++) {
		float value = a[i] * left + b[i] * right;

		out[i] = fmaxf(fminf(value, 1), -1);
	}
}

int main(int argc, char **argv)
{
	static float a[SAMPLES], b[SAMPLES], out[SAMPLES];
	uint32_t state = 1;
	double sum = 0;

	(void)argv;
	for (size_t i = 0; i < SAMPLES; i++) {
		state = state * 1664525 + 1013904223;
		a[i] = (float)(int32_t)state / (1u << 31);
		b[i] = (float)(int32_t)(state << 7) / (1u << 31);
	}
	for (size_t round = 0; round < ROUNDS; round++) {
		mix(out, a, b, 0.75f, 1.0f + (float)round / 256,
		    SAMPLES - (size_t)argc - round % 5);
		sum += (double)out[round % 1000];
	}
	printf("%.3f\n", sum);
	return 0;
}

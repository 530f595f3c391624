/* SPDX-License-Identifier: Apache-2.0 */

/* Efficient: limits the loudness of 16-bit samples in the L1D with vector instructions, 32 samples in a round, none of which
 * waits for another. Both vector units are always busy. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { SAMPLES = 12288, ROUNDS = 800 };

static int16_t from[SAMPLES], to[SAMPLES];

static void limit(size_t i, int16x8_t gain, int16x8_t most, int16x8_t *peak)
{
	int16x8_t louder = vqaddq_s16(vld1q_s16(from + i), gain);
	int16x8_t limited = vmaxq_s16(vminq_s16(louder, most), vnegq_s16(most));

	*peak = vmaxq_s16(*peak, louder);
	vst1q_s16(to + i, limited);
}

static int limit_all(int16_t gain)
{
	int16x8_t a = vdupq_n_s16(0), b = a, c = a, d = a;
	int16x8_t gains = vdupq_n_s16(gain), most = vdupq_n_s16(25000);

	for (size_t i = 0; i < SAMPLES; i += 32) {
		limit(i, gains, most, &a);
		limit(i + 8, gains, most, &b);
		limit(i + 16, gains, most, &c);
		limit(i + 24, gains, most, &d);
	}
	return vmaxvq_s16(vmaxq_s16(vmaxq_s16(a, b), vmaxq_s16(c, d)));
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < SAMPLES; i++)
		from[i] = (int16_t)(i * 37);
	for (int round = 0; round < ROUNDS; round++) {
		sum += limit_all((int16_t)(900 + round));
		sum += to[round];
	}
	printf("%d\n", sum);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* Smooths eight channels of sound, each with a filter whose output goes into the next step: a chain of fused
 * multiply-adds. The twin takes the channels side by side, eight chains at once. */

#include <stdio.h>

enum { CHANNELS = 8, SAMPLES = 1000, ROUNDS = 100 };

static double sound[CHANNELS][SAMPLES], state[CHANNELS];

static void smooth(double gain)
{
#ifdef FIXED
	double out[CHANNELS];

	for (int c = 0; c < CHANNELS; c++)
		out[c] = state[c];
	for (int i = 0; i < SAMPLES; i++)
		for (int c = 0; c < CHANNELS; c++)
			out[c] = out[c] * gain + sound[c][i];
	for (int c = 0; c < CHANNELS; c++)
		state[c] = out[c];
#else
	for (int c = 0; c < CHANNELS; c++) {
		double out = state[c];

		for (int i = 0; i < SAMPLES; i++)
			out = out * gain + sound[c][i];
		state[c] = out;
	}
#endif
}

int main(void)
{
	double sum = 0;

	for (int c = 0; c < CHANNELS; c++)
		for (int i = 0; i < SAMPLES; i++)
			sound[c][i] = (double)((c + 3) * i % 17 - 8);
	for (int round = 0; round < ROUNDS; round++)
		smooth(0.5 + round / 1024.0);
	for (int c = 0; c < CHANNELS; c++)
		sum += state[c];
	printf("%.6f\n", sum);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* A mixing desk: four tracks of sound become one, each with its own volume, block by block. A block is 1536 samples;
 * the volumes move a little from block to block. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { TRACKS = 4, SAMPLES = 1536, TAKES = 2600, STEP = 16 };

static _Alignas(64) float tracks[TRACKS][SAMPLES];
static _Alignas(64) float master[SAMPLES];
static uint64_t state = 44100;

static float draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (float)(int32_t)(state >> 40) / (1 << 24) - 0.5f;
}

static float32x4_t mix_four(int at, float32x4_t volumes)
{
	float32x4_t sum = vmulq_laneq_f32(vld1q_f32(&tracks[0][at]), volumes, 0);

	sum = vfmaq_laneq_f32(sum, vld1q_f32(&tracks[1][at]), volumes, 1);
	sum = vfmaq_laneq_f32(sum, vld1q_f32(&tracks[2][at]), volumes, 2);
	return vfmaq_laneq_f32(sum, vld1q_f32(&tracks[3][at]), volumes, 3);
}

static void mix(float32x4_t volumes)
{
	for (int at = 0; at < SAMPLES; at += STEP) {
		float32x4_t a = mix_four(at, volumes);
		float32x4_t b = mix_four(at + 4, volumes);
		float32x4_t c = mix_four(at + 8, volumes);
		float32x4_t d = mix_four(at + 12, volumes);

		vst1q_f32(&master[at], a);
		vst1q_f32(&master[at + 4], b);
		vst1q_f32(&master[at + 8], c);
		vst1q_f32(&master[at + 12], d);
	}
}

int main(void)
{
	double sum = 0;

	for (int t = 0; t < TRACKS; t++)
		for (int at = 0; at < SAMPLES; at++)
			tracks[t][at] = draw();
	for (int take = 0; take < TAKES; take++) {
		float volume = 0.25f + (float)take / 8192;
		float32x4_t volumes = { volume, 0.75f - volume, 0.5f, 1 - volume };

		mix(volumes);
		sum += (double)master[take % SAMPLES];
	}
	for (int at = 0; at < SAMPLES; at++)
		sum += (double)master[at] * (1 + at % 3);
	printf("mixdesk %.4f\n", sum);
	return 0;
}

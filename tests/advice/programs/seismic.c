/* SPDX-License-Identifier: Apache-2.0 */

/* Three passes over 40 MiB of samples, which no cache holds: subtract a mean, scale, limit. Each pass is vector code
 * that waits for DRAM's bandwidth. The twin does all three in one pass. FIXED=2 prefetches. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 10 << 20 };

static float32x4_t limit(float32x4_t value)
{
	return vminq_f32(vmaxq_f32(value, vdupq_n_f32(-1)), vdupq_n_f32(1));
}

#if FIXED == 2
#define PREFETCH(line) __builtin_prefetch((line) + 640)
#else
#define PREFETCH(line)
#endif

/* A cache line in each round. */
#define FOR_LINES(line, change)                                                                    \
	for (float *(line) = samples; (line) < samples + SAMPLES; (line) += 16) {                  \
		float32x4_t first = vld1q_f32(line), second = vld1q_f32((line) + 4);               \
		float32x4_t third = vld1q_f32((line) + 8), fourth = vld1q_f32((line) + 12);        \
                                                                                                   \
		PREFETCH(line);                                                                    \
		vst1q_f32(line, change(first));                                                    \
		vst1q_f32((line) + 4, change(second));                                             \
		vst1q_f32((line) + 8, change(third));                                              \
		vst1q_f32((line) + 12, change(fourth));                                            \
	}

#define CENTRE(value) vsubq_f32(value, vdupq_n_f32(mean))
#define SCALE(value) vmulq_n_f32(value, factor)
#define CHANGE(value) limit(SCALE(CENTRE(value)))

static void prepare(float *samples, float mean, float factor)
{
#if FIXED == 1
	FOR_LINES(line, CHANGE);
#else
	FOR_LINES(line, CENTRE);
	FOR_LINES(line, SCALE);
	FOR_LINES(line, limit);
#endif
}

int main(void)
{
	float *samples = calloc(SAMPLES, sizeof(*samples));

	if (samples == NULL)
		return 1;
	samples[1000] = 5;
	prepare(samples, 0.25f, 0.5f);
	printf("%.3f %.3f\n", (double)samples[1000], (double)samples[SAMPLES - 1]);
	return 0;
}

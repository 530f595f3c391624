/* SPDX-License-Identifier: Apache-2.0 */

/* A small recurrent network, applied to sixteen signals at a time: each step makes the 96 activations of every
 * signal from those of the step before, through one matrix of weights, and keeps them between 0 and 6. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { CELLS = 96, SIGNALS = 16, STEPS = 230, ROWS = 4, COLUMNS = 16 };

/* weights[strip][from][to]: strips of COLUMNS cells. */
static _Alignas(64) float weights[CELLS / COLUMNS][CELLS][COLUMNS];
static _Alignas(64) float activations[2][SIGNALS][CELLS];
static uint64_t state = 2025;

static float draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (float)(int32_t)(state >> 40) / (1 << 24);
}

static float32x4_t limit(float32x4_t value)
{
	return vminq_f32(vmaxq_f32(value, vdupq_n_f32(0)), vdupq_n_f32(6));
}

/* The activations of one signal, for the cells of one strip. */
struct row {
	float32x4_t a, b, c, d;
};

static void keep(float *to, struct row row)
{
	vst1q_f32(to, limit(row.a));
	vst1q_f32(to + 4, limit(row.b));
	vst1q_f32(to + 8, limit(row.c));
	vst1q_f32(to + 12, limit(row.d));
}

#define ADD_TO_ROW(row, in, lane)                                                                  \
	do {                                                                                       \
		row.a = vfmaq_laneq_f32(row.a, w.a, in, lane);                                     \
		row.b = vfmaq_laneq_f32(row.b, w.b, in, lane);                                     \
		row.c = vfmaq_laneq_f32(row.c, w.c, in, lane);                                     \
		row.d = vfmaq_laneq_f32(row.d, w.d, in, lane);                                     \
	} while (0)

#define ADD_CELL(lane)                                                                             \
	do {                                                                                       \
		const float *weight = strip[k + lane];                                             \
		struct row w = { vld1q_f32(weight), vld1q_f32(weight + 4), vld1q_f32(weight + 8),  \
				 vld1q_f32(weight + 12) };                                         \
                                                                                                   \
		ADD_TO_ROW(first, in0, lane);                                                      \
		ADD_TO_ROW(second, in1, lane);                                                     \
		ADD_TO_ROW(third, in2, lane);                                                      \
		ADD_TO_ROW(fourth, in3, lane);                                                     \
	} while (0)

static void advance_strip(float (*to)[CELLS], float (*from)[CELLS], float (*strip)[COLUMNS])
{
	float32x4_t bias = vdupq_n_f32(0.03125f);
	struct row first = { bias, bias, bias, bias };
	struct row second = first;
	struct row third = first;
	struct row fourth = first;

	for (int k = 0; k < CELLS; k += 4) {
		float32x4_t in0 = vld1q_f32(&from[0][k]);
		float32x4_t in1 = vld1q_f32(&from[1][k]);
		float32x4_t in2 = vld1q_f32(&from[2][k]);
		float32x4_t in3 = vld1q_f32(&from[3][k]);

		ADD_CELL(0);
		ADD_CELL(1);
		ADD_CELL(2);
		ADD_CELL(3);
	}
	keep(to[0], first);
	keep(to[1], second);
	keep(to[2], third);
	keep(to[3], fourth);
}

static void advance(float (*to)[CELLS], float (*from)[CELLS])
{
	for (int s = 0; s < CELLS / COLUMNS; s++)
		for (int signal = 0; signal < SIGNALS; signal += ROWS)
			advance_strip((float(*)[CELLS]) & to[signal][s * COLUMNS], from + signal,
				      weights[s]);
}

int main(void)
{
	double sum = 0;

	for (int s = 0; s < CELLS / COLUMNS; s++)
		for (int k = 0; k < CELLS; k++)
			for (int c = 0; c < COLUMNS; c++)
				weights[s][k][c] = (draw() - 0.46875f) / 4;
	for (int signal = 0; signal < SIGNALS; signal++)
		for (int k = 0; k < CELLS; k++)
			activations[0][signal][k] = draw();
	for (int step = 0; step < STEPS; step++)
		advance(activations[~step & 1], activations[step & 1]);
	for (int signal = 0; signal < SIGNALS; signal++)
		for (int k = 0; k < CELLS; k++)
			sum += (double)activations[STEPS & 1][signal][k] * (1 + signal + k % 7);
	printf("recurrent %.3f\n", sum);
	return 0;
}

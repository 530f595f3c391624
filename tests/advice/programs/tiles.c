/* SPDX-License-Identifier: Apache-2.0 */

/* Efficient: multiplies matrices in blocks of 4 x 8 doubles with vector multiply-adds: sixteen sums in registers, all
 * operands packed and in the L1D. */

#include <arm_neon.h>
#include <stdio.h>

enum { N = 96, ROWS = 4, COLUMNS = 8, ROUNDS = 30 };

/* Strips: [strip][k][element of the strip]. */
static double a[N / ROWS][N][ROWS], b[N / COLUMNS][N][COLUMNS], c[N][N];

struct sums {
	float64x2_t a, b, c, d;
};

#define ADD(sums, row, lane)                                                                       \
	do {                                                                                       \
		sums.a = vfmaq_laneq_f64(sums.a, column_a, row, lane);                             \
		sums.b = vfmaq_laneq_f64(sums.b, column_b, row, lane);                             \
		sums.c = vfmaq_laneq_f64(sums.c, column_c, row, lane);                             \
		sums.d = vfmaq_laneq_f64(sums.d, column_d, row, lane);                             \
	} while (0)

static void store(double *to, struct sums sums)
{
	vst1q_f64(to, sums.a);
	vst1q_f64(to + 2, sums.b);
	vst1q_f64(to + 4, sums.c);
	vst1q_f64(to + 6, sums.d);
}

static void multiply_block(double *out, const double *rows, const double *columns)
{
	struct sums first = { vdupq_n_f64(0), vdupq_n_f64(0), vdupq_n_f64(0), vdupq_n_f64(0) };
	struct sums second = first, third = first, fourth = first;

	for (const double *end = rows + N * ROWS; rows < end; rows += ROWS, columns += COLUMNS) {
		float64x2_t upper = vld1q_f64(rows), lower = vld1q_f64(rows + 2);
		float64x2_t column_a = vld1q_f64(columns), column_b = vld1q_f64(columns + 2);
		float64x2_t column_c = vld1q_f64(columns + 4), column_d = vld1q_f64(columns + 6);

		ADD(first, upper, 0);
		ADD(second, upper, 1);
		ADD(third, lower, 0);
		ADD(fourth, lower, 1);
	}
	store(out, first);
	store(out + N, second);
	store(out + 2 * N, third);
	store(out + 3 * N, fourth);
}

int main(void)
{
	for (int strip = 0; strip < N / ROWS; strip++)
		for (int k = 0; k < N; k++)
			for (int i = 0; i < ROWS; i++)
				a[strip][k][i] = (double)((strip + k * i) & 7) / 8;
	for (int strip = 0; strip < N / COLUMNS; strip++)
		for (int k = 0; k < N; k++)
			for (int i = 0; i < COLUMNS; i++)
				b[strip][k][i] = (double)((strip * i + k) & 3) / 4;
	for (int round = 0; round < ROUNDS; round++)
		for (int column = 0; column < N; column += COLUMNS)
			for (int row = 0; row < N; row += ROWS)
				multiply_block(&c[row][column], a[row / ROWS][0],
					       b[column / COLUMNS][0]);
	printf("%.3f %.3f\n", c[0][0], c[N - 1][N / 2]);
	return 0;
}

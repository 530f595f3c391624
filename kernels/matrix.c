/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matrix multiplication of textbooks, as an ordinary program with the C library: docs/tutorial.md
 * makes it faster. Built with -DINTERCHANGED, the inner two loops have changed places.
 */
#include <stdio.h>

enum { ROWS = 8, DEPTH = 1536, COLUMNS = 1024 };

static float left[ROWS][DEPTH], right[DEPTH][COLUMNS], product[ROWS][COLUMNS];

static void fill(void)
{
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < DEPTH; k++)
			left[i][k] = (float)(i + k % 3);
	for (int k = 0; k < DEPTH; k++)
		for (int j = 0; j < COLUMNS; j++)
			right[k][j] = (float)(k - j);
}

__attribute__((noinline)) static void multiply(void)
{
#ifndef INTERCHANGED
	for (int i = 0; i < ROWS; i++) {
		for (int j = 0; j < COLUMNS; j++) {
			float sum = 0;

			for (int k = 0; k < DEPTH; k++)
				sum += left[i][k] * right[k][j];
			product[i][j] = sum;
		}
	}
#else
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < DEPTH; k++)
			for (int j = 0; j < COLUMNS; j++)
				product[i][j] += left[i][k] * right[k][j];
#endif
}

int main(void)
{
	fill();
	multiply();
	printf("%.0f\n", (double)product[ROWS - 1][COLUMNS - 1]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix multiplication in two orders of the same loops: down the columns of the right matrix,
 * and along its rows.
 */
#include "start.h"

enum { SIZE = 256, ROWS = 8 };

static double left[ROWS][SIZE], right[SIZE][SIZE], product[ROWS][SIZE];

KERNEL static void prepare(void)
{
	for (unsigned i = 0; i < SIZE; i++)
		for (unsigned k = 0; k < SIZE; k++)
			right[i][k] = (double)(i ^ k);
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned k = 0; k < SIZE; k++)
			left[i][k] = (double)(i + k);
}

KERNEL static void multiply_naive(void)
{
	for (unsigned i = 0; i < ROWS; i++) {
		for (unsigned j = 0; j < SIZE; j++) {
			double sum = 0;

			for (unsigned k = 0; k < SIZE; k++)
				sum += left[i][k] * right[k][j];
			product[i][j] = sum;
		}
	}
}

KERNEL static void multiply_interchanged(void)
{
	for (unsigned i = 0; i < ROWS; i++) {
		for (unsigned k = 0; k < SIZE; k++) {
			double factor = left[i][k];

			for (unsigned j = 0; j < SIZE; j++)
				product[i][j] += factor * right[k][j];
		}
	}
}

int kernel_main(void)
{
	double naive;

	prepare();
	multiply_naive();
	naive = product[1][1];
	multiply_interchanged();
	return product[1][1] != 2 * naive;
}

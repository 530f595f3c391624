/* SPDX-License-Identifier: Apache-2.0 */

/* Values of continued fractions, from the inside: each step divides by the result of the one before. The twin keeps
 * numerator and denominator apart, and divides once at the end. */

#include <stdio.h>

enum { TERMS = 12, ROUNDS = 50000 };

static double terms[TERMS];

static double value_of(double x)
{
#ifdef FIXED
	double over = x, under = 1;

	for (int i = TERMS - 1; i >= 0; i--) {
		double up = terms[i] * over + under;

		under = over;
		over = up;
	}
	return over / under;
#else
	for (int i = TERMS - 1; i >= 0; i--)
		x = terms[i] + 1 / x;
	return x;
#endif
}

int main(void)
{
	double x = 1;

	for (int i = 0; i < TERMS; i++)
		terms[i] = 1 + i % 3;
	for (int round = 0; round < ROUNDS; round++)
		x = value_of(1 + x / (round + 1));
	printf("%.9f\n", x);
	return 0;
}

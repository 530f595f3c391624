/* SPDX-License-Identifier: Apache-2.0 */

/* A polynomial of eight coefficients by Horner's rule, at the point that the one before gave: a chain of eight multiplications
 * and additions. The twin computes squares and pairs beside each other: more operations, a shorter chain. */

#include <math.h>
#include <stdio.h>

enum { STEPS = 400000 };

static const double coefficients[8] = { 0.31, -0.27, 0.19, -0.11, 0.07, -0.05, 0.03, -0.02 };

static __attribute__((noinline)) double level(double x, const double *c)
{
	for (int i = 0; i < STEPS; i++) {
#ifdef FIXED
		double x2 = x * x, x4 = x2 * x2;
		double low = fma(fma(c[3], x, c[2]), x2, fma(c[1], x, c[0]));
		double high = fma(fma(c[7], x, c[6]), x2, fma(c[5], x, c[4]));

		x = fma(high, x4, low);
#else
		double value = c[7];

		for (int k = 6; k >= 0; k--)
			value = fma(value, x, c[k]);
		x = value;
#endif
	}
	return x;
}

int main(void)
{
	printf("%.6f\n", level(0.5, coefficients));
	return 0;
}

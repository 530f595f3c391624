/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/estimate.h"

#include <math.h>

/* Two-sided 95 % of the normal distribution. */
static const double z = 1.959963984540054;

/*
 * Quantile of the chi-squared distribution with 2k degrees of freedom, halved, by Wilson and
 * Hilferty: off by three hundredths at most from k = 1 on.
 */
static double gamma_quantile(double k, double normal)
{
	double a = 1 / (9 * k);
	double root = 1 - a + normal * sqrt(a);

	return k * root * root * root;
}

/* Limits of the mean of a Poisson count of which `n` was seen. */
static void poisson_limits(double n, double *out_low, double *out_high)
{
	*out_low = n == 0 ? 0 : fmax(0, gamma_quantile(n, -z));
	*out_high = gamma_quantile(n + 1, z);
}

struct estimate estimate_of(uint64_t n, uint64_t operations, const struct spe_interval_range *range)
{
	struct estimate e = { .total = (double)operations };
	double low, high, step = (double)range->longest;

	poisson_limits((double)n, &low, &high);
	e.low = fmax(0, e.total - ((double)n - low) * step) * range->least;
	e.high = range->has_collisions ? INFINITY
				       : (e.total + (high - (double)n) * step) * range->most;
	return e;
}

double estimate_error(const struct estimate *e)
{
	return e->total == 0 || isinf(e->high) ? NAN : (e->high - e->low) / 2 / e->total;
}

struct cell estimate_high_cell(const struct estimate *e)
{
	return isinf(e->high) ? (struct cell){ 0 } : cell_number(e->high);
}

struct estimate estimate_share(uint64_t n, uint64_t n_all)
{
	double all = (double)n_all, p = all == 0 ? 0 : (double)n / all;
	double centre, half;

	if (n_all == 0)
		return (struct estimate){ 0, 0, 1 };
	centre = (p + z * z / (2 * all)) / (1 + z * z / all);
	half = z / (1 + z * z / all) * sqrt(p * (1 - p) / all + z * z / (4 * all * all));
	return (struct estimate){ p, fmax(0, centre - half), fmin(1, centre + half) };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/estimate.h"

#include <math.h>

/* Two-sided 95 % of the normal distribution. */
static const double z = 1.959963984540054;

/* Lost samples by those that are there: from here on a total is a lower bound. */
static const double least_open = 0.05;

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
	const struct lost_samples *lost = &range->lost;
	double low, high, unused, step = (double)range->longest, known = (double)operations;

	poisson_limits((double)n, &low, &unused);
	poisson_limits((double)n + lost->most, &unused, &high);
	return (struct estimate){
		.total = known / (1 - lost->share),
		.low = fmax(0, known - ((double)n - low) * step) * range->least,
		.high = lost->is_unknown ? INFINITY
					 : (known + (high - (double)n) * step) * range->most,
	};
}

double estimate_error(const struct estimate *e)
{
	return e->total == 0 || isinf(e->high) ? NAN : (e->high - e->low) / 2 / e->total;
}

struct cell estimate_high_cell(const struct estimate *e)
{
	return isinf(e->high) ? (struct cell){ 0 } : cell_number(e->high);
}

bool estimate_is_open(uint64_t n, const struct lost_samples *lost)
{
	return lost->is_unknown || lost->most > least_open * (double)n;
}

struct cell estimate_cell(const struct estimate *e)
{
	return cell_marked(cell_count((uint64_t)llround(e->total)),
			   isinf(e->high) ? MARK_AT_LEAST : MARK_SCALED);
}

struct cell estimate_amount_cell(struct cell amount, uint64_t n, const struct lost_samples *lost)
{
	if (estimate_is_open(n, lost))
		return cell_marked(amount, MARK_AT_LEAST);
	if (lost->share > 0 && amount.type == CELL_COUNT)
		amount.count = (uint64_t)llround((double)amount.count / (1 - lost->share));
	else if (amount.type == CELL_NUMBER)
		amount.number /= 1 - lost->share;
	return cell_marked(amount, MARK_SCALED);
}

static void wilson_limits(double n, double all, double *out_low, double *out_high)
{
	double p = n / all, centre, half;

	centre = (p + z * z / (2 * all)) / (1 + z * z / all);
	half = z / (1 + z * z / all) * sqrt(p * (1 - p) / all + z * z / (4 * all * all));
	*out_low = fmax(0, centre - half);
	*out_high = fmin(1, centre + half);
}

struct estimate estimate_share(uint64_t n, uint64_t n_all, const struct lost_samples *lost)
{
	struct estimate e = { .high = 1 };
	double all = (double)n_all + lost->most, unused;

	if (n_all == 0)
		return e;
	e.total = (double)n / (double)n_all;
	if (lost->is_unknown)
		return e;
	wilson_limits((double)n, all, &e.low, &unused);
	wilson_limits((double)n + lost->most, all, &unused, &e.high);
	return e;
}

double estimate_lost_error(double share, const struct lost_samples *lost)
{
	double recorded;

	if (!(lost->share > 0) || lost->is_unknown)
		return 0;
	recorded = lost->n * (1 - lost->share) / lost->share;
	return lost->most / (lost->most + recorded) * fmax(share, 1 - share);
}

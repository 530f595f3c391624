/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/errors.h"

#include <math.h>

#include "base/alloc.h"

double stat_total_error(const struct stat_total *c)
{
	if (c->spread <= 0)
		return NAN;
	return fabs(c->value) * c->spread / (c->n_runs > 1 ? sqrt(c->n_runs) : 1);
}

bool stat_total_is_multiplexed(const struct stat_total *c)
{
	return stat_total_coverage(c) < 1 || c->is_partial;
}

/* A metric being evaluated, to find how the errors of its events affect it. */
struct evaluation {
	const struct stat_totals *totals;
	const struct formula *formula;
	size_t moved; /* number of the name whose value is moved by its error; SIZE_MAX: none */
	struct metric_estimate *out;
	bool has_errors; /* all events have a known error */
};

static bool evaluation_value(void *context, size_t name, double *out)
{
	struct evaluation *e = context;
	const struct stat_total *c = stat_totals_find(e->totals, e->formula->names[name]);

	if (c == NULL || c->state != COUNT_COUNTED)
		return false;
	*out = c->value;
	if (isnan(stat_total_error(c)))
		e->has_errors = false;
	else if (name == e->moved)
		*out += stat_total_error(c);
	e->out->is_scaled |= stat_total_is_multiplexed(c);
	if (e->out->n_runs == 0 || c->n_runs < e->out->n_runs)
		e->out->n_runs = c->n_runs;
	return true;
}

/* Adds up how far each event's error moves the metric. */
static double error_of_metric(struct evaluation *e, double value)
{
	double sum = 0;

	if (!e->has_errors)
		return NAN;
	for (size_t i = 0; i < e->formula->n_names; i++) {
		double moved = value;

		e->moved = i;
		formula_evaluate(e->formula, evaluation_value, e, &moved);
		sum += (moved - value) * (moved - value);
	}
	return sqrt(sum);
}

bool metric_estimate_of(const struct cpu_metric *metric, const struct stat_totals *totals,
			struct metric_estimate *out)
{
	struct evaluation e = {
		.totals = totals,
		.formula = &metric->formula,
		.moved = SIZE_MAX,
		.out = out,
		.has_errors = true,
	};

	*out = (struct metric_estimate){ 0 };
	if (!formula_evaluate(&metric->formula, evaluation_value, &e, &out->value))
		return false;
	out->error = error_of_metric(&e, out->value);
	return true;
}

/* Student's t for 95 % of both sides, by degrees of freedom. */
static const double t_95[] = {
	0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
};

double interval_of_runs(double error, uint32_t n_runs)
{
	uint32_t freedom = n_runs > 1 ? n_runs - 1 : 0;

	return error * (freedom > 0 && freedom < COUNT(t_95) ? t_95[freedom] : 1.96);
}

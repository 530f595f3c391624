/* SPDX-License-Identifier: Apache-2.0 */
/* How far counts of repeated runs, and metrics made of them, may be off by chance. */
#ifndef CYCLOPS_METRICS_ERRORS_H
#define CYCLOPS_METRICS_ERRORS_H

#include "cpu/pmu.h"
#include "metrics/totals.h"

/*
 * The standard error of the mean of repeated runs; NAN for a single run, which has no spread. If
 * the number of runs is not known, the spread is that of the mean, as perf prints it.
 */
double stat_total_error(const struct stat_total *);

/* Was it counted for a part of the time only? */
bool stat_total_is_multiplexed(const struct stat_total *);

/* A metric, with how the errors of its events affect it. */
struct metric_estimate {
	double value;
	double error;	 /* standard error; NAN: not known */
	bool is_scaled;	 /* by multiplexing, so the error is not known */
	uint32_t n_runs; /* the least of its events; 0: not known */
};

/* Independent errors are assumed. False: an event is missing. Slots are not known here. */
bool metric_estimate_of(const struct cpu_metric *, const struct stat_totals *,
			struct metric_estimate *out);

/*
 * Half the 95 % interval by a standard error that rests on `n_runs` (0: many): few runs tell their spread
 * badly, so it is by Student's t.
 */
double interval_of_runs(double error, uint32_t n_runs);

#endif

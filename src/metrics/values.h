/* SPDX-License-Identifier: Apache-2.0 */
/* What the metrics of a CPU come to with some counts: inside this folder only. */
#ifndef CYCLOPS_METRICS_VALUES_H
#define CYCLOPS_METRICS_VALUES_H

#include "cpu/pmu.h"
#include "metrics/totals.h"

struct stat_value {
	bool is_known;
	double value;
	double coverage; /* of the event that was counted least */
	double spread;	 /* of the event with the largest, as a share; 0: one run */
	enum cell_mark mark;
	bool is_told;	   /* by another tool, whose counts are not at hand */
	const char *lacks; /* if not known: the event that is missing, or what else is wrong */
};

/* Can it be concluded from? */
static inline bool stat_value_is_firm(const struct stat_value *v)
{
	return v->is_known && v->mark != MARK_SPARSE && v->mark != MARK_IMPLAUSIBLE;
}

/*
 * Evaluates a metric. Events that were counted at the same moments are preferred: their ratio is
 * right for those moments. `slots` in a cycle are 0 if not known.
 */
struct stat_value stat_evaluate(const struct cpu_metric *, const struct stat_totals *,
				unsigned slots, double least_coverage);

#endif

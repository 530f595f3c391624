/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the stat answer share: inside this folder only. */
#ifndef CYCLOPS_METRICS_INSIDE_H
#define CYCLOPS_METRICS_INSIDE_H

#include <stdbool.h>

#include "metrics/metrics.h"
#include "metrics/plausible.h"
#include "metrics/thresholds.h"
#include "metrics/totals.h"
#include "metrics/values.h"

#define STEP_NO_PARENT UINT32_MAX

/* A node of the tree that the walk came by. */
struct stat_step {
	const struct cpu_metric *metric;
	unsigned depth;	 /* roots are 1 */
	uint32_t parent; /* an earlier step, or STEP_NO_PARENT */
	bool is_pointed; /* above its threshold, and the worst beside it or nearly so */
	bool is_beside;	 /* no node names it: it stands with those of its group */
};

/* Counts that are being explained. */
struct stat {
	const struct cpu_pmu *pmu;
	const struct counts *counts;
	const struct stat_options *options;
	unsigned slots;
	double least_coverage; /* 0 … 1 */
	struct stat_totals totals;
	struct stat_value *values;	 /* of each metric, in the order of the catalog */
	const struct metric_list *roots; /* that the walk began with */
	VEC_OF(struct contradiction) contradictions;
	VEC_OF(struct stat_step) steps;
	VEC_OF(const struct cpu_group *) groups; /* that explain what the walk came by */
};

/* Room for `n` events, as long as the sets live. */
struct wanted_event *event_sets_new(struct event_sets *, size_t n);

/* Appends the events of a metric, unless it is there already. */
void event_sets_add_metric(struct event_sets *, const struct cpu_metric *);

/* Fails if the options name something that does not exist, also where it would choose nothing. */
int stat_options_check(const struct cpu_pmu *, const struct stat_options *, struct err *);

/* The counts have the catalog's names (counts_name()); everything is borrowed. */
void stat_init(struct stat *, const struct cpu_pmu *, const struct counts *,
	       const struct stat_options *);
void stat_release(struct stat *);

const struct stat_value *stat_value_of(const struct stat *, const struct cpu_metric *);

/* The metric that another tool calls by this name; NULL: the CPU has none. */
const struct cpu_metric *stat_metric_told(const struct cpu_pmu *, const char *name);

/* The value of a metric by name, if the CPU has it, it is known and can be concluded from. */
bool stat_value_named(const struct stat *, const char *name, double *out);

/* The threshold of that name; false if there is none. */
bool stat_threshold_of(const struct stat *, const char *name, double *out);

/* Does the metric pass its threshold, and can be concluded from? */
bool stat_is_above(const struct stat *, const struct cpu_metric *);

/*
 * What the tree begins with: slots, or else stalled cycles. Those are the second best: of CPUs with
 * slots whose number is not told, and of counts without slots.
 */
const struct metric_list *stat_roots(const struct stat *);

/* Follows the tree from its roots (stat_init() does it). */
void stat_walk(struct stat *);

/* The node of a metric of the walk, or NULL: it is a leaf. */
const struct cpu_node *stat_node_of(const struct stat *, const struct cpu_metric *);

/* Is the value of any of the walk's nodes known? */
bool stat_has_picture(const struct stat *);

/* What lacks counts before it may be said that nothing stands out. */
struct stat_lacking {
	bool has_roots;				 /* the CPU has metrics that say how much is lost */
	VEC_OF(const struct cpu_metric *) roots; /* that are not known, or not to be trusted */
	VEC_OF(const struct cpu_metric *) below; /* one of each branch of which none is known */
};

/* `out` is empty. What the machine cannot count is not in the lists. */
void stat_find_lacking(const struct stat *, struct stat_lacking *out);
void stat_lacking_release(struct stat_lacking *);

/* The total of an event, or NULL if it was not counted. */
const struct stat_total *stat_counted(const struct stat *, const struct cpu_event *);

/* Time that one run took: as told, or of the software events; 0 if not known. */
double stat_elapsed_ns(const struct stat *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts put together over CPUs, threads and intervals: one total for each event, or several
 * where an event was counted more than once (in several groups).
 */
#ifndef CYCLOPS_METRICS_TOTALS_H
#define CYCLOPS_METRICS_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "count/counts.h"
#include "table/table.h"

struct stat_total {
	const char *event, *unit; /* borrowed from the counts */
	double value;
	uint64_t enabled_ns, running_ns; /* sums; both 0: not told */
	double spread;			 /* the largest, as a share */
	uint32_t n_runs;
	uint32_t group;
	uint32_t occurrence; /* 0: the first time that the event was counted */
	uint8_t state;	     /* enum count_state */
	bool is_user_only;
	bool is_full;	     /* a counter stood at its end: a lower bound */
	bool is_partial;     /* missing where others were counted */
	bool is_implausible; /* it contradicts others, or what the CPU can do */
	bool reads_zero;     /* although it fires in any program: it is not counted here */
};

struct stat_totals {
	VEC_OF(struct stat_total) list;
	VEC_OF(struct stat_total) turns; /* of one event in groups that took turns: all of them */
};

/* Sums up `n` counts, which must outlive it. */
void stat_totals_init(struct stat_totals *, const struct count *, size_t n);
void stat_totals_release(struct stat_totals *);

/* The part of the time that was counted: 1 if not told. */
double stat_total_coverage(const struct stat_total *);

/* How far the total can be believed, if at least `least_coverage` of the time is to be counted. */
enum cell_mark stat_total_mark(const struct stat_total *, double least_coverage);

/* The total of that event with the best coverage, counted ones first; NULL if there is none. */
const struct stat_total *stat_totals_find(const struct stat_totals *, const char *event);

/* The same among those of one group. */
const struct stat_total *stat_totals_find_in(const struct stat_totals *, const char *event,
					     uint32_t group);

#endif

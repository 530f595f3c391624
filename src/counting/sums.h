/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of readings over places, and statistics of such sums over runs. */
#ifndef CYCLOPS_COUNTING_SUMS_H
#define CYCLOPS_COUNTING_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/handles.h"

/* The readings of one event in one run, summed over places. */
struct sum {
	uint64_t raw, enabled_ns, running_ns;
	double scaled;	  /* sum of the readings that ran, each scaled by enabled / running */
	uint64_t seen_ns; /* the part of enabled_ns in readings that ran */
	uint32_t group;
	uint32_t n_readings;
	bool is_unscaled; /* not scaled: time off the counter is time on another type of core */
};

void sum_add(struct sum *, const struct reading *);

/* Adds the sum of the same event over another span of time. */
void sum_merge(struct sum *, const struct sum *from);

/* The count scaled to all of the enabled time; 0 if the event never ran. */
double sum_value(const struct sum *);

/* The difference of two readings of a counter that only grows. */
struct reading reading_since(const struct reading *now, const struct reading *before);

/* Statistics of one event over runs. */
struct runs {
	uint32_t n;
	double mean, squares;		    /* Welford's algorithm */
	double raw, enabled_ns, running_ns; /* sums */
	uint32_t group;
	uint32_t n_readings;
};

void runs_add(struct runs *, const struct sum *);

/*
 * Was the event counted? No if it was never read, or if it was enabled and never ran. A task that
 * never ran has no enabled time: its count is 0, which is a count.
 */
bool runs_are_counted(const struct runs *);

/* Standard deviation as a share of the mean; 0 for a single run. */
double runs_spread(const struct runs *);

#endif

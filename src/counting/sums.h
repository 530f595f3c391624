/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of events added up over places, then over runs. */
#ifndef CYCLOPS_COUNTING_SUMS_H
#define CYCLOPS_COUNTING_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/handles.h"

/* One event of one run, over places. */
struct sum {
	uint64_t raw, enabled_ns, running_ns;
	double scaled;	  /* readings that ran, each to the whole of its time */
	uint64_t seen_ns; /* of enabled_ns: where the event ran at all */
	uint32_t group;
	uint32_t n_readings;
	bool is_unscaled; /* time off the counter is time on another kind of core */
};

void sum_add(struct sum *, const struct reading *);

/* Adds what another span of time has of the same event. */
void sum_merge(struct sum *, const struct sum *from);

/* What it would be had the event been on a counter all of the time; 0 if it never was. */
double sum_value(const struct sum *);

/* The difference of two readings of a counter that only grows. */
struct reading reading_since(const struct reading *now, const struct reading *before);

/* One event over runs. */
struct runs {
	uint32_t n;
	double mean, squares; /* Welford's method */
	double raw, enabled_ns, running_ns;
	uint32_t group;
	uint32_t n_readings;
};

void runs_add(struct runs *, const struct sum *);

/*
 * Was it counted? Not if it could never be read, or was to be counted and never was. A task that
 * never ran had no events, and that is a count.
 */
bool runs_are_counted(const struct runs *);

/* Standard deviation as a share of the mean; 0 for a single run. */
double runs_spread(const struct runs *);

#endif

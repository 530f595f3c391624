/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts show of how memory is accessed: how many misses wait at a time, and how far apart they
 * are. Inside this folder only.
 */
#ifndef CYCLOPS_STAT_CAUSES_PATTERN_H
#define CYCLOPS_STAT_CAUSES_PATTERN_H

#include "stat/causes/costs.h"

enum stat_pattern {
	PATTERN_UNKNOWN,
	PATTERN_CHAIN,	   /* about one miss waits at a time: each load waits for the one before */
	PATTERN_SCATTERED, /* several wait at a time, and few lines of each page are missed */
	PATTERN_IN_ORDER,  /* most lines of a page are missed once, then those of the next */
};

struct stat_accesses {
	enum stat_pattern pattern;
	double misses;	 /* that wait at a time, on average while the back end stalls */
	double per_page; /* lines of L1D misses for each miss of the L1D TLB; NAN: not known */
};

struct stat_accesses stat_accesses_of(const struct stat *, const struct stat_costs *);

/* Lines from DRAM that wait at a time, on average; NAN: not known. */
double stat_dram_lines(const struct stat *, const struct stat_costs *);

/* Do they fill what the core can have, so that bandwidth limits, not latency? */
bool stat_is_bandwidth(const struct stat *, const struct stat_costs *,
		       const struct stat_accesses *);

/* Lines that other CPUs took to write them, of all L1D misses; NAN: not known. */
double stat_taken_share(const struct stat *);

/* Are most L1D misses those of stores and atomics? That is how locks and atomic counters look. */
bool stat_taken_by_writes(const struct stat *);

/* How many CPUs were counted at work; 0: not known. */
double stat_busy_cpus(const struct stat *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each cause costs at the most: its count times its penalty on this CPU, at most what its side
 * of the pipeline loses. Inside this folder only.
 */
#ifndef CYCLOPS_STAT_CAUSES_COSTS_H
#define CYCLOPS_STAT_CAUSES_COSTS_H

#include "metrics/inside.h"

/* Shares of all cycles, 0 … 1. */
struct stat_cost {
	const struct cpu_penalty *penalty;
	const struct stat_total *total;
	double per_1000; /* instructions */
	double raw;	 /* as if each waited for the one before: more than 1 where they overlap */
	double bound;	 /* at most */
	double weight;	 /* for the ranking: what is likely (stat_costs_find()) */
	double here;	 /* of a level of memory: what ended there, times its whole latency */
	bool is_hidden;	 /* shorter than the reorder buffer covers, and other work was there */
};

/* Zeroed is empty. One for each issue of which an event was counted, largest weight first. */
struct stat_costs {
	VEC_OF(struct stat_cost) list;
};

/*
 * What is hidden weighs nothing. What is uncertain (an estimated penalty, an event that counts more
 * than what waits) weighs half, unless so little retires that it is likely.
 */
void stat_costs_find(const struct stat *, struct stat_costs *out);
void stat_costs_release(struct stat_costs *);

/* The share of cycles (or slots) that a side loses; what no root tells is what is not retired. */
double stat_side_share(const struct stat *, enum cpu_side);

/* Is the cost one of what this root is about? */
bool stat_cost_is_of(const struct stat_cost *, const struct cpu_metric *root);

/* Less than a quarter of what the CPU can retire: one thing waits for the other. */
bool stat_little_retires(const struct stat *);

/* What costs most of those of the root: its issue; of levels of memory that where most time ends. */
const char *stat_costs_issue(const struct stat_costs *, const struct cpu_metric *root);

/* Is the metric about an issue whose cost is known, and (if not NULL) one of that root? */
bool stat_costs_have(const struct stat *, const struct stat_costs *, const struct cpu_metric *root,
		     const struct cpu_metric *);

/* What a store that misses the caches would cost, if it waited, as a share of cycles; 0: not known. */
double stat_stores_cost(const struct stat *);

/* The cost of that issue, or NULL. */
const struct stat_cost *stat_cost_of_issue(const struct stat_costs *, const char *issue);

/* Cycles from the L1D to where the data is, of a level of memory: the penalties up to there. */
double stat_whole_latency(const struct stat *, const struct cpu_penalty *);

#endif

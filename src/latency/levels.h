/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The levels of a memory hierarchy, found in latencies by size.
 *
 * The rule: disturbances only make loads slower, and a larger size is no faster, so each latency is first lowered to
 * the least of those behind it. A level is then the longest range of sizes, at least a doubling, whose last latency
 * is at most a fifth above the first; then the longest such range on either side of it; and so on. Ranges whose
 * medians differ by less than a quarter are one level. The latency of a level is the median of its
 * lowered latencies.
 */
#ifndef CYCLOPS_LATENCY_LEVELS_H
#define CYCLOPS_LATENCY_LEVELS_H

#include <stddef.h>

enum { LEVELS_MAX = 16 };

struct level {
	size_t first, last; /* indexes of its points */
	double latency;
};

struct levels {
	struct level items[LEVELS_MAX];
	size_t n;
};

/* `sizes` ascend; `latencies` are positive. */
void levels_find(const double *sizes, const double *latencies, size_t n, struct levels *out);

/* The median of `n` > 0 values, which are sorted by it. */
double median_of(double *values, size_t n);

#endif

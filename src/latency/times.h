/* SPDX-License-Identifier: Apache-2.0 */
/* How often each time was measured: a histogram with a bucket for each value. */
#ifndef CYCLOPS_LATENCY_TIMES_H
#define CYCLOPS_LATENCY_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct time_count {
	uint64_t value, n;
};

/* Zeroed is empty. */
struct times {
	VEC_OF(struct time_count) list; /* after times_sort(): ascending, no value twice */
	uint64_t n;			/* of all */
};

void times_add(struct times *, uint64_t value, uint64_t n);
void times_sort(struct times *);
void times_release(struct times *);

/*
 * The peak: the values around the most frequent one (of several the least) that have at least a tenth of its count,
 * and are at most two apart.
 */
struct time_peak {
	uint64_t mode, low, high;
};

/* Of a sorted histogram that is not empty. */
struct time_peak times_peak(const struct times *);

/* The least value that is not below a part `q` (0 … 1) of all; of a sorted one that is not empty. */
uint64_t times_quantile(const struct times *, double q);

#endif

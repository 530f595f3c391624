/* SPDX-License-Identifier: Apache-2.0 */
/* Chases pointers through lists of many sizes, and measures how long a load takes in each. */
#ifndef CYCLOPS_LATENCY_SWEEP_H
#define CYCLOPS_LATENCY_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "base/vec.h"
#include "latency/levels.h"
#include "latency/ring.h"
#include "latency/timer.h"
#include "latency/times.h"

/* Single loads are timed where the clock's steps are no longer. */
enum { SWEEP_MOST_STEP_CYCLES = 4 };

struct sweep_request {
	const uint64_t *sizes; /* ascending */
	size_t n_sizes;
	enum ring_order order;
	unsigned n_samples; /* single loads that are timed for each size; 0: none */
	struct progress *progress;
};

/* What the loads of one list took: of several stretches of the chase, each of many loads. */
struct sweep_point {
	uint64_t size_bytes;
	double ns, least_ns, most_ns; /* of a load: the median of the stretches, and their ends */
	double cycles;		      /* median */
	double core_ghz;
	struct times times; /* of single loads, in ticks; sorted; empty: not measured */
};

/* A line in each of some pages, beside as many lines without gaps: the difference is the translation. */
struct sweep_pages {
	uint64_t n_pages;
	double ns, packed_ns;
	double core_ghz;
};

struct sweep {
	VEC_OF(struct sweep_point) points;
	VEC_OF(struct sweep_pages) pages;
	double step_ns, step_cycles; /* of the clock */
	bool times_single_loads;
	struct levels levels;	    /* of the points */
	struct levels translations; /* of the pages: TLB hit, … */
};

/* Runs all of it on the calling thread. The memory has room for the largest size. */
void sweep_run(const struct sweep_request *, const struct ring_memory *, const struct timer *,
	       struct sweep *out);
void sweep_release(struct sweep *);

/* Chases through a ring of `n_lines`: how long a load takes. The size and single loads are left alone. */
void sweep_chase(const struct timer *, void **ring, uint64_t n_lines, struct sweep_point *out);

#endif

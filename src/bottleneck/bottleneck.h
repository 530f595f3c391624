/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hot loops of a capture with SPE records wait for: chains of results, data from caches and
 * memory, page table walks, mispredicted branches, the width of the core. Each cause is bounded by
 * the time that an iteration takes, which the times of the records tell; latencies are those from
 * issue on, as what waits in a queue has its latency of others.
 */
#ifndef CYCLOPS_BOTTLENECK_BOTTLENECK_H
#define CYCLOPS_BOTTLENECK_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "bottleneck/carried.h"
#include "cpu/cpu.h"
#include "findings/finding.h"
#include "hot/sums/sums.h"
#include "scan/shared_scan.h"
#include "session/names.h"

enum bottleneck_cause {
	BOTTLENECK_CHAIN,      /* results of calculations, from iteration to iteration */
	BOTTLENECK_FORWARDING, /* … that go through memory: stored, and loaded again */
	BOTTLENECK_DIVISION,   /* divisions, whose unit never stands still */
	BOTTLENECK_DATA,       /* data of a level of the memory hierarchy */
	BOTTLENECK_WALKS,      /* page table walks */
	BOTTLENECK_MISPREDICTIONS,
	BOTTLENECK_STORES,   /* lines to store into */
	BOTTLENECK_PREFETCH, /* prefetches of the program come too late, or are too many */
	BOTTLENECK_SCALAR,   /* the width of the core, in a loop of one element at a time */
	N_BOTTLENECK_CAUSES,
};

/* A cause, of a loop or of a function's code outside of loops that count. */
struct bottleneck {
	enum bottleneck_cause cause;
	uint32_t place;	     /* the instruction that it is about */
	uint32_t loop_place; /* an instruction of the loop's end */
	uint32_t prefetch;   /* of BOTTLENECK_PREFETCH; UINT32_MAX: not known */
	uint32_t suspect; /* of what nothing explains: an access that orders others; UINT32_MAX */
	bool is_division; /* of BOTTLENECK_CHAIN: a division has most of it */
	enum carried carried; /* of BOTTLENECK_CHAIN */
	bool ends_loop; /* of BOTTLENECK_MISPREDICTIONS: the branch decides whether a loop goes on */
	bool lacks_lines;  /* of BOTTLENECK_DATA: the core waits for as many lines as it can */
	bool is_contended; /* other cores take the lines that it loads from away */
	enum source_level level; /* of BOTTLENECK_DATA */

	/*
	 * Part of the run time: of the loop; of it that the cause has, where causes overlap in proportion
	 * to their latencies; and that it may have at most, wherever samples were lost, which is what
	 * users are told. What a mispredicted branch takes may be spent elsewhere: its bound may be
	 * above 1, but not time_share * bound.
	 */
	double time_share, cost, bound;
	uint64_t n, n_all;	    /* pairs of records that tell the time, and of all code */
	double spread, rest_spread; /* as in report/finding_kinds.h */
	struct finding_loop loop;   /* without the names of places */
};

/*
 * All code together, for each operation: how long it takes, and how much of that may be what the
 * records tell of. The rest is what no operation waits for once it is dispatched: the front end did
 * not deliver it, or something was not sampled.
 */
struct bottleneck_code {
	const char *obstacle; /* why the following two are not known, as a clause; NULL: they are */
	double cycles;	      /* at the least clock that it may have had */
	double explained;     /* at most: by latencies, mispredictions, stores, the core's width */
	/*
	 * The same with those latencies only in which the window fills, at the pace that was measured.
	 * Queues before the units may be full sooner, so it is less certain.
	 */
	double explained_in_window;
	double hz;
	bool is_clock_assumed;
	uint64_t n;		   /* pairs of records */
	uint64_t n_lines, n_pages; /* of 64 bytes, of 4 KiB: that nine of ten records are in */
	uint64_t l1i_lines, itlb_entries; /* that the core holds; 0: not known */
};

struct bottlenecks;

/*
 * Looks at the hot functions of a scan by place, whose names are `names`, with the places in order, and adds what it
 * needs to know to the next scan, which keeps the places.
 */
int bottlenecks_new(struct session *, const struct hot *, const struct names *,
		    struct shared_scan *, struct bottlenecks **out, struct err *);
void bottlenecks_free(struct bottlenecks *);

/* After that scan: what was found, the largest first. */
void bottlenecks_find(struct bottlenecks *);
const struct bottleneck *bottleneck_at(const struct bottlenecks *, size_t i); /* NULL: no more */

/* What was weighed and not found: the cause with the largest limit of the run time. NULL: none. */
const struct bottleneck *bottlenecks_largest_left(const struct bottlenecks *);

/* The loop with most time that nothing explains: `cost` is that part of it. NULL: none; its cause is of no matter. */
const struct bottleneck *bottlenecks_unexplained(const struct bottlenecks *);

const struct bottleneck_code *bottlenecks_code(const struct bottlenecks *);

/*
 * Is it known of most of a function what limits it, be it no more than the width of the core? The
 * function is that of a place.
 */
bool bottlenecks_explain(const struct bottlenecks *, uint32_t place);

/* Part of all records that is in loops of which that is known, 0 … 1. */
double bottlenecks_explained_part(const struct bottlenecks *);

#endif

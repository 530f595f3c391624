/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of hot/elapsed/elapsed.h: the plan of the scan, and its sums. */
#ifndef CYCLOPS_HOT_ELAPSED_INSIDE_H
#define CYCLOPS_HOT_ELAPSED_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "estimate/shares.h"
#include "hot/elapsed/elapsed.h"

/* Sums over SPE records. */
struct elapsed_operations {
	uint64_t n;	     /* records */
	uint64_t operations; /* that they stand for */
	uint64_t cycles;     /* sum of their delay_cycles() … */
	uint64_t squares;    /* … and of the squares of these, for the variance */
};

/* The sums of a row of the answer. Runs and edges are those of the drawing in hot/elapsed/elapsed.h. */
struct elapsed_sum {
	struct elapsed_operations all;
	struct latency_amount latency; /* total latencies of its records */
	uint64_t steady_ns, n_steady;  /* time in its steady runs; number of gaps between records */
	uint64_t brief_ns;	       /* time in its runs of fewer records */
	uint64_t edge_ns;	       /* time of edges to and from other rows */
	struct elapsed_operations briefly;  /* its records in brief runs */
	struct elapsed_operations visitors; /* records of brief runs beside its steady ones */
	/* Delay cycles of the last record before an edge: of its own, and of the row before it. */
	uint64_t ending, beginning;
	uint64_t threads; /* bit elapsed_thread_bit(tid): of those that have records of it */
};

/* Threads may share a bit: limits are wider then. */
static inline uint64_t elapsed_thread_bit(uint64_t tid)
{
	return (uint64_t)1 << tid % 64;
}

/* Sums of all time between records. */
struct elapsed_rest {
	uint64_t covered_ns; /* attributed to rows */
	uint64_t span_ns;    /* from first to last record, summed over CPUs (or threads) */
	uint64_t waiting_ns; /* gaps too long for running code: the thread waited */
	bool has_switches;   /* the capture has records of context switches */
};

/* The row number of a record that belongs to no row. */
#define ELAPSED_NO_ROW UINT32_MAX

/*
 * A stream of records that follow each other has a number: that of the CPU. Where SPE buffers
 * belong to threads, it is the tid plus this.
 */
#define ELAPSED_THREAD ((uint64_t)1 << 32)

/* Stream `of` was interrupted: context switch, buffer drained, throttled. */
struct elapsed_stop {
	uint64_t of, time_ns;
};

/* A time span of stream `of`. */
struct elapsed_span {
	uint64_t of, first_ns, last_ns;
};

/* The rows of the answer, and how records are assigned to them. Constant during the scan. */
struct elapsed_plan {
	const struct session *session;
	struct tuples rows; /* row number ↔ words of the keys, as hot_words() makes them */
	enum dimension dimensions[N_DIMENSIONS];
	size_t n_dimensions;
	struct tuples raws;		   /* dimensions of a record → number … */
	VEC_OF(uint32_t) row_of_raw;	   /* … → row */
	VEC_OF(uint32_t) row_of_place;	   /* place → row; used instead if is_by_place */
	VEC_OF(struct elapsed_stop) stops; /* by stream and time */
	bool is_by_place;		   /* the place is the only dimension */
	bool has_switches;		   /* the capture has records of context switches */
};

struct elapsed_plan *elapsed_plan_new(const struct session *, const struct hot *,
				      const struct names *, const struct keys *);
void elapsed_plan_free(struct elapsed_plan *);

/* The row of each record of a batch, or ELAPSED_NO_ROW. */
void elapsed_plan_find(const struct elapsed_plan *, const struct batch *, uint32_t *out);

/* The stops of a stream around `time_ns`: the last one before it, and the first one from it on. */
struct elapsed_span elapsed_plan_span(const struct elapsed_plan *, uint64_t of, uint64_t time_ns);

/* What a thread has. */
struct elapsed_thread {
	uint64_t ns, n;	   /* between its records that follow each other; records */
	uint32_t only_row; /* that all of them are of; ELAPSED_NO_ROW: there are several */
};

/* Result of a scan; options: struct elapsed_plan. */
struct elapsed {
	const struct elapsed_plan *plan;
	struct elapsed_sum *rows; /* by row */
	struct elapsed_rest rest;
	struct tuples pairs; /* two rows with an edge between them, the lower number first … */
	VEC_OF(uint64_t) pair_ns;		 /* … → time of these edges */
	struct tuples threads;			 /* tids … */
	VEC_OF(struct elapsed_thread) by_thread; /* … → what they have */
	struct tuples streams;			 /* numbers of streams … */
	VEC_OF(struct elapsed_span) spans;	 /* … → first and last record of each */
	struct elapsed_span known;		 /* the last answer of elapsed_plan_span() */
	uint64_t known_gap_ns;			 /* spe_longest_gap_ns() of that stream's CPU */
};

extern const struct analysis_class elapsed_class;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of hot/elapsed.h share: what a scan needs, what it sums up. */
#ifndef CYCLOPS_HOT_ELAPSED_INSIDE_H
#define CYCLOPS_HOT_ELAPSED_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "estimate/shares.h"
#include "hot/elapsed.h"

/* Operations, as records tell of them. */
struct elapsed_operations {
	uint64_t n;	     /* records */
	uint64_t operations; /* that they stand for */
	uint64_t cycles;     /* for which those of the records may have held up others */
	uint64_t squares;    /* of these, for their spread */
};

/* What is known of the time of a row. Times in ns. */
struct elapsed_sum {
	struct elapsed_operations all;
	struct latency_amount latency;	    /* total latencies of its records */
	uint64_t steady_ns, n_steady;	    /* between records in steady runs, and how many times */
	uint64_t brief_ns;		    /* in runs of fewer records */
	uint64_t edge_ns;		    /* from its records to those of other rows, and back */
	struct elapsed_operations briefly;  /* its records in brief runs */
	struct elapsed_operations visitors; /* records of others in brief runs beside steady ones */
	/* Cycles of operations that were under way at edges: of its own when others followed, of
	   others when it followed. */
	uint64_t ending, beginning;
};

/* Time between records that is of no row. */
struct elapsed_rest {
	uint64_t covered_ns; /* what is of rows */
	uint64_t span_ns;    /* from the first to the last record, of each CPU */
	uint64_t waiting_ns; /* between records too far apart to be of running code */
	bool has_switches;   /* switch records tell when threads did not run */
};

/* Of no row. */
#define ELAPSED_NO_ROW UINT32_MAX

/* Clocks are numbered as CPUs; where buffers are those of threads, as their tids above this. */
#define ELAPSED_THREAD ((uint64_t)1 << 32)

/* A time at which records of a CPU, or of a thread, stop following each other. */
struct elapsed_stop {
	uint64_t of, time_ns;
};

/* From when to when, of a CPU, or of a thread where buffers are theirs. */
struct elapsed_span {
	uint64_t of, first_ns, last_ns;
};

/* The rows of the answer, and what a scan needs to tell them apart. */
struct elapsed_plan {
	const struct session *session;
	struct tuples rows; /* the words of their keys, as hot_words() makes them */
	enum dimension dimensions[N_DIMENSIONS];
	size_t n_dimensions;
	struct tuples raws;	       /* what records bring along … */
	VEC_OF(uint32_t) row_of_raw;   /* … and the row that it makes */
	VEC_OF(uint32_t) row_of_place; /* the same, if places are all there is */
	VEC_OF(struct elapsed_stop) stops;
	bool is_by_place, has_switches;
};

struct elapsed_plan *elapsed_plan_new(const struct session *, const struct hot *,
				      const struct names *, const struct keys *);
void elapsed_plan_free(struct elapsed_plan *);

/* The row of each record of a batch, or ELAPSED_NO_ROW. */
void elapsed_plan_find(const struct elapsed_plan *, const struct batch *, uint32_t *out);

/* The time around `time_ns` in which nothing stops, of a clock: from behind `first_ns` on. */
struct elapsed_span elapsed_plan_span(const struct elapsed_plan *, uint64_t of, uint64_t time_ns);

/* A gap between two records that is longer is no run time: ns. */
uint64_t elapsed_longest_ns(const struct spe_interval *);

/* Result of a scan; options: struct elapsed_plan. */
struct elapsed {
	const struct elapsed_plan *plan;
	struct elapsed_sum *rows; /* by row */
	struct elapsed_rest rest;
	struct tuples pairs;	  /* rows that follow each other, the lower number first … */
	VEC_OF(uint64_t) pair_ns; /* … and the time between them */
	struct tuples clocks;	  /* CPUs and threads that have … */
	VEC_OF(struct elapsed_span) spans; /* … so much time from first to last record */
	struct elapsed_span known;	   /* the last answer: nothing stops in between */
};

extern const struct analysis_class elapsed_class;

#endif

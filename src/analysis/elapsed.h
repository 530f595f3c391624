/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time goes, out of the times of SPE records. A record is taken every so many
 * operations, so the time between two that follow each other on a CPU, in one thread, is what
 * the operations between them took:
 *
 *	records  a   a   a   a   a   b   b   a   b   b   b   b
 *	          \_____________/ \ / \_________/ \_________/
 *	          steady: of row a edge  brief     steady: of row b
 *
 * Several records in a row of one row of the answer are a steady run: what is between them is of
 * that row, but for visits to other code that are too brief to be met at both ends. How many
 * operations those have is known from the records that met one: they are taken like all others.
 * How long they take is not; but an operation does not hold up others for longer than from its
 * issue to its end, which its record says. That gives limits of the time of a row, which are close
 * to each other where code runs for longer than an interval at a time, and far apart where it
 * alternates faster: then nothing is claimed (docs/design.md).
 */
#ifndef CYCLOPS_ANALYSIS_ELAPSED_H
#define CYCLOPS_ANALYSIS_ELAPSED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/analysis.h"
#include "analysis/clock.h"
#include "analysis/hot.h"
#include "analysis/select.h"
#include "analysis/shares.h"
#include "base/err.h"
#include "table/table.h"

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

struct elapsed_request {
	const struct hot_keys *keys;
	const char *title;	 /* of the table, or NULL */
	size_t top;		 /* rows; 0: all */
	bool is_brief;		 /* only what is told apart, and few words */
	const char *sort;	 /* name of a column, or NULL */
	struct core_clock clock; /* basis CLOCK_UNKNOWN: a slow one is assumed */
};

/* Can rows be grouped by these keys? An error says by which not. */
int elapsed_check_keys(const struct hot_keys *, struct err *);

/* Why this capture does not tell where the time goes, in a clause; NULL: it does. */
const char *elapsed_obstacle(const struct session *, const struct select *);

/*
 * Scans once more and fills the table. `hot` is the result of a scan of the same session with
 * the dimensions of the keys, `names` has names for them; places keep their ids. If there is an
 * obstacle the table is empty and says so. `out` is to be released also after a failure. Returns
 * by *out_told (NULL: do not) which part of the time, 0 … 1, is of rows that are told apart.
 */
int elapsed_table(struct session *, const struct select *, const struct hot *, const struct names *,
		  const struct elapsed_request *, struct table *out, double *out_told,
		  struct err *);

/* Below: for elapsed_table.c. */

/* The rows of the answer, and what a scan needs to tell them apart. */
struct elapsed_plan;

struct elapsed_plan *elapsed_plan_new(const struct session *, const struct hot *,
				      const struct names *, const struct hot_keys *);
void elapsed_plan_free(struct elapsed_plan *);

/* The words of each row's key, as hot_words() makes them. */
const struct tuples *elapsed_plan_rows(const struct elapsed_plan *);

/* A gap between two records that is longer is no run time: ns. */
uint64_t elapsed_longest_ns(const struct spe_interval *);

/* From when to when, of a CPU, or of a thread where buffers are theirs. */
struct elapsed_span {
	uint64_t of, first_ns, last_ns;
};

/* Result of a scan; options: struct elapsed_plan. */
struct elapsed {
	const struct elapsed_plan *plan;
	struct elapsed_sum *rows; /* by row */
	struct elapsed_rest rest;
	struct tuples pairs;	  /* rows that follow each other, the lower number first … */
	VEC_OF(uint64_t) pair_ns; /* … and the time between them */
	struct tuples clocks;	  /* CPUs and threads that have … */
	VEC_OF(struct elapsed_span) spans; /* … so much time from first to last record */
	struct elapsed_span known;	   /* the last answer: nothing stops in it */
};

extern const struct analysis_class elapsed_class;

#endif

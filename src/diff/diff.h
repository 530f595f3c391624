/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs side by side: what changed, by how much, and whether chance alone may have done it.
 * What is compared has the same name in both, so that it may be another build.
 */
#ifndef CYCLOPS_DIFF_DIFF_H
#define CYCLOPS_DIFF_DIFF_H

#include <stddef.h>

#include "diff/measures.h"
#include "table/table.h"

/* What sampled costs are divided by before they are compared. */
enum diff_per {
	DIFF_PER_RUN,	 /* nothing: both runs did the same work */
	DIFF_PER_SECOND, /* of recorded time */
	DIFF_PER_TOTAL,	 /* shares: what moved, whatever the work was */
	N_DIFF_PER,
};

/* "run", "second", "total"; -1: no such. */
int diff_per_find(const char *name);

enum diff_certainty {
	DIFF_CERTAIN, /* at 99 %, all rows of its table considered together */
	DIFF_NOISE,   /* sampling or repetition explains it */
	DIFF_UNKNOWN, /* nothing is known of the error */
	DIFF_CUT,     /* full latency counters may hide a change, or another one */
	N_DIFF_CERTAINTIES,
};

/*
 * So many times what they show the operations with a full counter take on average, at most. A
 * load of a chain waits for all those before it in the instruction window: some hundred, of some
 * hundred cycles each.
 */
#define DIFF_FULL_TIMES 10

/* A measure of both runs. */
struct diff_row {
	const struct measure *a, *b; /* NULL: not there in that run */
	double from, to;	     /* as compared: after the division */
	struct diff_range {
		double low, high;
	} from_range,
		to_range; /* between which these are; of one value unless counters were full */
	uint64_t n_full;  /* counters that make these ranges */
	double error;	  /* standard error of to - from; NAN: not known */
	enum diff_certainty certainty;
	size_t number; /* in the order of run a; those of b alone behind */
};

/* The measure of either run: they agree in what names it. */
static inline const struct measure *diff_measure(const struct diff_row *row)
{
	return row->b != NULL ? row->b : row->a;
}

/* As tables show it: totals are called as their event, or "time". */
const char *diff_row_name(const struct diff_row *);

/* Is either side scaled up, by an error that nobody knows? */
bool diff_is_scaled(const struct diff_row *);

/* The change as a share of what it was; NAN if that was nothing. */
double diff_share(const struct diff_row *);

/* The part of a measure that full latency counters show, 0 … 1. */
double diff_full_part(const struct measure *);

/* The least and the largest change that may be behind what full counters show. */
struct diff_range diff_change_range(const struct diff_row *);

/* All rows: by kind and event, the largest change first. */
struct diff {
	const struct measures *a, *b; /* borrowed */
	enum diff_per per;
	VEC_OF(struct diff_row) rows;
};

void diff_make(const struct measures *a, const struct measures *b, enum diff_per, struct diff *out);
void diff_release(struct diff *);

/*
 * Conditions that a change must not meet, such as "ipc < -3%" or "function:chase > 10 %". A
 * condition names measures by their name, with or without their kind; with % it is about the
 * share of the change, without about the change. It trips if a change that meets it is not
 * noise; one whose error is not known does, and so does one of which full counters hide whether
 * it meets the condition. The total of an event is meant by the event's name, too.
 */
struct gate {
	const char *text; /* as it was given; borrowed */
	const char *name; /* inside of text, … */
	size_t name_size; /* … so many bytes */
	int kind;	  /* enum measure_kind, or -1: any */
	bool is_less, or_equal;
	bool is_share;
	double limit; /* of a share: 0.03, not 3 */
};

int gate_parse(const char *text, struct gate *out, struct err *);

/* The changes that the condition is about; fails if no measure has that name. */
struct gate_result {
	size_t n_matches, n_met, n_tripped;
	size_t n_undecided;		  /* by full counters; not among those met */
	const struct diff_row *worst;	  /* of those met */
	const struct diff_row *undecided; /* the first of these */
};
int gate_check(const struct gate *, const struct diff *, struct gate_result *out, struct err *);

/* The answer as tables. Zeroed is empty. */
struct diff_tables {
	struct table runs, gates, kinds[N_MEASURE_KINDS];
	struct tables shown;
};

/* At most `top` rows of each kind, 0: all. Sets *out_tripped if a gate tripped. */
int diff_tables(const struct diff *, const struct gate *gates, size_t n_gates, size_t top,
		struct diff_tables *out, bool *out_tripped, struct err *);
void diff_tables_release(struct diff_tables *);

#endif

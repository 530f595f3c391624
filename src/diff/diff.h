/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two runs: what changed, by how much, and whether chance explains it. Measures are paired
 * by name, so the runs may be of different builds.
 */
#ifndef CYCLOPS_DIFF_DIFF_H
#define CYCLOPS_DIFF_DIFF_H

#include <stddef.h>

#include "diff/measures.h"
#include "gate/gate.h"
#include "table/table.h"

/* What sampled costs are divided by before they are compared. */
enum diff_per {
	DIFF_PER_RUN,	 /* nothing: both runs do the same work */
	DIFF_PER_SECOND, /* of recorded time */
	DIFF_PER_TOTAL,	 /* the event's total: shares, whatever the amount of work */
	N_DIFF_PER,
};

/* "run", "second", "total"; -1: no such. */
int diff_per_find(const char *name);

enum diff_certainty {
	DIFF_CERTAIN,	/* real, at 99 % for all rows of the table together */
	DIFF_NOISE,	/* chance explains it: sampling, or the spread of repeated runs */
	DIFF_UNKNOWN,	/* the error is not known */
	DIFF_SATURATED, /* saturated latency counters may hide a change, or show one that is none */
	N_DIFF_CERTAINTIES,
};

/* A measure of both runs. */
struct diff_row {
	const struct measure *a, *b; /* NULL: the run does not have it */
	double from, to;	     /* as compared: after the division */
	struct diff_range {
		double low, high;
	} from_range,
		/* bounds of from and to; narrower than a value only if counters are saturated */
		to_range;
	uint64_t n_saturated; /* saturated counters of both runs */
	double error;	      /* standard error of to - from; NAN: not known */
	enum diff_certainty certainty;
	size_t number; /* in the order of run a; what only run b has comes last */
};

/* The measure of either run. Both have the same kind, event and name. */
static inline const struct measure *diff_measure(const struct diff_row *row)
{
	return row->b != NULL ? row->b : row->a;
}

/* The name in tables: that of the event for its total, or "time". */
const char *diff_row_name(const struct diff_row *);

/* Is either side scaled because of multiplexing, with an unknown error? */
bool diff_is_scaled(const struct diff_row *);

/* The change relative to run a; NAN if that is 0. */
double diff_share(const struct diff_row *);

/* The share of a measure that operations with a saturated latency counter make up, 0 … 1. */
double diff_saturated_part(const struct measure *);

/* The bounds of the change, given what saturated counters hide. */
struct diff_range diff_change_range(const struct diff_row *);

/* All rows, by kind and event; sampled ones with the largest change first. */
struct diff {
	const struct measures *a, *b; /* borrowed */
	enum diff_per per;
	VEC_OF(struct diff_row) rows;
};

void diff_make(const struct measures *a, const struct measures *b, enum diff_per, struct diff *out);
void diff_release(struct diff *);

/*
 * A condition of --fail-if, such as "ipc < -3%" or "function:chase > 10 %". It names measures, with
 * or without their kind. The name of an event stands for its total, too. With % the limit is for
 * the relative change, without for the change itself.
 *
 * The condition fails if a change meets it and is not noise. It also fails if the error of the
 * change is not known, or if saturated counters hide whether the change meets it.
 */
struct diff_gate {
	struct condition condition;
	const char *name; /* without the kind: in the condition's text, not terminated … */
	size_t name_size; /* … of so many bytes */
	int kind;	  /* enum measure_kind, or -1: any */
};

int diff_gate_parse(const char *text, struct diff_gate *out, struct err *err);

/* The changes that a condition is about. diff_gate_check() fails if no measure has the name. */
struct diff_gate_result {
	size_t n_matches, n_met, n_tripped;
	size_t n_undecided;		  /* saturated counters hide the answer; not in n_met */
	const struct diff_row *worst;	  /* the largest change; of those met, if any are */
	const struct diff_row *undecided; /* the first undecided one */
};
int diff_gate_check(const struct diff_gate *, const struct diff *, struct diff_gate_result *out,
		    struct err *err);

/* The answer as tables. Zeroed is empty. On a screen, what to know first is the answer; else it is notes. */
struct diff_tables {
	bool is_for_screen;
	struct table answer, runs, kinds[N_MEASURE_KINDS];
	struct tables shown;
};

/* At most `top` rows of each kind, 0: all. The results of the gates are added to `results`,
 * whose table is one of those shown. */
int diff_tables(const struct diff *, const struct diff_gate *gates, size_t n_gates, size_t top,
		struct diff_tables *out, struct gates *results, struct err *err);
void diff_tables_release(struct diff_tables *);

#endif

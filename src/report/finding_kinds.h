/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of findings, as a table: from when on one is worth a word, and what to say. */
#ifndef CYCLOPS_REPORT_FINDING_KINDS_H
#define CYCLOPS_REPORT_FINDING_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "estimate/shares.h"
#include "hot/functions.h"
#include "table/table.h"

/* A function as a kind of finding looks at it. */
struct subject {
	const struct hot_function *f;
	const struct hot_cost *all; /* of its event, in the whole capture */
	bool is_spe, has_name;
	double share;	   /* of its event's weight */
	const char *name;  /* of the function, or of what it lies in */
	const char *event; /* what its weight is made of */
};

/* How much a finding concerns, as a share of a whole that was estimated from samples. */
struct extent {
	double share;
	enum cell_mark mark; /* full counters of latencies make it a bound */
	uint64_t n, n_all;   /* samples it rests on, and those of the whole */

	/* Mean square of what its samples weigh by the square of their mean, and of the others. */
	double spread, rest_spread;
};

struct finding_kind {
	const char *name;
	double least_share; /* below it is not worth a word */
	bool is_general;    /* only for functions that have no finding of a special kind */
	/* What it concerns; no samples if it does not apply. */
	struct extent (*extent)(const struct subject *);
	const char *(*claim)(struct table *, const struct subject *);
	const char *whole;	/* what the share is of; NULL: the event's weight */
	const char *remedy;	/* what might change it; NULL: nothing in general */
	const char *command;	/* what tells more, for tip(); NULL, too: what would give names */
	bool may_chase;		/* its place may load the next address that it loads from */
	enum hot_aspect aspect; /* what its place is the heaviest by */
};

/* Special before general: one that explains more stands for the plain "it is hot". */
extern const struct finding_kind finding_kinds[];
extern const size_t n_finding_kinds;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycle accounting of a capture: for each process, function, line … which events cost how many of its
 * cycles, in the branches of a tree.
 */
#ifndef CYCLOPS_CYCLES_CYCLES_H
#define CYCLOPS_CYCLES_CYCLES_H

#include <stdbool.h>

#include "base/err.h"
#include "cycles/tree/account.h"
#include "cycles/tree/template.h"
#include "keys/keys.h"
#include "scan/select.h"
#include "session/session.h"
#include "table/table.h"

/* How to account; all borrowed. */
struct cycle_request {
	const struct cycle_template *tree;
	const double *penalties; /* cycles of one event, by node */
	struct keys keys;
	const char *
		node_of; /* show the whole tree of the object with this name; "all": of the capture;
				NULL: rows of objects */
	size_t top;	 /* rows; 0: all */
	bool is_for_people;
};

struct cycle_tables {
	struct table answer; /* for people */
	struct table shares; /* for people: a row for each object, a column for each branch */
	struct table nodes;  /* for people, with `node_of`: a row for each node */
	struct table cycles; /* for programs: a row for each object and node */
	struct tables shown;
};

/*
 * Accounts the samples that `select` (NULL: all) lets through. Fails with ERR_NO_DATA if none of the
 * tree's events was sampled, with ERR_USAGE if nothing is called `node_of`. `out` is to be released also
 * after a failure.
 */
int cycles_make(struct session *, const struct select *, const struct cycle_request *,
		struct cycle_tables *out, struct err *);
void cycle_tables_release(struct cycle_tables *);

/* What a whole capture comes to in the tree of its CPU. */
struct cycle_totals {
	struct cycle_template *tree;
	double *penalties;	    /* by node: cycles of one event */
	struct cycle_value *values; /* by node */
};

/* Fails as cycles_make() does, also if there is no tree for the CPU. Release it after success. */
int cycle_totals_init(struct cycle_totals *, struct session *, const struct select *, struct err *);
void cycle_totals_release(struct cycle_totals *);

#endif

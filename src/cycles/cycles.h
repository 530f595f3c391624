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
#include "cycles/objects.h"
#include "cycles/options.h"
#include "html/html.h"
#include "scan/select.h"
#include "session/session.h"
#include "table/table.h"

/* How to account; all borrowed. */
struct cycle_request {
	const double *penalties; /* cycles of one event, by node */
	double assumed_ghz; /* of penalties in ns, if nobody said it; 0: it was said, or none is in ns */
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
 * Accounts what the samples of captures come to. Fails with ERR_USAGE if nothing is called `node_of`. `out`
 * is to be released also after a failure.
 */
int cycles_make(const struct cycle_objects *, const struct cycle_request *,
		struct cycle_tables *out, struct err *);
void cycle_tables_release(struct cycle_tables *);

/*
 * The same as the block "cycles" of pages for a browser (cycles/html.c): rows of objects, each with its tree, and the tree of
 * the whole. `node_of`, `top` and `is_for_people` are of no matter.
 */
int cycles_html(struct html *, const struct cycle_objects *, const struct cycle_request *,
		struct err *);

/* What a whole capture comes to in the tree of its CPU. */
struct cycle_totals {
	struct cycle_template *tree;
	double *penalties;	    /* by node: cycles of one event */
	struct cycle_value *values; /* by node */
};

/*
 * Fails as cycle_objects_add() does, if there is no tree for the CPU, and if the options are not of it. Release
 * it after success.
 */
int cycle_totals_init(struct cycle_totals *, struct session *, const struct select *,
		      const struct cycle_options *, struct err *);
void cycle_totals_release(struct cycle_totals *);

#endif

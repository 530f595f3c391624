/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a tree with penalties that were measured on a machine: a file for cycles --template. */
#ifndef CYCLOPS_CYCLES_TREE_TEMPLATE_WRITE_H
#define CYCLOPS_CYCLES_TREE_TEMPLATE_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

struct measured_penalty {
	const char *event;  /* a node of the tree */
	double cycles;	    /* of one event; not below 0 */
	const char *source; /* how it was measured */
};

/* What the penalties of a machine are, and when they were measured. */
struct measured_penalties {
	const struct measured_penalty *list;
	size_t n;
	const char *machine; /* "Neoverse N1", for people */
	const char *date;    /* "2026-11-25" */
	double ghz;	     /* the clock of its cores meanwhile; above 0 */
	bool is_modelled;
};

/*
 * Appends the embedded tree `id` with these penalties instead of its own, each in the unit that it has
 * there. Other nodes stay as they are. Fails if a penalty is of no event of the tree.
 */
int cycle_template_write(const char *id, const struct measured_penalties *, struct text *,
			 struct err *);

#endif

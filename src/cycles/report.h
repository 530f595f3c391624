/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle accounting being answered: values of objects in the tree, and the tables. Private to this folder. */
#ifndef CYCLOPS_CYCLES_REPORT_H
#define CYCLOPS_CYCLES_REPORT_H

#include "cycles/cycles.h"
#include "cycles/objects.h"
#include "cycles/tree/account.h"

struct cycle_report {
	const struct cycle_objects *objects;
	const struct cycle_request *request;
	const struct cycle_template *tree;
	bool is_fine; /* objects are instructions, blocks or lines */

	struct cycle_account_options options;
	VEC_OF(struct cycle_value) values; /* object x node; the last object: all captures whole */
	struct event_sum *whole;	   /* by event: of all captures whole */
	uint32_t *order;		   /* objects by cycles, descending */
};

/* The values of an object; object cycle_objects_n(): of the whole. */
static inline const struct cycle_value *cycle_report_values(const struct cycle_report *r,
							    uint32_t row)
{
	return &r->values.items[row * r->tree->n_nodes];
}

static inline const struct event_sum *cycle_report_sums(const struct cycle_report *r, uint32_t row)
{
	return row == cycle_objects_n(r->objects) ? r->whole : cycle_object_sums(r->objects, row);
}

/* The row that stands for the whole. */
static inline uint32_t cycle_report_whole(const struct cycle_report *r)
{
	return cycle_objects_n(r->objects);
}

/* Cycles that shares of a row are of: its unhalted cycles; 0: not known. */
double cycle_report_cycles(const struct cycle_report *, uint32_t row);

/* report_tables.c: fills the tables for people, and the one for programs. */
void cycle_report_answer(const struct cycle_report *, struct table *);
void cycle_report_shares(const struct cycle_report *, struct table *);
int cycle_report_nodes(const struct cycle_report *, struct table *, struct err *);
int cycle_report_long(const struct cycle_report *, struct table *, struct err *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle accounting being answered: rows, their values in the tree, and the tables. Private to this folder. */
#ifndef CYCLOPS_CYCLES_REPORT_H
#define CYCLOPS_CYCLES_REPORT_H

#include "cycles/cycles.h"
#include "cycles/events.h"
#include "estimate/mux.h"
#include "cycles/sums.h"
#include "cycles/tree/account.h"

struct cycle_report {
	struct session *session;
	const struct cycle_request *request;
	const struct cycle_template *tree;
	struct cycle_events events;
	struct mux *mux;
	struct names names;
	struct cycle_rows rows;
	bool is_fine; /* rows are instructions or lines */

	struct cycle_account_options options;
	VEC_OF(struct cycle_value) values; /* row x node; the last row: the whole capture */
	struct event_sum *whole;	   /* by event: the whole capture */
	uint32_t *order;		   /* rows by cycles, descending */
};

/* The values of a row; row rows.words.n: of the whole capture. */
static inline const struct cycle_value *report_values(const struct cycle_report *r, uint32_t row)
{
	return &r->values.items[row * r->tree->n_nodes];
}

static inline const struct event_sum *report_sums(const struct cycle_report *r, uint32_t row)
{
	return row == r->rows.words.n ? r->whole : cycle_rows_sums(&r->rows, row);
}

/* The row that stands for the whole capture. */
static inline uint32_t report_whole(const struct cycle_report *r)
{
	return r->rows.words.n;
}

/* Sums of the events of a node in a row. */
struct event_sum report_node_sum(const struct cycle_report *, uint32_t row, int node);

/* Cycles that shares of a row are of: its unhalted cycles; 0: not known. */
double report_cycles(const struct cycle_report *, uint32_t row);

/* report_tables.c: fills the tables for people, and the one for programs. */
void report_answer(const struct cycle_report *, struct table *);
void report_shares(const struct cycle_report *, struct table *);
int report_nodes(const struct cycle_report *, struct table *, struct err *);
int report_long(const struct cycle_report *, struct table *, struct err *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a tree of cycle accounting as rows of tables: for programs, and for people. */
#ifndef CYCLOPS_CYCLES_TREE_NODE_TABLE_H
#define CYCLOPS_CYCLES_TREE_NODE_TABLE_H

#include "cycles/tree/account.h"
#include "table/table.h"

/* What is known of the event of a node besides its value. */
struct node_evidence {
	uint64_t n_samples; /* 0 if it was counted, not sampled */
	double weight;	    /* events without multiplexing */
	double events;	    /* with it */
	enum cell_mark mux; /* how far the factor between them can be trusted */
	bool skids;	    /* read where the leader of its group was sampled */
};

/* An object whose tree is shown. */
struct node_view {
	const struct cycle_template *tree;
	const struct cycle_value *values;     /* by node */
	const struct node_evidence *evidence; /* by node */
	const double *penalties;	      /* by node: cycles of one event */
	double cycles;			      /* what shares are of; 0: not known */
	double assumed_ghz;		      /* of penalties in ns, if nobody said it; 0: not so */
	bool is_fine;			      /* an instruction or line */
	bool is_sampled; /* not counted: errors, samples and periods are shown */
};

/* Columns for programs, which follow those that name the object. */
enum node_column {
	NODE_NAME,
	NODE_PARENT,
	NODE_DEPTH,
	NODE_KIND,
	NODE_STATE,
	NODE_SAMPLES,
	NODE_EVENTS,
	NODE_MUX,
	NODE_PENALTY,
	NODE_CYCLES,
	NODE_SE,
	NODE_SHARE,
	NODE_CAP,
	NODE_CAPPED,
	NODE_OVERLAP,
	N_NODE_COLUMNS,
};
extern const struct column node_columns[N_NODE_COLUMNS];

/* Fills the cells of a node; `cells` are those of its row from NODE_NAME on. */
void node_show(const struct node_view *, int node, struct table *, struct cell *cells);

/* Stalled cycles that no branch explains: the last row of an object's tree. */
void node_show_not_explained(const struct node_view *, struct cell *cells);

/* An event that is in no tree. The name is borrowed. */
void node_show_extra(const char *name, const struct node_evidence *, struct cell *cells);

/* How far a value of the tree can be trusted. */
enum cell_mark node_mark(const struct cycle_value *);

/* What these marks mean, for tables with such shares (struct table, meanings). */
extern const char *const node_meanings[N_MARKS];

/* Initialises the table "tree", for people, and fills it: a row for each node that says anything. */
void node_tree_table(const struct node_view *, struct table *out);

/* Adds notes: costs above their cap, and what was not collected or has no event. */
void node_notes(const struct node_view *, struct table *out);

#endif

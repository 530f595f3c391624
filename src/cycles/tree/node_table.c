/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/tree/node_table.h"

#include <stdlib.h>

#include "base/alloc.h"

static const char *const state_words[] = {
	[CYCLE_MEASURED] = "measured", [CYCLE_NOT_COLLECTED] = "not collected",
	[CYCLE_GAP] = "gap",	       [CYCLE_NOT_COUNTED] = "not counted here",
	[CYCLE_TOO_FINE] = "too fine",
};

const struct column node_columns[N_NODE_COLUMNS] = {
	[NODE_NAME] = { "node", NULL, "", CELL_TEXT, 0, "event, branch or formula of the tree" },
	[NODE_PARENT] = { "parent", NULL, "", CELL_TEXT, 0, "the node that it is below" },
	[NODE_DEPTH] = { "depth", NULL, "", CELL_COUNT, 0, "0: at the top of the tree" },
	[NODE_KIND] = { "kind", NULL, "", CELL_TEXT, 0,
			"event, branch, formula, or extra: an event that is not in the tree" },
	[NODE_STATE] = { "state", NULL, "", CELL_TEXT, 0,
			 "measured; skids: measured where the leader of its group was sampled; "
			 "estimated: by a model; not collected; gap: the CPU has no "
			 "event for it, or none "
			 "in samples; not counted here: 0 on the machine of the capture also for "
			 "loops that make it count; too fine: not at the level of instructions" },
	[NODE_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0, "samples of the event" },
	[NODE_EVENTS] = { "events", NULL, "events", CELL_NUMBER, 0,
			  "events that the samples represent: sum of period x multiplex factor" },
	[NODE_MUX] = { "mux", NULL, "", CELL_NUMBER, COLUMN_TRUST,
		       "multiplex factor: time enabled / time running" },
	[NODE_PENALTY] = { "penalty", NULL, "cycles", CELL_NUMBER, 0,
			   "cycles that one event costs" },
	[NODE_CYCLES] = { "cycles", NULL, "cycles", CELL_NUMBER, 0,
			  "cost; of formulas with its sign, before it is clamped to 0" },
	[NODE_SE] = { "cycles_se", NULL, "cycles", CELL_NUMBER, 0, "standard error of the cost" },
	[NODE_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			 "cost, capped, of the cycles of the row" },
	[NODE_CAP] = { "cap", NULL, "", CELL_TEXT, 0, "event whose cycles it cannot exceed" },
	[NODE_CAPPED] = { "capped_cycles", NULL, "cycles", CELL_NUMBER, 0,
			  "cost, at most the cap" },
	[NODE_OVERLAP] = { "overlap", NULL, "", CELL_NUMBER, 0,
			   "cost / cap, if it is above 1: costs that overlap" },
};

const char *const node_meanings[N_MARKS] = {
	[MARK_AT_MOST] = "≤ at most this: costs overlap, or a part to subtract was not collected",
	[MARK_UNCERTAIN] = "≈ events took turns unseen: more or less",
};

enum cell_mark node_mark(const struct cycle_value *v)
{
	if (v->is_lower_bound) /* says more than that it is of few samples */
		return MARK_INCOMPLETE;
	if (v->is_sparse)
		return MARK_SPARSE;
	if (v->is_upper_bound || (v->cap >= 0 && v->cap < v->cycles))
		return MARK_AT_MOST;
	return MARK_EXACT;
}

static const char *kind_word(const struct cycle_node *n)
{
	return n->kind == NODE_EVENT ? "event" : n->kind == NODE_BRANCH ? "branch" : "formula";
}

/* How many samples an event has, and what they stand for. */
static void show_evidence(const struct node_evidence *e, struct cell *cells)
{
	if (e->n_samples > 0 || e->events == 0)
		cells[NODE_SAMPLES] = cell_count(e->n_samples);
	cells[NODE_EVENTS] = cell_number(e->events);
	if (e->weight > 0)
		cells[NODE_MUX] = cell_marked(cell_number(e->events / e->weight), e->mux);
}

/* Does the event cost nothing by itself? */
static bool is_free(const struct node_view *v, int node)
{
	const struct cycle_node *n = &v->tree->nodes[node];

	return n->kind == NODE_EVENT && !n->is_cycles && v->penalties[node] <= 0;
}

static bool is_average(const struct cycle_node *n)
{
	return n->kind == NODE_FORMULA && n->formula == FORMULA_AVERAGE;
}

static const char *state_word(const struct node_view *view, int node)
{
	const struct cycle_value *v = &view->values[node];

	if (v->state == CYCLE_MEASURED && view->evidence[node].skids)
		return "skids";
	return v->is_estimate ? "estimated" : state_words[v->state];
}

/* For programs; people are told once where they took turns unseen. */
static enum cell_mark machine_mark(const struct cycle_value *v)
{
	enum cell_mark mark = node_mark(v);

	return mark == MARK_EXACT && v->is_unscaled ? MARK_UNCERTAIN : mark;
}

void node_show(const struct node_view *view, int node, struct table *t, struct cell *cells)
{
	const struct cycle_node *n = &view->tree->nodes[node];
	const struct cycle_value *v = &view->values[node];

	cells[NODE_NAME] = cell_text(table_text(t, n->name));
	if (n->parent != NO_NODE)
		cells[NODE_PARENT] = cell_text(table_text(t, view->tree->nodes[n->parent].name));
	cells[NODE_DEPTH] = cell_count(n->depth);
	cells[NODE_KIND] = cell_text(kind_word(n));
	cells[NODE_STATE] = cell_text(state_word(view, node));
	if (n->kind == NODE_EVENT && view->penalties[node] > 0)
		cells[NODE_PENALTY] = cell_number(view->penalties[node]);
	if (v->state != CYCLE_MEASURED)
		return;
	if (n->kind == NODE_EVENT) {
		show_evidence(&view->evidence[node], cells);
		if (!view->is_sampled)
			cells[NODE_SAMPLES] = (struct cell){ 0 };
	}
	if (is_free(view, node))
		return;
	cells[NODE_CYCLES] = cell_number(v->raw);
	if (view->is_sampled)
		cells[NODE_SE] = cell_number(v->se);
	if (is_average(n))
		return; /* cycles of a period: no part of anything */
	if (view->cycles > 0)
		cells[NODE_SHARE] =
			cell_marked(cell_number(cycle_capped(v) / view->cycles), machine_mark(v));
	cells[NODE_CAPPED] = cell_number(cycle_capped(v));
	if (v->cap < 0)
		return;
	cells[NODE_CAP] = cell_text(table_text(t, view->tree->nodes[n->cap].name));
	if (v->cap > 0 && v->cycles > v->cap)
		cells[NODE_OVERLAP] = cell_number(v->cycles / v->cap);
}

void node_show_not_explained(const struct node_view *view, struct cell *cells)
{
	enum cycle_state state = CYCLE_MEASURED;
	double left;

	if (view->is_fine)
		state = CYCLE_TOO_FINE;
	else if (!cycle_not_explained(view->tree, view->values, &left))
		state = CYCLE_NOT_COLLECTED;
	cells[NODE_NAME] = cell_text("not_explained");
	cells[NODE_DEPTH] = cell_count(0);
	cells[NODE_KIND] = cell_text("formula");
	cells[NODE_STATE] = cell_text(state_words[state]);
	if (state != CYCLE_MEASURED)
		return;
	cells[NODE_CYCLES] = cells[NODE_CAPPED] = cell_number(left);
	if (view->cycles > 0)
		cells[NODE_SHARE] = cell_number(left / view->cycles);
}

void node_show_extra(const char *name, const struct node_evidence *e, struct cell *cells)
{
	cells[NODE_NAME] = cell_text(name);
	cells[NODE_DEPTH] = cell_count(0);
	cells[NODE_KIND] = cell_text("extra");
	cells[NODE_STATE] = cell_text(e->skids ? "skids" : state_words[CYCLE_MEASURED]);
	show_evidence(e, cells);
}

/* Columns for people. */
enum {
	TREE_NAME,
	TREE_SHARE,
	TREE_SE,
	TREE_SAMPLES,
	TREE_PERIOD,
	TREE_EVENTS,
	TREE_MUX,
	TREE_PENALTY,
	TREE_CYCLES,
	N_TREE_COLUMNS
};

static const struct column tree_columns[N_TREE_COLUMNS] = {
	[TREE_NAME] = { "node", NULL, "", CELL_TEXT, COLUMN_TREE | COLUMN_GROW,
			"node of the tree" },
	[TREE_SHARE] = { "share", "share", "", CELL_NUMBER, COLUMN_SHARE,
			 "of all cycles of this object" },
	[TREE_SE] = { "share_limit", "± 95 %", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BLANK,
		      "in 95 of 100 captures the share is within this" },
	[TREE_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, COLUMN_BLANK, "samples" },
	[TREE_PERIOD] = { "period", "x period", "", CELL_NUMBER, COLUMN_BLANK,
			  "their mean period" },
	[TREE_EVENTS] = { "events", NULL, "events", CELL_NUMBER, COLUMN_BLANK, "events counted" },
	[TREE_MUX] = { "mux", "x mux", "", CELL_NUMBER, COLUMN_BLANK, "multiplex factor" },
	[TREE_PENALTY] = { "penalty", "x penalty", "", CELL_NUMBER, COLUMN_BLANK,
			   "cycles that one event costs" },
	[TREE_CYCLES] = { "cycles", "= cycles", "cycles", CELL_NUMBER, COLUMN_BLANK, "cost" },
};

/* The factors of an event's cost. */
static void show_factors(const struct node_view *view, int node, struct cell *cells)
{
	const struct node_evidence *e = &view->evidence[node];

	if (view->is_sampled)
		cells[TREE_SAMPLES] = cell_count(e->n_samples);
	else
		cells[TREE_EVENTS] = cell_number(e->weight);
	if (e->n_samples > 0)
		cells[TREE_PERIOD] = cell_number(e->weight / (double)e->n_samples);
	if (e->weight > 0)
		cells[TREE_MUX] = cell_number(e->events / e->weight);
	if (view->penalties[node] > 0)
		cells[TREE_PENALTY] = cell_number(view->penalties[node]);
}

static const char *sign_of_state(enum cycle_state state)
{
	return state == CYCLE_GAP ? "no event" : state == CYCLE_TOO_FINE ? "-" : "·";
}

static void show_tree_node(const struct node_view *view, int node, struct cell *cells)
{
	const struct cycle_node *n = &view->tree->nodes[node];
	const struct cycle_value *v = &view->values[node];

	if (v->state != CYCLE_MEASURED) {
		cells[TREE_SHARE] = cell_text(sign_of_state(v->state));
		return;
	}
	if (n->kind == NODE_EVENT)
		show_factors(view, node, cells);
	if (is_free(view, node)) {
		cells[TREE_SHARE] = cell_text("");
		return;
	}
	cells[TREE_CYCLES] = cell_number(v->cycles);
	if (is_average(n) || view->cycles <= 0)
		return;
	cells[TREE_SHARE] = cell_marked(cell_number(cycle_capped(v) / view->cycles), node_mark(v));
	if (v->se > 0)
		cells[TREE_SE] = cell_number(1.96 * v->se / view->cycles);
}

void node_tree_table(const struct node_view *view, struct table *out)
{
	const struct cycle_template *tree = view->tree;
	uint32_t *rows = mem_alloc(tree->n_nodes, sizeof(*rows));

	table_init(out, "tree", NULL, tree_columns, N_TREE_COLUMNS);
	out->meanings = node_meanings;
	for (size_t i = 0; i < tree->n_nodes; i++) {
		const struct cycle_node *n = &tree->nodes[i];
		struct cell *cells;

		if (n->kind == NODE_EVENT && view->values[i].state == CYCLE_NOT_COLLECTED &&
		    !n->adds)
			continue; /* it would cost nothing */
		cells = n->parent == NO_NODE ? table_add_row(out)
					     : table_add_child(out, rows[n->parent]);
		rows[i] = (uint32_t)table_n_rows(out) - 1;
		cells[TREE_NAME] = cell_text(table_text(out, n->name));
		show_tree_node(view, (int)i, cells);
	}
	free(rows);
}

/* Names of the nodes with a column title that are in this state. */
static void note_state(const struct node_view *view, enum cycle_state state, const char *what,
		       struct table *out)
{
	struct text names = { 0 };

	for (size_t i = 0; i < view->tree->n_nodes; i++)
		if (view->tree->nodes[i].title != NULL && view->values[i].state == state) {
			text_part(&names);
			text_str(&names, view->tree->nodes[i].name);
		}
	text_char(&names, '\0');
	if (names.n > 1)
		table_note(out, "%s: %s.", what, names.bytes);
	text_release(&names);
}

/* Events that the machine of the capture does not count, whatever runs. */
static void note_not_counted(const struct node_view *view, struct table *out)
{
	struct text names = { 0 };

	for (size_t i = 0; i < view->tree->n_nodes; i++)
		if (view->tree->nodes[i].kind == NODE_EVENT &&
		    view->values[i].state == CYCLE_NOT_COUNTED) {
			text_part(&names);
			text_str(&names, view->tree->nodes[i].name);
		}
	text_char(&names, '\0');
	if (names.n > 1)
		table_note(out, "Not counted on this machine (cyclops kernel --validate): %s.",
			   names.bytes);
	text_release(&names);
}

void node_notes(const struct node_view *view, struct table *out)
{
	for (size_t i = 0; i < view->tree->n_nodes; i++) {
		const struct cycle_value *v = &view->values[i];

		if (v->state == CYCLE_MEASURED && v->cap > 0 && v->cap < v->cycles)
			table_note(
				out,
				"%s: its events cost %.2f times the cycles of %s, so they overlap. "
				"Shown: at most those cycles.",
				view->tree->nodes[i].name, v->cycles / v->cap,
				view->tree->nodes[view->tree->nodes[i].cap].name);
	}
	for (size_t i = 0; i < view->tree->n_nodes; i++)
		if (view->values[i].is_estimate)
			table_note(out,
				   "%s is an estimate: as if the other thread of the core did what "
				   "this one does.",
				   view->tree->nodes[i].name);
	if (view->assumed_ghz > 0)
		table_note(
			out,
			"Costs off the core are times: in cycles they are those at %.1f GHz. --ghz "
			"says another clock.",
			view->assumed_ghz);
	note_state(view, CYCLE_NOT_COLLECTED, "Not collected", out);
	note_state(view, CYCLE_GAP, "This CPU has no event for", out);
	note_not_counted(view, out);
}

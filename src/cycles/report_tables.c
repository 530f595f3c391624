/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of cycle accounting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cycles/report.h"
#include "cycles/tree/node_table.h"
#include "table/answer.h"

/* Columns of the keys, then those in front of the branches. */
enum { MOST_KEY_COLUMNS = N_KEYS * KEY_MAX_COLUMNS };

static size_t key_columns(const struct cycle_report *r, struct column *list)
{
	return keys_add_columns(&r->request->keys, list, 0);
}

/* Fills the cells of the keys of a row. `columns`: those of the table. */
static void show_row_keys(const struct cycle_report *r, uint32_t row, struct table *t,
			  struct cell *cells)
{
	const uint64_t *words = tuples_get(&r->rows.words, row);
	size_t at = 0;

	for (size_t i = 0; i < r->request->keys.n; i++) {
		const struct key_class *class = &key_classes[r->request->keys.keys[i]];
		struct cell shown[KEY_MAX_COLUMNS] = { 0 };

		class->show(&r->names, words + at, t, shown);
		for (size_t c = 0; c < class->n_columns; c++) {
			int column = table_column(t, class->columns[c].name);

			if (column >= 0 && cells[column].type == CELL_NONE)
				cells[column] = shown[c];
		}
		at += class->n_words;
	}
}

/* A share of the row's cycles; text for a person where there is none. */
static struct cell share_cell(const struct cycle_report *r, uint32_t row, int node)
{
	const struct cycle_value *v = &report_values(r, row)[node];
	double cycles = report_cycles(r, row);

	if (v->state == CYCLE_TOO_FINE)
		return cell_text("-");
	if (v->state != CYCLE_MEASURED || cycles <= 0)
		return cell_text("·");
	return cell_marked(cell_number(cycle_capped(v) / cycles), node_mark(v));
}

/* Has the column of this node anything to show? A gap is one for every row. */
static bool has_column(const struct cycle_report *r, int node)
{
	const struct cycle_value *v = &report_values(r, report_whole(r))[node];

	return r->tree->nodes[node].title != NULL && v->state == CYCLE_MEASURED;
}

/* Events of the capture that are not in the tree. */
static void note_extra(const struct cycle_report *r, struct table *t)
{
	struct text names = { 0 };

	for (size_t i = 0; i < r->events.n; i++) {
		if (r->events.nodes[i] != NO_NODE || !cycle_event_counts(r->session, i))
			continue;
		text_part(&names);
		text_str(&names, capture_event_name(r->session->capture, i));
	}
	text_char(&names, '\0');
	if (names.n > 1)
		table_note(t, "Not in the tree: %s.", names.bytes);
	text_release(&names);
}

static void note_clamped(const struct cycle_report *r, struct table *t)
{
	size_t n = 0;

	for (uint32_t row = 0; row < r->rows.words.n; row++) {
		bool is_clamped = false;

		for (size_t i = 0; i < r->tree->n_nodes; i++)
			is_clamped |= report_values(r, row)[i].is_clamped;
		n += is_clamped;
	}
	if (n > 0)
		table_note(
			t,
			"%zu of %u rows have a difference below zero, shown as 0: too few samples. "
			"csv and json have it with its sign.",
			n, r->rows.words.n);
}

static void note_followers(const struct cycle_report *r, struct table *t)
{
	struct text names = { 0 };

	for (size_t i = 0; i < r->events.n; i++)
		if (mux_is_follower(r->mux, i) && report_sums(r, report_whole(r))[i].n > 0) {
			text_part(&names);
			text_str(&names, capture_event_name(r->session->capture, i));
		}
	text_char(&names, '\0');
	if (names.n > 1)
		table_note(t, "Read where the leader of their group was sampled, so they skid: %s.",
			   names.bytes);
	text_release(&names);
}

/* Below so many turns, phases of a program may fall into those of one event … */
enum { FEW_TURNS = 100, SAMPLES_OF_TURN = 3 };

static bool has_few_turns(const struct cycle_report *r, size_t event)
{
	uint64_t turns = mux_turns(r->mux, event) + 1;

	/* … unless there are as few samples in each: then their own error is larger */
	return mux_factor(r->mux, event, UINT32_MAX) > 1.005 && turns < FEW_TURNS &&
	       report_sums(r, report_whole(r))[event].n > SAMPLES_OF_TURN * turns;
}

/* Too few turns for a fair part of each phase: the standard error does not tell. */
static void note_turns(const struct cycle_report *r, struct table *t)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < r->events.n; i++)
		if (r->events.nodes[i] != NO_NODE && has_few_turns(r, i) &&
		    report_sums(r, report_whole(r))[i].n > 0 && mux_turns(r->mux, i) < least)
			least = mux_turns(r->mux, i);
	if (least != UINT64_MAX)
		table_note(
			t,
			"Some events were counted in no more than %llu turns. If the program has "
			"phases, their costs may be off by more than their errors: record longer, "
			"or "
			"fewer events.",
			(unsigned long long)least + 1);
}

static void add_notes(const struct cycle_report *r, struct table *t)
{
	const struct node_view view = { .tree = r->tree,
					.values = report_values(r, report_whole(r)) };

	note_turns(r, t);
	node_notes(&view, t);
	note_extra(r, t);
	note_followers(r, t);
	note_clamped(r, t);
}

void report_shares(const struct cycle_report *r, struct table *t)
{
	static const struct column of_all = { "of_all",	    "of all",
					      "",	    CELL_NUMBER,
					      COLUMN_SHARE, "cycles of the row, of all cycles" };
	static const struct column stalled = {
		"stalled",   NULL,	   "",
		CELL_NUMBER, COLUMN_SHARE, "stalled cycles, of the row's cycles"
	};
	static const struct column left = {
		"not_explained", "not expl.",  "",
		CELL_NUMBER,	 COLUMN_SHARE, "stalled cycles less those of all branches"
	};
	struct column *columns =
		mem_zalloc(MOST_KEY_COLUMNS + r->tree->n_nodes + 3, sizeof(*columns));
	int *nodes = mem_zalloc(r->tree->n_nodes + 1, sizeof(*nodes));
	size_t n = key_columns(r, columns), n_keys = n, n_nodes = 0;
	uint32_t shown = 0;

	columns[n++] = of_all;
	columns[n++] = stalled;
	columns[n++] = left;
	for (size_t i = 0; i < r->tree->n_nodes; i++)
		if (has_column(r, (int)i))
			nodes[n_nodes++] = (int)i;
	for (size_t i = 0; i < n_nodes; i++)
		columns[n++] = (struct column){
			.name = r->tree->nodes[nodes[i]].name,
			.title = r->tree->nodes[nodes[i]].title,
			.unit = "",
			.type = CELL_NUMBER,
			.flags = COLUMN_SHARE,
			.meaning = "cycles of this node, of the row's cycles",
		};
	table_init(t, "shares", NULL, columns, n);
	table_own_columns(t, 0);
	for (uint32_t i = 0; i < r->rows.words.n; i++) {
		uint32_t row = r->order[i];
		struct cell *cells;
		double whole = report_cycles(r, report_whole(r)), left_cycles;

		if (r->request->top > 0 && shown == r->request->top)
			break;
		shown++;
		cells = table_add_row(t);
		show_row_keys(r, row, t, cells);
		if (whole > 0)
			cells[n_keys] =
				cell_marked(cell_number(report_cycles(r, row) / whole),
					    node_mark(&report_values(r, row)[r->tree->cycles]));
		cells[n_keys + 1] = share_cell(r, row, r->tree->stalled);
		for (size_t k = 0; k < n_nodes; k++)
			cells[n_keys + 3 + k] = share_cell(r, row, nodes[k]);
		if (!r->is_fine && report_cycles(r, row) > 0 &&
		    cycle_not_explained(r->tree, report_values(r, row), &left_cycles))
			cells[n_keys + 2] = cell_number(left_cycles / report_cycles(r, row));
	}
	if (shown < r->rows.words.n)
		table_note(t, "%u more; --all shows them", r->rows.words.n - shown);
	add_notes(r, t);
	free(columns);
	free(nodes);
}

/* The costliest node with a column of its own, children before what they are a part of; NO_NODE: none. */
static int costliest(const struct cycle_report *r, uint32_t row)
{
	int best = NO_NODE;

	for (size_t i = 0; i < r->tree->n_nodes; i++) {
		const struct cycle_node *n = &r->tree->nodes[i];
		const struct cycle_value *v = &report_values(r, row)[i];
		bool is_stall = n->is_stall || (n->parent != NO_NODE && n->adds &&
						r->tree->nodes[n->parent].is_stall);

		if (n->title == NULL || !is_stall || v->state != CYCLE_MEASURED ||
		    cycle_capped(v) <= 0)
			continue;
		if (best == NO_NODE ||
		    cycle_capped(v) >= cycle_capped(&report_values(r, row)[best]))
			best = (int)i;
	}
	return best;
}

/* The first text of a row's keys. */
static const char *row_name(const struct cycle_report *r, uint32_t row, struct table *t)
{
	const struct key_class *class = &key_classes[r->request->keys.keys[0]];
	struct cell shown[KEY_MAX_COLUMNS] = { 0 };

	class->show(&r->names, tuples_get(&r->rows.words, row), t, shown);
	return shown[0].type == CELL_TEXT ? table_text(t, shown[0].text) : NULL;
}

/* How much of the time events were counted. */
static void say_multiplexing(const struct cycle_report *r, struct table *t)
{
	double least = 1, most = 0;
	bool is_known = true;

	for (size_t i = 0; i < r->events.n; i++) {
		double part = 1 / mux_factor(r->mux, i, UINT32_MAX);

		if (r->events.nodes[i] == NO_NODE || report_sums(r, report_whole(r))[i].n == 0)
			continue;
		is_known &= mux_is_known(r->mux, i);
		least = part < least ? part : least;
		most = part > most ? part : most;
	}
	if (!is_known && r->events.n_matched > 1)
		answer_say(t,
			   "%zu of %zu events are in the tree of %s. There are no read values: if "
			   "events took turns, costs are too low.",
			   r->events.n_matched, r->events.n_counting, r->tree->name);
	else if (least < 0.995)
		answer_say(t,
			   "%zu of %zu events are in the tree of %s. They took turns: each was "
			   "counted %.0f to %.0f %% of the time.",
			   r->events.n_matched, r->events.n_counting, r->tree->name, 100 * least,
			   100 * most);
	else
		answer_say(t, "%zu of %zu events are in the tree of %s.", r->events.n_matched,
			   r->events.n_counting, r->tree->name);
}

void report_answer(const struct cycle_report *r, struct table *t)
{
	uint32_t whole = report_whole(r);
	const struct cycle_value *values = report_values(r, whole);
	double cycles = report_cycles(r, whole);
	int node = costliest(r, whole);

	answer_init(t);
	if (cycles <= 0) {
		answer_say(t, "Unhalted cycles were not sampled: no shares. Record %s too.",
			   r->tree->nodes[r->tree->cycles].name);
	} else if (values[r->tree->stalled].state == CYCLE_MEASURED && node != NO_NODE) {
		answer_say(t,
			   "%.1f %% of all cycles are stalled. The costliest known cause is %s: "
			   "%s%.1f %% "
			   "of all cycles.",
			   100 * values[r->tree->stalled].cycles / cycles,
			   r->tree->nodes[node].name,
			   values[node].is_lower_bound ? "at least " : "",
			   100 * cycle_capped(&values[node]) / cycles);
	} else if (node != NO_NODE) {
		answer_say(t, "The costliest known cause is %s: %s%.1f %% of all cycles.",
			   r->tree->nodes[node].name,
			   values[node].is_lower_bound ? "at least " : "",
			   100 * cycle_capped(&values[node]) / cycles);
	}
	if (cycles > 0 && r->rows.words.n > 1) {
		uint32_t row = r->order[0];
		const char *name = row_name(r, row, t);
		int own = costliest(r, row);

		if (name != NULL && own != NO_NODE)
			answer_say(t, "%s takes %.1f %% of all cycles, %.1f %% of its own for %s.",
				   name, 100 * report_cycles(r, row) / cycles,
				   100 * cycle_capped(&report_values(r, row)[own]) /
					   report_cycles(r, row),
				   r->tree->nodes[own].name);
	}
	say_multiplexing(r, t);
}

static enum cell_mark mux_mark(const struct cycle_report *r, size_t event)
{
	if (!mux_is_known(r->mux, event))
		return MARK_UNCERTAIN;
	return has_few_turns(r, event) ? MARK_SPARSE : MARK_EXACT;
}

static enum cell_mark node_mux_mark(const struct cycle_report *r, int node)
{
	for (size_t i = 0; i < r->events.n; i++)
		if (r->events.nodes[i] == node && mux_mark(r, i) != MARK_EXACT)
			return mux_mark(r, i);
	return MARK_EXACT;
}

static bool is_extra(const struct cycle_report *r, size_t event)
{
	return r->events.nodes[event] == NO_NODE && cycle_event_counts(r->session, event);
}

/* The row whose first key has this text; `all`: the whole capture. */
static int find_row(const struct cycle_report *r, const char *name, struct table *t, uint32_t *out,
		    struct err *err)
{
	if (strcmp(name, "all") == 0) {
		*out = report_whole(r);
		return 0;
	}
	for (uint32_t i = 0; i < r->rows.words.n; i++) {
		const char *text = row_name(r, r->order[i], t);

		if (text != NULL && strcmp(text, name) == 0) {
			*out = r->order[i];
			return 0;
		}
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--tree: no %s '%.80s' has samples",
		       key_classes[r->request->keys.keys[0]].name, name);
}

/* The object of a row; fills the evidence of each node. */
static struct node_view view_of(const struct cycle_report *r, uint32_t row,
				struct node_evidence *evidence)
{
	for (size_t i = 0; i < r->tree->n_nodes; i++) {
		struct event_sum sum = report_node_sum(r, row, (int)i);

		evidence[i] = (struct node_evidence){ sum.n, sum.weight, sum.events,
						      node_mux_mark(r, (int)i) };
	}
	return (struct node_view){
		.tree = r->tree,
		.values = report_values(r, row),
		.evidence = evidence,
		.penalties = r->request->penalties,
		.cycles = report_cycles(r, row),
		.is_fine = r->is_fine && row != report_whole(r),
		.is_sampled = true,
	};
}

static void show_extra(const struct cycle_report *r, uint32_t row, size_t event, struct cell *cells)
{
	const struct event_sum *sum = &report_sums(r, row)[event];
	const struct node_evidence e = { sum->n, sum->weight, sum->events, mux_mark(r, event) };

	node_show_extra(capture_event_name(r->session->capture, event), &e, cells);
}

/* All rows of the tree of one object. */
static void add_long_rows(const struct cycle_report *r, uint32_t row, size_t n_keys,
			  struct table *t)
{
	size_t n = r->tree->n_nodes + 1 + r->events.n;
	struct node_evidence *evidence = mem_alloc(r->tree->n_nodes, sizeof(*evidence));
	const struct node_view view = view_of(r, row, evidence);

	for (size_t i = 0; i < n; i++) {
		size_t event = i - r->tree->n_nodes - 1;
		struct cell *cells;

		if (i > r->tree->n_nodes && !is_extra(r, event))
			continue;
		cells = table_add_row(t);
		if (row != report_whole(r))
			show_row_keys(r, row, t, cells);
		if (i < r->tree->n_nodes)
			node_show(&view, (int)i, t, cells + n_keys);
		else if (i == r->tree->n_nodes)
			node_show_not_explained(&view, cells + n_keys);
		else
			show_extra(r, row, event, cells + n_keys);
	}
	free(evidence);
}

int report_long(const struct cycle_report *r, struct table *t, struct err *err)
{
	struct column columns[MOST_KEY_COLUMNS + N_NODE_COLUMNS];
	size_t n_keys = key_columns(r, columns);
	uint32_t n_rows = r->rows.words.n, row;

	memcpy(&columns[n_keys], node_columns, sizeof(node_columns));
	table_init(t, "cycles", NULL, columns, n_keys + N_NODE_COLUMNS);
	table_own_columns(t, 0);
	add_notes(r, t);
	if (r->request->node_of != NULL) {
		if (find_row(r, r->request->node_of, t, &row, err) < 0)
			return -1;
		add_long_rows(r, row, n_keys, t);
		return 0;
	}
	if (r->request->top > 0 && n_rows > r->request->top)
		n_rows = (uint32_t)r->request->top;
	for (uint32_t i = 0; i < n_rows; i++)
		add_long_rows(r, r->order[i], n_keys, t);
	return 0;
}

int report_nodes(const struct cycle_report *r, struct table *t, struct err *err)
{
	struct node_evidence *evidence = mem_zalloc(r->tree->n_nodes, sizeof(*evidence));
	struct table names = { 0 }; /* for the texts that are compared */
	struct node_view view;
	uint32_t row = 0;
	int rc;

	rc = find_row(r, r->request->node_of, &names, &row, err);
	table_release(&names);
	if (rc == 0) {
		view = view_of(r, row, evidence);
		node_tree_table(&view, t);
		add_notes(r, t);
	}
	free(evidence);
	return rc;
}

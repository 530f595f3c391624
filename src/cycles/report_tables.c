/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of cycle accounting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cycles/report.h"
#include "cycles/tree/node_table.h"
#include "table/answer.h"

/* A share of the row's cycles; text for a person where there is none. */
static struct cell share_cell(const struct cycle_report *r, uint32_t row, int node)
{
	const struct cycle_value *v = &cycle_report_values(r, row)[node];
	double cycles = cycle_report_cycles(r, row);

	if (v->state == CYCLE_TOO_FINE)
		return cell_text("-");
	if (v->state != CYCLE_MEASURED || cycles <= 0)
		return cell_text("·");
	return cell_marked(cell_number(cycle_capped(v) / cycles), node_mark(v));
}

/* Has the column of this node anything to show? A gap is one for every row. */
static bool has_column(const struct cycle_report *r, int node)
{
	const struct cycle_value *v = &cycle_report_values(r, cycle_report_whole(r))[node];

	return r->tree->nodes[node].title != NULL && v->state == CYCLE_MEASURED;
}

/* Events that are not in the tree. */
static void note_extra(const struct cycle_report *r, struct table *t)
{
	struct text names = { 0 };

	for (size_t i = 0; i < r->objects->events.n; i++) {
		if (r->objects->events.items[i].node != NO_NODE)
			continue;
		text_part(&names);
		text_str(&names, r->objects->events.items[i].name);
	}
	text_char(&names, '\0');
	if (names.n > 1)
		table_note(t, "Not in the tree: %s.", names.bytes);
	text_release(&names);
}

static void note_clamped(const struct cycle_report *r, struct table *t)
{
	size_t n = 0;

	for (uint32_t row = 0; row < cycle_report_whole(r); row++) {
		bool is_clamped = false;

		for (size_t i = 0; i < r->tree->n_nodes; i++)
			is_clamped |= cycle_report_values(r, row)[i].is_clamped;
		n += is_clamped;
	}
	if (n > 0)
		table_note(
			t,
			"%zu of %u rows have a difference below zero, shown as 0: too few samples. "
			"csv and json have it with its sign.",
			n, cycle_report_whole(r));
}

static void note_followers(const struct cycle_report *r, struct table *t)
{
	struct text names = { 0 };

	for (size_t i = 0; i < r->objects->events.n; i++)
		if (r->objects->events.items[i].is_follower && r->objects->events.items[i].n > 0) {
			text_part(&names);
			text_str(&names, r->objects->events.items[i].name);
		}
	text_char(&names, '\0');
	if (names.n > 1)
		table_note(t, "Read where the leader of their group was sampled, so they skid: %s.",
			   names.bytes);
	text_release(&names);
}

/* Below so many turns, phases of a program may fall into those of one event … */
enum { FEW_TURNS = 100, SAMPLES_OF_TURN = 3 };

static bool has_few_turns(const struct cycle_event *event)
{
	/* … unless there are as few samples in each: then their own error is larger */
	return event->factor > 1.005 && event->turns + 1 < FEW_TURNS &&
	       event->n > SAMPLES_OF_TURN * (event->turns + 1);
}

/* Too few turns for a fair part of each phase: the standard error does not tell. */
static void note_turns(const struct cycle_report *r, struct table *t)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < r->objects->events.n; i++) {
		const struct cycle_event *event = &r->objects->events.items[i];

		if (event->node != NO_NODE && has_few_turns(event) && event->turns < least)
			least = event->turns;
	}
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
					.values = cycle_report_values(r, cycle_report_whole(r)),
					.assumed_ghz = r->request->assumed_ghz };

	note_turns(r, t);
	node_notes(&view, t);
	note_extra(r, t);
	note_followers(r, t);
	note_clamped(r, t);
}

/* A column for each event that is not in the tree. Returns how many. */
static size_t add_extra_columns(const struct cycle_report *r, struct column *columns)
{
	size_t n = 0;

	for (size_t i = 0; i < r->objects->events.n; i++)
		if (r->objects->events.items[i].node == NO_NODE)
			columns[n++] = (struct column){
				.name = r->objects->events.items[i].name,
				.unit = "events",
				.type = CELL_NUMBER,
				.meaning = "events that its samples represent",
			};
	return n;
}

static void show_extra_cells(const struct cycle_report *r, uint32_t row, struct cell *cells)
{
	for (size_t i = 0; i < r->objects->events.n; i++)
		if (r->objects->events.items[i].node == NO_NODE)
			*cells++ = cell_number(cycle_report_sums(r, row)[i].events);
}

/* Columns behind those of the keys, in front of the branches. */
enum { FIRST_OF_ALL, FIRST_STALLED, FIRST_LEFT, N_FIRST };

void cycle_report_shares(const struct cycle_report *r, struct table *t)
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
	const struct cycle_objects *o = r->objects;
	struct column *columns = mem_zalloc(o->n_columns + r->tree->n_nodes + o->events.n + N_FIRST,
					    sizeof(*columns));
	int *nodes = mem_zalloc(r->tree->n_nodes + 1, sizeof(*nodes));
	size_t n = o->n_columns, n_nodes = 0, n_extra;
	uint32_t shown = 0;

	memcpy(columns, o->columns, n * sizeof(*columns));
	columns[n + FIRST_OF_ALL] = of_all;
	columns[n + FIRST_STALLED] = stalled;
	columns[n + FIRST_LEFT] = left;
	n += N_FIRST;
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
	n_extra = add_extra_columns(r, columns + n);
	table_init(t, "shares", NULL, columns, n + n_extra);
	t->meanings = node_meanings;
	table_own_columns(t, 0);
	for (uint32_t i = 0; i < cycle_report_whole(r); i++) {
		uint32_t row = r->order[i];
		struct cell *cells;
		double whole = cycle_report_cycles(r, cycle_report_whole(r)), left_cycles;

		if (r->request->top > 0 && shown == r->request->top)
			break;
		shown++;
		cells = table_add_row(t);
		memcpy(cells, cycle_object_cells(o, row), o->n_columns * sizeof(*cells));
		cells += o->n_columns;
		if (whole > 0)
			cells[FIRST_OF_ALL] = cell_marked(
				cell_number(cycle_report_cycles(r, row) / whole),
				node_mark(&cycle_report_values(r, row)[r->tree->cycles]));
		cells[FIRST_STALLED] = share_cell(r, row, r->tree->stalled);
		if (r->is_fine)
			cells[FIRST_LEFT] = cell_text("-");
		else if (cycle_report_cycles(r, row) > 0 &&
			 cycle_not_explained(r->tree, cycle_report_values(r, row), &left_cycles))
			cells[FIRST_LEFT] = cell_number(left_cycles / cycle_report_cycles(r, row));
		else
			cells[FIRST_LEFT] = cell_text("·");
		for (size_t k = 0; k < n_nodes; k++)
			cells[N_FIRST + k] = share_cell(r, row, nodes[k]);
		show_extra_cells(r, row, cells + N_FIRST + n_nodes);
	}
	if (shown < cycle_report_whole(r))
		table_note(t, "%u more; --all shows them", cycle_report_whole(r) - shown);
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
		const struct cycle_value *v = &cycle_report_values(r, row)[i];
		bool is_stall = n->is_stall || (n->parent != NO_NODE && n->adds &&
						r->tree->nodes[n->parent].is_stall);

		if (n->title == NULL || !is_stall || v->state != CYCLE_MEASURED ||
		    cycle_capped(v) <= 0)
			continue;
		if (best == NO_NODE ||
		    cycle_capped(v) >= cycle_capped(&cycle_report_values(r, row)[best]))
			best = (int)i;
	}
	return best;
}

/* The first text of what the keys say of a row. */
static const char *row_name(const struct cycle_report *r, uint32_t row)
{
	const struct cell *cell = cycle_object_cells(r->objects, row);

	return r->objects->n_columns > 0 && cell->type == CELL_TEXT ? cell->text : NULL;
}

/* How much of the time events were counted. */
static void say_multiplexing(const struct cycle_report *r, struct table *t)
{
	double least = 1, most = 0;
	bool is_known = true;
	size_t n_matched = 0, n_counting = r->objects->events.n;

	for (size_t i = 0; i < n_counting; i++) {
		const struct cycle_event *event = &r->objects->events.items[i];
		double part = 1 / event->factor;

		n_matched += event->node != NO_NODE;
		if (event->node == NO_NODE || event->n == 0)
			continue;
		is_known &= event->is_known;
		least = part < least ? part : least;
		most = part > most ? part : most;
	}
	if (!is_known && n_matched > 1)
		answer_say(t,
			   "%zu of %zu events are in the tree of %s. There are no read values: if "
			   "events took turns, costs are too low.",
			   n_matched, n_counting, r->tree->name);
	else if (least < 0.995)
		answer_say(t,
			   "%zu of %zu events are in the tree of %s. They took turns: each was "
			   "counted %.0f to %.0f %% of the time.",
			   n_matched, n_counting, r->tree->name, 100 * least, 100 * most);
	else
		answer_say(t, "%zu of %zu events are in the tree of %s.", n_matched, n_counting,
			   r->tree->name);
}

void cycle_report_answer(const struct cycle_report *r, struct table *t)
{
	uint32_t whole = cycle_report_whole(r);
	const struct cycle_value *values = cycle_report_values(r, whole);
	double cycles = cycle_report_cycles(r, whole);
	int node = costliest(r, whole);

	answer_init(t);
	if (cycles <= 0) {
		answer_say(t, "Unhalted cycles were not sampled: no shares. Record %s too.",
			   r->tree->nodes[r->tree->cycles].name);
	} else if (values[r->tree->stalled].state == CYCLE_MEASURED && node != NO_NODE) {
		answer_say(
			t,
			"%.1f %% of all cycles are stalled. The costliest known cause is %s (%s): "
			"%s%.1f %% "
			"of all cycles.",
			100 * values[r->tree->stalled].cycles / cycles, r->tree->nodes[node].title,
			r->tree->nodes[node].name, values[node].is_lower_bound ? "at least " : "",
			100 * cycle_capped(&values[node]) / cycles);
	} else if (node != NO_NODE) {
		answer_say(t, "The costliest known cause is %s (%s): %s%.1f %% of all cycles.",
			   r->tree->nodes[node].title, r->tree->nodes[node].name,
			   values[node].is_lower_bound ? "at least " : "",
			   100 * cycle_capped(&values[node]) / cycles);
	}
	if (cycles > 0 && cycle_report_whole(r) > 1) {
		uint32_t row = r->order[0];
		const char *name = row_name(r, row);
		int own = costliest(r, row);

		if (name != NULL && own != NO_NODE)
			answer_say(t, "%s takes %.1f %% of all cycles, %.1f %% of its own for %s.",
				   name, 100 * cycle_report_cycles(r, row) / cycles,
				   100 * cycle_capped(&cycle_report_values(r, row)[own]) /
					   cycle_report_cycles(r, row),
				   r->tree->nodes[own].title);
	}
	say_multiplexing(r, t);
}

static enum cell_mark mux_mark(const struct cycle_event *event)
{
	if (!event->is_known)
		return MARK_UNCERTAIN;
	return has_few_turns(event) ? MARK_SPARSE : MARK_EXACT;
}

static struct node_evidence evidence_of(const struct cycle_report *r, uint32_t row, size_t event)
{
	const struct event_sum *sum = &cycle_report_sums(r, row)[event];
	const struct cycle_event *e = &r->objects->events.items[event];

	return (struct node_evidence){ .n_samples = sum->n,
				       .weight = sum->weight,
				       .events = sum->events,
				       .mux = mux_mark(e),
				       .skids = e->is_follower };
}

/* The row whose first key has this text; `all`: the whole. */
static int find_row(const struct cycle_report *r, const char *name, uint32_t *out, struct err *err)
{
	if (strcmp(name, "all") == 0) {
		*out = cycle_report_whole(r);
		return 0;
	}
	for (uint32_t i = 0; i < cycle_report_whole(r); i++) {
		const char *text = row_name(r, r->order[i]);

		if (text != NULL && strcmp(text, name) == 0) {
			*out = r->order[i];
			return 0;
		}
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--tree: no %s '%.80s' has samples",
		       r->objects->is_by_block ? "block"
					       : key_classes[r->objects->keys.keys[0]].name,
		       name);
}

/* The object of a row; fills the evidence of each node. */
static struct node_view view_of(const struct cycle_report *r, uint32_t row,
				struct node_evidence *evidence)
{
	memset(evidence, 0, r->tree->n_nodes * sizeof(*evidence));
	for (size_t i = 0; i < r->objects->events.n; i++)
		if (r->objects->events.items[i].node != NO_NODE)
			evidence[r->objects->events.items[i].node] = evidence_of(r, row, i);
	return (struct node_view){
		.tree = r->tree,
		.values = cycle_report_values(r, row),
		.evidence = evidence,
		.penalties = r->request->penalties,
		.cycles = cycle_report_cycles(r, row),
		.is_fine = r->is_fine && row != cycle_report_whole(r),
		.is_sampled = true,
		.assumed_ghz = r->request->assumed_ghz,
	};
}

/* Columns of the table for programs behind the nodes: what else the keys say. */
static size_t more_columns(const struct cycle_objects *o, size_t *out)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_columns; i++) {
		bool is_name = (o->columns[i].flags & COLUMN_TEXT_ONLY) != 0;

		for (size_t k = 0; k < N_OBJECT_NAMES; k++)
			is_name |= strcmp(o->columns[i].name, object_columns[k].name) == 0;
		if (!is_name)
			out[n++] = i;
	}
	return n;
}

/* All rows of the tree of one object. */
static void add_long_rows(const struct cycle_report *r, uint32_t row, struct table *t)
{
	const struct cycle_objects *o = r->objects;
	size_t n = r->tree->n_nodes + 1 + o->events.n, more[MOST_KEY_COLUMNS];
	struct node_evidence *evidence = mem_alloc(r->tree->n_nodes, sizeof(*evidence));
	const struct node_view view = view_of(r, row, evidence);
	size_t n_more = more_columns(o, more);

	for (size_t i = 0; i < n; i++) {
		size_t event = i - r->tree->n_nodes - 1;
		struct cell *cells;

		if (i > r->tree->n_nodes && o->events.items[event].node != NO_NODE)
			continue;
		cells = table_add_row(t);
		if (row != cycle_report_whole(r)) {
			memcpy(cells, cycle_object_names(o, row), N_OBJECT_NAMES * sizeof(*cells));
			for (size_t k = 0; k < n_more; k++)
				cells[N_OBJECT_NAMES + N_NODE_COLUMNS + k] =
					cycle_object_cells(o, row)[more[k]];
		}
		cells += N_OBJECT_NAMES;
		if (i < r->tree->n_nodes) {
			node_show(&view, (int)i, t, cells);
		} else if (i == r->tree->n_nodes) {
			node_show_not_explained(&view, cells);
		} else {
			const struct node_evidence e = evidence_of(r, row, event);

			node_show_extra(o->events.items[event].name, &e, cells);
		}
	}
	free(evidence);
}

int cycle_report_long(const struct cycle_report *r, struct table *t, struct err *err)
{
	struct column columns[N_OBJECT_NAMES + N_NODE_COLUMNS + MOST_KEY_COLUMNS];
	size_t more[MOST_KEY_COLUMNS], n_more = more_columns(r->objects, more);
	uint32_t n_rows = cycle_report_whole(r), row;

	memcpy(columns, object_columns, sizeof(object_columns));
	memcpy(&columns[N_OBJECT_NAMES], node_columns, sizeof(node_columns));
	for (size_t i = 0; i < n_more; i++)
		columns[N_OBJECT_NAMES + N_NODE_COLUMNS + i] = r->objects->columns[more[i]];
	table_init(t, "cycles", NULL, columns, N_OBJECT_NAMES + N_NODE_COLUMNS + n_more);
	t->meanings = node_meanings;
	table_own_columns(t, 0);
	add_notes(r, t);
	if (r->request->node_of != NULL) {
		if (find_row(r, r->request->node_of, &row, err) < 0)
			return -1;
		add_long_rows(r, row, t);
		return 0;
	}
	if (r->request->top > 0 && n_rows > r->request->top)
		n_rows = (uint32_t)r->request->top;
	for (uint32_t i = 0; i < n_rows; i++)
		add_long_rows(r, r->order[i], t);
	return 0;
}

int cycle_report_nodes(const struct cycle_report *r, struct table *t, struct err *err)
{
	struct node_evidence *evidence = mem_zalloc(r->tree->n_nodes, sizeof(*evidence));
	struct node_view view;
	uint32_t row = 0;
	int rc;

	rc = find_row(r, r->request->node_of, &row, err);
	if (rc == 0) {
		view = view_of(r, row, evidence);
		node_tree_table(&view, t);
		add_notes(r, t);
	}
	free(evidence);
	return rc;
}

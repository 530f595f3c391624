/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of cycle accounting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cycles/report.h"
#include "table/answer.h"

static const char *const state_words[] = {
	[CYCLE_MEASURED] = "measured",
	[CYCLE_NOT_COLLECTED] = "not collected",
	[CYCLE_GAP] = "gap",
	[CYCLE_TOO_FINE] = "too fine",
};

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
	return cell_marked(cell_number(cycle_capped(v) / cycles), report_mark(v));
}

/* Has the column of this node anything to show? A gap is one for every row. */
static bool has_column(const struct cycle_report *r, int node)
{
	const struct cycle_value *v = &report_values(r, report_whole(r))[node];

	return r->tree->nodes[node].title != NULL && v->state == CYCLE_MEASURED;
}

/* Names of the nodes with a column title that are in this state. */
static void names_in_state(const struct cycle_report *r, enum cycle_state state, struct text *out)
{
	for (size_t i = 0; i < r->tree->n_nodes; i++)
		if (r->tree->nodes[i].title != NULL &&
		    report_values(r, report_whole(r))[i].state == state) {
			text_part(out);
			text_str(out, r->tree->nodes[i].name);
		}
}

static void note_state(const struct cycle_report *r, enum cycle_state state, const char *what,
		       struct table *t)
{
	struct text names = { 0 };

	names_in_state(r, state, &names);
	text_char(&names, '\0');
	if (names.n > 1)
		table_note(t, "%s: %s.", what, names.bytes);
	text_release(&names);
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

static void note_caps(const struct cycle_report *r, struct table *t)
{
	for (size_t i = 0; i < r->tree->n_nodes; i++) {
		const struct cycle_value *v = &report_values(r, report_whole(r))[i];

		if (v->state == CYCLE_MEASURED && v->cap > 0 && v->cap < v->cycles)
			table_note(
				t,
				"%s: its events cost %.2f times the cycles of %s, so they overlap. "
				"Shown: at most those cycles.",
				r->tree->nodes[i].name, v->cycles / v->cap,
				r->tree->nodes[r->tree->nodes[i].cap].name);
	}
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
	note_turns(r, t);
	note_caps(r, t);
	note_state(r, CYCLE_NOT_COLLECTED, "Not collected in this capture", t);
	note_state(r, CYCLE_GAP, "This CPU has no event for", t);
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
					    report_mark(&report_values(r, row)[r->tree->cycles]));
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

/* The columns of a node, behind those of the keys. */
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

static const struct column node_columns[N_NODE_COLUMNS] = {
	[NODE_NAME] = { "node", NULL, "", CELL_TEXT, 0, "event, branch or formula of the tree" },
	[NODE_PARENT] = { "parent", NULL, "", CELL_TEXT, 0, "the node that it is below" },
	[NODE_DEPTH] = { "depth", NULL, "", CELL_COUNT, 0, "0: at the top of the tree" },
	[NODE_KIND] = { "kind", NULL, "", CELL_TEXT, 0,
			"event, branch, formula, or extra: an event that is not in the tree" },
	[NODE_STATE] = { "state", NULL, "", CELL_TEXT, 0,
			 "measured; not collected; gap: the CPU has no event for it; too fine: not "
			 "at "
			 "the level of instructions" },
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

static const char *kind_word(const struct cycle_node *n)
{
	return n->kind == NODE_EVENT ? "event" : n->kind == NODE_BRANCH ? "branch" : "formula";
}

/* Cells of an event: how many samples, and what they stand for. */
static void show_event(const struct event_sum *sum, enum cell_mark mux_mark, struct cell *cells)
{
	cells[NODE_SAMPLES] = cell_count(sum->n);
	cells[NODE_EVENTS] = cell_number(sum->events);
	if (sum->weight > 0)
		cells[NODE_MUX] = cell_marked(cell_number(sum->events / sum->weight), mux_mark);
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

static void show_node(const struct cycle_report *r, uint32_t row, int node, struct table *t,
		      struct cell *cells)
{
	const struct cycle_node *n = &r->tree->nodes[node];
	const struct cycle_value *v = &report_values(r, row)[node];
	double cycles = report_cycles(r, row);
	bool is_average = n->kind == NODE_FORMULA && n->formula == FORMULA_AVERAGE;

	cells[NODE_NAME] = cell_text(table_text(t, n->name));
	if (n->parent != NO_NODE)
		cells[NODE_PARENT] = cell_text(table_text(t, r->tree->nodes[n->parent].name));
	cells[NODE_DEPTH] = cell_count(n->depth);
	cells[NODE_KIND] = cell_text(kind_word(n));
	cells[NODE_STATE] = cell_text(state_words[v->state]);
	if (n->kind == NODE_EVENT && r->request->penalties[node] > 0)
		cells[NODE_PENALTY] = cell_number(r->request->penalties[node]);
	if (v->state != CYCLE_MEASURED)
		return;
	if (n->kind == NODE_EVENT) {
		struct event_sum sum = report_node_sum(r, row, node);

		show_event(&sum, node_mux_mark(r, node), cells);
		if (!n->is_cycles && r->request->penalties[node] <= 0)
			return; /* it costs nothing by itself */
	}
	cells[NODE_CYCLES] = cell_number(v->raw);
	cells[NODE_SE] = cell_number(v->se);
	if (is_average)
		return; /* cycles of a period: no part of anything */
	if (cycles > 0)
		cells[NODE_SHARE] =
			cell_marked(cell_number(cycle_capped(v) / cycles), report_mark(v));
	cells[NODE_CAPPED] = cell_number(cycle_capped(v));
	if (v->cap < 0)
		return;
	cells[NODE_CAP] = cell_text(table_text(t, r->tree->nodes[n->cap].name));
	if (v->cap > 0 && v->cycles > v->cap)
		cells[NODE_OVERLAP] = cell_number(v->cycles / v->cap);
}

/* Stalled cycles that no branch explains: the last row of an object's tree. */
static void show_not_explained(const struct cycle_report *r, uint32_t row, struct cell *cells)
{
	double cycles = report_cycles(r, row), left;
	bool is_known = !r->is_fine || row == report_whole(r);

	cells[NODE_NAME] = cell_text("not_explained");
	cells[NODE_DEPTH] = cell_count(0);
	cells[NODE_KIND] = cell_text("formula");
	is_known &= cycle_not_explained(r->tree, report_values(r, row), &left);
	cells[NODE_STATE] = cell_text(is_known	   ? state_words[CYCLE_MEASURED]
				      : r->is_fine ? state_words[CYCLE_TOO_FINE]
						   : state_words[CYCLE_NOT_COLLECTED]);
	if (!is_known)
		return;
	cells[NODE_CYCLES] = cells[NODE_CAPPED] = cell_number(left);
	if (cycles > 0)
		cells[NODE_SHARE] = cell_number(left / cycles);
}

/* An event of the capture that is in no tree. */
static void show_extra(const struct cycle_report *r, uint32_t row, size_t event, struct cell *cells)
{
	cells[NODE_NAME] = cell_text(capture_event_name(r->session->capture, event));
	cells[NODE_DEPTH] = cell_count(0);
	cells[NODE_KIND] = cell_text("extra");
	cells[NODE_STATE] = cell_text(state_words[CYCLE_MEASURED]);
	show_event(&report_sums(r, row)[event], mux_mark(r, event), cells);
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

/* All rows of the tree of one object. */
static void add_long_rows(const struct cycle_report *r, uint32_t row, size_t n_keys,
			  struct table *t)
{
	size_t n = r->tree->n_nodes + 1 + r->events.n;

	for (size_t i = 0; i < n; i++) {
		size_t event = i - r->tree->n_nodes - 1;
		struct cell *cells;

		if (i > r->tree->n_nodes && !is_extra(r, event))
			continue;
		cells = table_add_row(t);
		if (row != report_whole(r))
			show_row_keys(r, row, t, cells);
		if (i < r->tree->n_nodes)
			show_node(r, row, (int)i, t, cells + n_keys);
		else if (i == r->tree->n_nodes)
			show_not_explained(r, row, cells + n_keys);
		else
			show_extra(r, row, event, cells + n_keys);
	}
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
	enum { NAME, SHARE, SE, SAMPLES, PERIOD, MUX, PENALTY, CYCLES, N };
	static const struct column columns[N] = {
		[NAME] = { "node", NULL, "", CELL_TEXT, COLUMN_TREE | COLUMN_GROW,
			   "node of the tree" },
		[SHARE] = { "share", "share", "", CELL_NUMBER, COLUMN_SHARE,
			    "of the row's cycles" },
		[SE] = { "share_se", "± 95 %", "", CELL_NUMBER, COLUMN_SHARE,
			 "95 % of repetitions are within this" },
		[SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, COLUMN_BLANK, "" },
		[PERIOD] = { "period", "x period", "events", CELL_NUMBER, COLUMN_BLANK,
			     "mean period" },
		[MUX] = { "mux", "x mux", "", CELL_NUMBER, COLUMN_BLANK, "multiplex factor" },
		[PENALTY] = { "penalty", "x penalty", "cycles", CELL_NUMBER, COLUMN_BLANK, "" },
		[CYCLES] = { "cycles", "= cycles", "cycles", CELL_NUMBER, COLUMN_BLANK, "" },
	};
	uint32_t *rows = mem_alloc(r->tree->n_nodes, sizeof(*rows));
	uint32_t row = 0;
	double cycles;

	table_init(t, "tree", NULL, columns, N);
	if (find_row(r, r->request->node_of, t, &row, err) < 0) {
		free(rows);
		return -1;
	}
	cycles = report_cycles(r, row);
	for (size_t i = 0; i < r->tree->n_nodes; i++) {
		const struct cycle_node *n = &r->tree->nodes[i];
		const struct cycle_value *v = &report_values(r, row)[i];
		struct cell *cells;

		if (n->kind == NODE_EVENT && v->state == CYCLE_NOT_COLLECTED && !n->adds)
			continue; /* it would cost nothing */
		cells = n->parent == NO_NODE ? table_add_row(t)
					     : table_add_child(t, rows[n->parent]);
		rows[i] = (uint32_t)table_n_rows(t) - 1;
		cells[NAME] = cell_text(table_text(t, n->name));
		if (v->state != CYCLE_MEASURED) {
			cells[SHARE] = cell_text(v->state == CYCLE_GAP	      ? "no event"
						 : v->state == CYCLE_TOO_FINE ? "-"
									      : "·");
			continue;
		}
		if (n->kind == NODE_EVENT) {
			struct event_sum sum = report_node_sum(r, row, (int)i);

			cells[SAMPLES] = cell_count(sum.n);
			if (sum.n > 0)
				cells[PERIOD] = cell_number(sum.weight / (double)sum.n);
			if (sum.weight > 0)
				cells[MUX] = cell_number(sum.events / sum.weight);
			if (r->request->penalties[i] > 0)
				cells[PENALTY] = cell_number(r->request->penalties[i]);
			if (!n->is_cycles && r->request->penalties[i] <= 0) {
				cells[SHARE] = cell_text("");
				continue;
			}
		}
		cells[CYCLES] = cell_number(v->cycles);
		if (n->kind == NODE_FORMULA && n->formula == FORMULA_AVERAGE)
			continue;
		if (cycles > 0) {
			cells[SHARE] =
				cell_marked(cell_number(cycle_capped(v) / cycles), report_mark(v));
			if (v->se > 0)
				cells[SE] = cell_number(1.96 * v->se / cycles);
		}
	}
	free(rows);
	add_notes(r, t);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "list/penalties.h"

#include "base/text.h"
#include "cycles/tree/template.h"

enum { EVENT, BRANCH, PENALTY, UNIT, STATE, CODE, PERIOD, TREE, SOURCE, N };

static const struct column columns[N] = {
	[EVENT] = { "event", NULL, "", CELL_TEXT, COLUMN_WHOLE, "its name in the tree" },
	[BRANCH] = { "branch", NULL, "", CELL_TEXT, COLUMN_GROW, "the node that it is below" },
	[TREE] = { "tree", NULL, "", CELL_TEXT, 0, "the cycle accounting tree" },
	[CODE] = { "code", NULL, "", CELL_HEX, 0,
		   "Arm: event number. x86: event, umask, edge, inv and cmask as in config" },
	[PENALTY] = { "penalty", NULL, "", CELL_NUMBER, 0, "what one event costs" },
	[UNIT] = { "unit", NULL, "", CELL_TEXT, 0, "of the penalty: cycles, or ns off the core" },
	[STATE] = { "state", NULL, "", CELL_TEXT, 0,
		    "published; estimate: for this core neither published nor measured; not added: "
		    "shown, but no part of its branch; gap: it costs something, and no source says "
		    "what; "
		    "counts cycles; none: it costs nothing by itself" },
	[PERIOD] = { "period", NULL, "events", CELL_COUNT, 0, "proposed sampling period" },
	[SOURCE] = { "source", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_YIELD,
		     "where the penalty is from" },
};

static const char *penalty_state(const struct cycle_node *n)
{
	if (n->is_unpriced)
		return "gap";
	if (n->penalty == 0)
		return n->is_cycles ? "counts cycles" : "none";
	if (!n->adds)
		return "not added";
	return n->is_estimate ? "estimate" : "published";
}

static void add_tree(const struct cycle_template *t, struct table *out)
{
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct cycle_node *n = &t->nodes[i];
		struct cell *cells;

		if (n->kind != NODE_EVENT)
			continue;
		cells = table_add_row(out);
		cells[EVENT] = table_text_cell(out, n->name);
		if (n->parent != NO_NODE)
			cells[BRANCH] = table_text_cell(out, t->nodes[n->parent].name);
		cells[TREE] = table_text_cell(out, t->id);
		cells[CODE] = cell_hex(n->code);
		cells[STATE] = cell_text(penalty_state(n));
		if (n->period > 0)
			cells[PERIOD] = cell_count(n->period);
		if (n->penalty == 0)
			continue;
		cells[PENALTY] = cell_number(n->penalty);
		cells[UNIT] = cell_text(n->is_in_ns ? "ns" : "cycles");
		cells[SOURCE] = table_text_cell(out, n->source != NULL ? n->source : t->source);
	}
}

/* Branches of stalled cycles whose events cost something: what limits them, and which nothing does. */
static void note_caps(const struct cycle_template *t, struct table *out)
{
	struct text capped = { 0 }, free_ones = { 0 };

	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct cycle_node *n = &t->nodes[i];
		bool costs = false;

		for (size_t k = 0; k < t->n_nodes; k++)
			costs |= t->nodes[k].adds && cycle_node_is_below(t, (int)k, (int)i);
		if (n->kind != NODE_BRANCH || n->parent != NO_NODE || !n->is_stall || !costs)
			continue;
		text_part(n->cap != NO_NODE ? &capped : &free_ones);
		text_str(n->cap != NO_NODE ? &capped : &free_ones, n->name);
		if (n->cap != NO_NODE)
			text_format(&capped, " (%s)", t->nodes[n->cap].name);
	}
	text_char(&capped, '\0');
	text_char(&free_ones, '\0');
	if (capped.n > 1)
		table_note(out, "capped: %s", capped.bytes);
	if (free_ones.n > 1)
		table_note(out, "no cap, as no event counts all cycles they can cost: %s",
			   free_ones.bytes);
	text_release(&capped);
	text_release(&free_ones);
}

int penalties_table(const char *name, const struct cpu *cpu, struct table *out, struct err *err)
{
	struct cycle_template *t = NULL;
	struct err unused;

	table_init(out, "penalties", NULL, columns, N);
	if (name == NULL && cpu == NULL) {
		for (size_t i = 0; (t = cycle_template_at(i)) != NULL; i++) {
			add_tree(t, out);
			cycle_template_free(t);
		}
		return 0;
	}
	if (name == NULL || cycle_template_find(name, &t, &unused) < 0)
		if (cycle_template_of_cpu(cpu != NULL ? cpu_id(cpu) : name, "", &t, err) < 0)
			return -1;
	add_tree(t, out);
	note_caps(t, out);
	cycle_template_free(t);
	return 0;
}

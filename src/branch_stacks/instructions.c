/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/instructions.h"

#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "estimate/shares.h"

/* What the event may differ without a warning; with fewer samples nothing is said of it. */
static const double much_off = 0.01;
enum { SAMPLES_TO_COMPARE = 1000 };

static const struct {
	const char *name, *plural;
} classes[N_CODE_CLASSES] = {
	[CODE_BRANCH] = { "branch", "conditional branches" },
	[CODE_JUMP] = { "jump", "jumps" },
	[CODE_CALL] = { "call", "calls" },
	[CODE_RETURN] = { "return", "returns" },
	[CODE_SYSTEM] = { "system", "exceptions" },
	[CODE_LOAD_STORE] = { "load_store", "read-modify-write" },
	[CODE_LOAD] = { "load", "loads" },
	[CODE_STORE] = { "store", "stores" },
	[CODE_OTHER] = { "other", "others" },
};

int instructions_event(const struct session *s, size_t event)
{
	const uint64_t modes =
		1u << ATTR_EXCLUDE_USER | 1u << ATTR_EXCLUDE_KERNEL | 1u << ATTR_EXCLUDE_HV;
	const struct attr *own = &capture_event(s->capture, event)->attr;

	for (size_t i = 0; i < capture_n_events(s->capture); i++) {
		const struct attr *a = &capture_event(s->capture, i)->attr;

		if (a->sample_period != 0 && (a->flags & modes) == (own->flags & modes) &&
		    stack_trigger_of(s, i, NULL) == TRIGGER_INSTRUCTIONS)
			return (int)i;
	}
	return -1;
}

void executed_instructions_find(const struct branch_stacks *b, struct executed_instructions *out)
{
	double weights[N_CODE_CLASSES] = { 0 }, all = 0;
	struct good_segment good;

	*out = (struct executed_instructions){ .event = b->options.instructions_event,
					       .counted = NAN,
					       .n_segments = b->n_good };
	for (uint64_t at = 0; segments_next_good(&b->segments, &at, &good);) {
		const struct segment *s = &good.segment;

		for (int class = 0; class < N_CODE_CLASSES; class ++)
			weights[class] += s->by_class[class] * (double)good.weight;
		out->n_calls += s->by_class[CODE_CALL] * good.n;
		all += s->n_instructions * (double)good.weight;
	}
	for (int class = 0; class < N_CODE_CLASSES; class ++) {
		out->by_class[class] = branch_stacks_executions(b, weights[class]);
		out->share[class] = all > 0 ? weights[class] / all : 0;
	}
	out->n = branch_stacks_executions(b, all);
	out->per_call = weights[CODE_CALL] > 0 ? all / weights[CODE_CALL] : NAN;
	if (out->event >= 0) {
		out->counted = (double)b->counts->instructions_weight / STACK_WEIGHT_ONE;
		out->n_samples = b->counts->n_instruction_samples;
	}
}

enum instructions_column {
	INSTRUCTIONS_COL_CLASS,
	INSTRUCTIONS_COL_EXEC,
	INSTRUCTIONS_COL_SHARE,
	INSTRUCTIONS_COL_COUNTED,
};

static const struct column columns[] = {
	[INSTRUCTIONS_COL_CLASS] = { "class", NULL, "", CELL_TEXT, 0,
				     "branch (conditional), jump, call, return, system, load_store "
				     "(one that reads and writes), load, store, other; all" },
	[INSTRUCTIONS_COL_EXEC] = { "exec", "executions", "instructions", CELL_NUMBER, COLUMN_TRUST,
				    "how many were executed, by branch stacks" },
	[INSTRUCTIONS_COL_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
				     "part of all of them" },
	[INSTRUCTIONS_COL_COUNTED] = { "counted", NULL, "instructions", CELL_NUMBER, COLUMN_TRUST,
				       "how many the event counted that counts retired ones" },
};

void executed_instructions_table(const struct branch_stacks *b, struct table *out)
{
	struct executed_instructions all;
	struct cell *cells;

	executed_instructions_find(b, &all);
	table_init(out, "instructions", "Instructions", columns, COUNT(columns));
	for (int class = 0; class < N_CODE_CLASSES; class ++) {
		cells = table_add_row(out);
		cells[INSTRUCTIONS_COL_CLASS] = cell_text(classes[class].name);
		cells[INSTRUCTIONS_COL_EXEC] =
			branch_stacks_cell(b, all.by_class[class], all.n_segments);
		cells[INSTRUCTIONS_COL_SHARE] = cell_number(all.share[class]);
	}
	cells = table_add_row(out);
	cells[INSTRUCTIONS_COL_CLASS] = cell_text("all");
	cells[INSTRUCTIONS_COL_EXEC] = branch_stacks_cell(b, all.n, all.n_segments);
	cells[INSTRUCTIONS_COL_SHARE] = cell_number(all.n_segments > 0);
	if (all.event >= 0 && all.n_samples > 0)
		cells[INSTRUCTIONS_COL_COUNTED] =
			cell_marked(cell_number(all.counted),
				    all.n_samples < SPARSE_BELOW ? MARK_SPARSE : MARK_SCALED);
}

/* "25 % loads, 9 % stores, …": what is at least a hundredth. */
static void list_classes(const struct executed_instructions *all, struct text *out)
{
	static const enum code_class order[] = { CODE_LOAD,   CODE_STORE, CODE_LOAD_STORE,
						 CODE_BRANCH, CODE_JUMP,  CODE_CALL,
						 CODE_RETURN, CODE_SYSTEM };

	for (size_t i = 0; i < COUNT(order); i++)
		if (all->share[order[i]] >= 0.01)
			text_format(out, "%s%.0f %% %s", out->n > 0 ? ", " : "",
				    100 * all->share[order[i]], classes[order[i]].plural);
	text_char(out, '\0');
}

static void note_counted(const struct branch_stacks *b, const struct executed_instructions *all,
			 struct table *t)
{
	double off = all->n / all->counted - 1;

	if (all->event < 0 || all->n_samples < SAMPLES_TO_COMPARE || isnan(off))
		return;
	table_note(t, "%s counted %s: executions by branch stacks are %.1f %% %s%s",
		   capture_event_name(b->session->capture, (size_t)all->event),
		   table_human(t, cell_number(all->counted), "instructions"), 100 * fabs(off),
		   off < 0 ? "fewer" : "more",
		   fabs(off) > much_off ? ", which is too much: something was not recorded" : "");
}

void executed_instructions_note(const struct branch_stacks *b, struct table *t)
{
	struct executed_instructions all;
	struct text text = { 0 };
	const char *how_many = "instructions";

	executed_instructions_find(b, &all);
	if (all.n_segments == 0 || all.n == 0)
		return;
	list_classes(&all, &text);
	if (!isnan(all.n))
		how_many = table_human(t, cell_number(all.n), "instructions");
	table_note(t, "their segments represent %s%s%s", how_many, text.n > 1 ? ": " : "",
		   text.bytes);
	if (all.n_calls >= SPARSE_BELOW)
		table_note(t, "%.0f instructions for each call", all.per_call);
	note_counted(b, &all, t);
	text_release(&text);
}

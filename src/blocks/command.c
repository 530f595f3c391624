/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops blocks: the basic blocks of a function. */
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "blocks/tables.h"
#include "cli/command.h"
#include "cli/drawing.h"
#include "cli/message.h"
#include "cli/question.h"
#include "cycles/events.h"
#include "cycles/ranges.h"

static const struct usage usage = {
	"blocks",
	"[OPTIONS] [FILE] [FUNCTION]",
	"The basic blocks of a function: samples, executions, trips of loops, where it goes.",
};

struct blocks_command {
	const char *event, *cfg, *function;
	bool splits_calls;
	struct cycle_options accounting;
};

static const struct option options[] = {
	{ "event", 'e', OPTION_TEXT, offsetof(struct blocks_command, event), "NAME",
	  "executions by the branch stacks of this event (default:\n"
	  "                          one that counts taken branches, else the first)" },
	{ "cfg", 0, OPTION_TEXT, offsetof(struct blocks_command, cfg), "FORM",
	  "draw the control flow graph: dot (Graphviz) or text" },
	{ "split-calls", 0, OPTION_FLAG, offsetof(struct blocks_command, splits_calls), NULL,
	  "a call ends its block, too" },
};

static int check_options(struct question *q, struct err *err)
{
	struct blocks_command *command = q->what.into;

	if (drawing_check("--cfg", command->cfg, err) < 0)
		return -1;
	if (cycle_options_check(&command->accounting, err) < 0)
		return -1;
	return question_take_symbol(q, &command->function, err);
}

/* `obstacle`: why there are no executions; NULL: there are. */
static int draw_blocks(struct question *q, const struct cfg *b, bool is_dot,
		       const struct err *obstacle, struct err *err)
{
	struct text text = { 0 };
	int rc;

	drawing_begin(&q->out, is_dot, &text);
	if (is_dot)
		cfg_draw_dot(b, &text);
	else
		cfg_draw_text(b, q->out.document.width, q->out.document.has_unicode, &text);
	if (!is_dot && obstacle != NULL) {
		struct text why = { 0 };

		text_format(&why, "no executions: %s", obstacle->text);
		text_char(&why, '\0');
		put_words(&text, why.bytes, 0, 0, q->out.document.width);
		text_release(&why);
	}
	rc = printer_write(&q->out, &text, err);
	text_release(&text);
	return rc;
}

/* Accounts the cycles of the blocks. Without the tree's events there are none, unless options ask for them. */
static int account_blocks(const struct blocks_command *command, const struct cfg *b,
			  const struct select *select, struct cycle_ranges *out, struct err *err)
{
	struct session *s = b->code->session;
	uint64_t *starts;
	int rc;

	if (!cycle_options_given(&command->accounting) && !cycle_events_are_of_tree(s))
		return 0;
	starts = cfg_block_starts(b);
	rc = cycle_ranges_init(out, s, select, &command->accounting, b->code->region->module,
			       starts, b->list.n, err);
	free(starts);
	return rc;
}

static int show_tables(struct question *q, const struct cfg *b, const struct select *select,
		       const struct err *obstacle, struct err *err)
{
	struct cycle_ranges costs = { 0 };
	struct blocks_tables tables = { 0 };
	int rc = account_blocks(q->what.into, b, select, &costs, err);

	if (rc < 0)
		return rc;
	blocks_tables_make(b, costs.tree != NULL ? &costs : NULL, rows_to_show(&q->rows),
			   question_is_for_reading(q), &tables);
	if (obstacle != NULL)
		table_note(&tables.blocks, "no executions: %s", obstacle->text);
	rc = question_show(q, &tables.shown, err);
	blocks_tables_release(&tables);
	cycle_ranges_release(&costs);
	return rc;
}

static int show_blocks(struct question *q, const struct annotation *code,
		       const struct branch_stacks *stacks, const struct select *select,
		       const struct err *obstacle, struct err *err)
{
	const struct blocks_command *command = q->what.into;
	struct cfg cfg;
	int rc;

	cfg_init(&cfg, code, stacks, command->splits_calls);
	if (command->cfg != NULL)
		rc = draw_blocks(q, &cfg, drawing_is_dot(command->cfg), obstacle, err);
	else
		rc = show_tables(q, &cfg, select, obstacle, err);
	cfg_release(&cfg);
	return rc;
}

/* Reads the code of the region, and shows its blocks. */
static int show_region(struct question *q, struct session *s, const struct annotate *counted,
		       const struct branch_stacks *stacks, const struct select *select,
		       const struct err *obstacle, struct err *err)
{
	struct annotation code;
	int rc;

	annotation_read(&code, s, counted, SYNTAX_ATT);
	if (code.shortage != NULL || code.list.n == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE, "%s has no blocks: %s",
			     counted->region->name,
			     code.shortage != NULL ? code.shortage : "no code");
	else
		rc = show_blocks(q, &code, stacks, select, obstacle, err);
	annotation_release(&code);
	return rc;
}

static int blocks_answer(struct question *q, struct session *s, const struct select *select,
			 struct err *err)
{
	const struct blocks_command *command = q->what.into;
	struct annotate_region region;
	struct annotate_also also = { .counts = true };
	struct branch_stacks stacks = { 0 };
	struct err obstacle;
	bool has_stacks;
	int event = -1, rc;

	if (command->event != NULL) {
		event = branch_stacks_event(s, command->event, err);
		if (event < 0)
			return -1;
	}
	has_stacks = branch_stacks_start(&stacks, s, event, true, &obstacle) == 0 &&
		     branch_stacks_need_all(&stacks, &obstacle) == 0;
	stacks.hides_biased = question_is_for_reading(q);
	if (has_stacks)
		also.analysis = branch_stacks_first_scan(&stacks);
	rc = annotate_find(s, select, command->function, &also, &region, err);
	if (has_stacks && rc == 0)
		rc = branch_stacks_finish(&stacks, select, also.analysis.result, err);
	else if (has_stacks)
		stack_class.free(also.analysis.result);
	if (rc == 0)
		rc = show_region(q, s, also.counted, has_stacks ? &stacks : NULL, select,
				 has_stacks ? NULL : &obstacle, err);
	branch_stacks_release(&stacks);
	annotate_class.free(also.counted);
	return rc;
}

static int blocks_command(int argc, char **argv)
{
	struct blocks_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.more = cycle_option_set(&command.accounting),
		.has_rows = QUESTION_ROWS_UNSORTED,
		.without_time_slices = true,
		.max_arguments = 2,
		.check = check_options,
		.answer = blocks_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_blocks = {
	.usage = &usage,
	.purpose = "basic blocks of a function, how often they ran, its control flow",
	.reads = COMMAND_READS_CAPTURE,
	.run = blocks_command,
};

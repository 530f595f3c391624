/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops calls: who calls whom, how often. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "calls/calls.h"
#include "cli/command.h"
#include "cli/drawing.h"
#include "cli/question.h"

static const struct usage usage = {
	"calls",
	"[OPTIONS] [FILE] [FUNCTION]",
	"Who calls whom, how often, by the returns in branch stacks or SPE records.",
};

struct calls_command {
	const char *event, *graph, *function;
};

static const struct option options[] = {
	{ "event", 'e', OPTION_TEXT, offsetof(struct calls_command, event), "NAME",
	  "calls by the branch stacks of this event, or spe (default: one\n"
	  "                          that records returns alone, else all branches, else spe)" },
	{ "graph", 0, OPTION_TEXT, offsetof(struct calls_command, graph), "FORM",
	  "draw the call graph: dot (Graphviz) or text" },
};

static int check_options(struct question *q, struct err *err)
{
	struct calls_command *command = q->what.into;

	if (drawing_check("--graph", command->graph, err) < 0)
		return -1;
	return question_take_symbol(q, &command->function, err);
}

static int draw_calls(struct question *q, const struct calls *c, bool is_dot, struct err *err)
{
	struct text text = { 0 };
	int rc;

	drawing_begin(&q->out, is_dot, &text);
	if (is_dot)
		calls_draw_dot(c, &text);
	else
		calls_draw_text(c, q->out.document.has_unicode, &text);
	rc = printer_write(&q->out, &text, err);
	text_release(&text);
	return rc;
}

static int show_calls(struct question *q, const struct calls *c, struct err *err)
{
	const struct calls_command *command = q->what.into;
	struct calls_tables tables = { 0 };
	uint32_t function = UINT32_MAX;
	int rc;

	if (command->graph != NULL)
		return draw_calls(q, c, drawing_is_dot(command->graph), err);
	if (command->function != NULL && calls_find(c, command->function, &function, err) < 0)
		return -1;
	calls_tables_make(c, function, rows_to_show(&q->rows), question_is_for_reading(q), &tables);
	q->lacks_data = c->n_returns == 0;
	rc = question_show(q, &tables.shown, err);
	calls_tables_release(&tables);
	return rc;
}

static int calls_answer(struct question *q, struct session *s, const struct select *select,
			struct err *err)
{
	const struct calls_command *command = q->what.into;
	struct calls calls;
	int event = CALLS_BY_BEST, rc;

	if (command->event != NULL && strcmp(command->event, "spe") == 0 &&
	    capture_n_chunks(s->capture) > 0) {
		event = CALLS_BY_SPE;
	} else if (command->event != NULL) {
		event = branch_stacks_event(s, command->event, err);
		if (event < 0)
			return -1;
	}
	rc = calls_read(&calls, s, select, event, err);
	calls.stacks.hides_biased = question_is_for_reading(q);
	if (rc == 0)
		rc = show_calls(q, &calls, err);
	calls_release(&calls);
	return rc;
}

static int calls_command(int argc, char **argv)
{
	struct calls_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.has_rows = QUESTION_ROWS_UNSORTED,
		.without_time_slices = true,
		.max_arguments = 2,
		.check = check_options,
		.answer = calls_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_calls = {
	.usage = &usage,
	.purpose = "who calls whom, how often, by branch records",
	.reads = COMMAND_READS_CAPTURE,
	.run = calls_command,
};

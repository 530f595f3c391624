/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops annotate: one function, instruction by instruction. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/view.h"
#include "base/alloc.h"
#include "cli/question.h"
#include "cli/command.h"
#include "scan/scan.h"

static const struct usage usage = {
	"annotate",
	"[OPTIONS] [FILE] [SYMBOL]",
	"Which instructions and source lines of a function take the time.",
};

enum { DEFAULT_CONTEXT = 3 };

struct annotate_command {
	struct option_list events;
	const char *context, *syntax;
	bool all, no_source, time_estimate, blocks;

	const char *symbol; /* NULL: the hottest */
};

static const struct option options[] = {
	{ "event", 'e', OPTION_LIST, offsetof(struct annotate_command, events), "NAME",
	  "a column for this event, of the capture or of SPE records;\n                          "
	  "may be repeated (default: the most frequent ones)" },
	{ "symbol", 's', OPTION_TEXT, offsetof(struct annotate_command, symbol), "NAME",
	  "this function; the same as SYMBOL" },
	{ "context", 0, OPTION_TEXT, offsetof(struct annotate_command, context), "N",
	  "instructions shown around hot ones (default 3)" },
	{ "all", 0, OPTION_FLAG, offsetof(struct annotate_command, all), NULL,
	  "show cold instructions, too" },
	{ "no-source", 0, OPTION_FLAG, offsetof(struct annotate_command, no_source), NULL,
	  "no source text" },
	{ "time-estimate", 0, OPTION_FLAG, offsetof(struct annotate_command, time_estimate), NULL,
	  "a column with estimated time, from SPE records and code" },
	{ "blocks", 0, OPTION_FLAG, offsetof(struct annotate_command, blocks), NULL,
	  "basic blocks, and how often they ran by branch stacks" },
	{ "syntax", 0, OPTION_TEXT, offsetof(struct annotate_command, syntax), "NAME",
	  "syntax of x86 code: att (the default) or intel" },
};

static int read_view(const struct annotate_command *c, const struct session *s,
		     struct annotate_view *view, enum disasm_syntax *out_syntax, struct err *err)
{
	char *end = NULL;
	unsigned long context =
		c->context == NULL ? DEFAULT_CONTEXT : strtoul(c->context, &end, 10);

	if (end != NULL && (*end != '\0' || end == c->context || context > 1000000))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--context: found '%s', wanted a number", c->context);
	if (c->syntax != NULL && strcmp(c->syntax, "att") != 0 && strcmp(c->syntax, "intel") != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--syntax: found '%s', wanted att or intel", c->syntax);
	*out_syntax =
		c->syntax != NULL && strcmp(c->syntax, "intel") == 0 ? SYNTAX_INTEL : SYNTAX_ATT;
	view->context = (unsigned)context;
	for (size_t i = 0; i < c->events.n; i++)
		if (annotate_view_add(view, s, c->events.items[i], err) < 0)
			return -1;
	return 0;
}

static int annotate_take_symbol(struct question *q, struct err *err)
{
	struct annotate_command *command = q->what.into;

	return question_take_symbol(q, &command->symbol, err);
}

/* The blocks of a function, and what they are made of. */
struct annotated_blocks {
	struct cfg cfg;
	struct branch_stacks stacks;
	struct err obstacle; /* why there are no executions */
	bool is_there, has_executions;
};

static void read_blocks(struct annotated_blocks *blocks, struct session *s,
			const struct select *select, const struct annotation *annotation,
			bool is_for_reading)
{
	if (annotation->shortage != NULL || annotation->list.n == 0)
		return;
	blocks->is_there = true;
	blocks->has_executions =
		branch_stacks_read(&blocks->stacks, s, select, -1, false, &blocks->obstacle) == 0 &&
		branch_stacks_need_all(&blocks->stacks, &blocks->obstacle) == 0;
	blocks->stacks.hides_biased = is_for_reading;
	cfg_init(&blocks->cfg, annotation, blocks->has_executions ? &blocks->stacks : NULL, false);
}

static void note_blocks(const struct annotated_blocks *blocks, struct table *t)
{
	if (blocks->has_executions)
		branch_stacks_note(&blocks->stacks, t);
	else if (blocks->is_there)
		table_note(t, "no executions: %s", blocks->obstacle.text);
}

static void release_blocks(struct annotated_blocks *blocks)
{
	if (!blocks->is_there)
		return;
	cfg_release(&blocks->cfg);
	branch_stacks_release(&blocks->stacks);
}

static int annotate_print(struct question *q, struct session *s, const struct select *select,
			  const struct annotate *counted, enum disasm_syntax syntax,
			  const struct commit_time *time, const char *obstacle,
			  struct annotate_view *view, struct err *err)
{
	const struct annotate_command *command = q->what.into;
	struct annotate_tables tables = { 0 };
	struct annotated_blocks blocks = { 0 };
	struct annotation annotation;
	int rc;

	annotation_read(&annotation, s, counted, syntax);
	annotation.time = obstacle == NULL ? time : NULL;
	if (command->blocks)
		read_blocks(&blocks, s, select, &annotation, question_is_for_reading(q));
	view->blocks = blocks.is_there ? &blocks.cfg : NULL;
	if (view->n_events == 0)
		annotate_view_fill(view, &annotation);
	view->has_unicode = q->out.document.has_unicode;
	annotate_tables_make(&annotation, view, q->out.format->is_for_people, &tables);
	if (command->time_estimate)
		commit_time_note(time, obstacle,
				 q->out.format == &format_text ? &tables.listing
							       : tables.shown.list.items[0]);
	note_blocks(&blocks,
		    q->out.format == &format_text ? &tables.listing : tables.shown.list.items[0]);
	rc = question_show(q, &tables.shown, err);
	annotate_tables_release(&tables);
	release_blocks(&blocks);
	annotation_release(&annotation);
	return rc;
}

static int annotate_answer(struct question *q, struct session *s, const struct select *select,
			   struct err *err)
{
	const struct annotate_command *command = q->what.into;
	struct annotate_view view = {
		.shows_all = command->all,
		.without_source = command->no_source,
		.symfs = q->input.symfs,
	};
	struct annotate_region region;
	struct analysis analyses[] = { { .class = &annotate_class, .options = &region }, { 0 } };
	struct annotate_also also = { 0 };
	const char *obstacle = NULL;
	enum disasm_syntax syntax = SYNTAX_ATT;
	struct scan_wish wish;
	int rc;

	if (read_view(command, s, &view, &syntax, err) < 0)
		return -1;
	if (command->time_estimate)
		also.time = commit_time_new(s, select, &obstacle);
	rc = annotate_find(s, select, command->symbol, &also, &region, err);
	if (rc == 0) {
		const struct code_span code = { region.module, region.from, region.to };

		wish = annotate_wish(s);
		wish.keeps_places = true;
		if (also.time != NULL)
			analyses[1] = commit_time_second(also.time);
		wish.without_addresses = also.time == NULL;
		if (also.time == NULL)
			wish.only_code = &code;
		scan_part(s, select, &wish, analyses, also.time != NULL ? 2 : 1);
		if (also.time != NULL)
			obstacle = commit_time_finish(also.time, analyses[1].result);
		rc = annotate_print(q, s, select, analyses[0].result, syntax, also.time, obstacle,
				    &view, err);
		annotate_class.free(analyses[0].result);
	}
	commit_time_free(also.time);
	return rc;
}

static int annotate_command(int argc, char **argv)
{
	struct annotate_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.max_arguments = 2,
		.check = annotate_take_symbol,
		.answer = annotate_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_annotate = {
	.usage = &usage,
	.purpose = "which instructions and source lines of a function take the time",
	.reads = COMMAND_READS_CAPTURE,
	.run = annotate_command,
};

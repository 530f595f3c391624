/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops cycles: cycle accounting. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/question.h"
#include "cycles/cycles.h"
#include "cycles/options.h"

static const struct usage usage = {
	"cycles",
	"[OPTIONS] [FILE]...",
	"Cycle accounting: what cycles are lost for, by function, in the branches of a tree.",
};

struct cycles_command {
	const char *by;
	const char *node_of;
	const char *html; /* a file; NULL: none */
	struct cycle_options accounting;

	struct keys keys; /* of --by */
	bool is_by_block;
};

static const struct option options[] = {
	{ "by", 0, OPTION_TEXT, offsetof(struct cycles_command, by), "KEY[,KEY]",
	  "process, program, thread, cpu, module, function (the default), line,\n"
	  "                          block, instruction" },
	{ "tree", 0, OPTION_TEXT, offsetof(struct cycles_command, node_of), "NAME",
	  "instead: the whole tree of this function; all: of the capture" },
	{ "html", 0, OPTION_OUTPUT, offsetof(struct cycles_command, html), "FILE", HTML_HELP },
};

/* Keys that are no rows of cycle accounting, whose columns are events. */
#define NOT_TAKEN (1u << KEY_EVENT | 1u << KEY_OPERATION | 1u << KEY_SOURCE | 1u << KEY_CALLER)

/* --by: the common keys, and blocks. Their rows stand at the first instruction. */
static int parse_keys(const char *text, struct cycles_command *command, struct err *err)
{
	static const char block[] = "block", instruction[] = "instruction";
	struct text keys = { 0 };
	int rc;

	while (*text != '\0') {
		size_t size = strcspn(text, ",");
		bool is_block = size == strlen(block) && strncmp(text, block, size) == 0;

		command->is_by_block |= is_block;
		text_add(&keys, is_block ? instruction : text,
			 is_block ? strlen(instruction) : size);
		text += size + (text[size] == ',');
		if (*text != '\0')
			text_char(&keys, ',');
	}
	text_char(&keys, '\0');
	rc = keys_parse_some(keys.bytes, NOT_TAKEN, &command->keys, err);
	text_release(&keys);
	return rc;
}

static int cycles_check(struct question *q, struct err *err)
{
	struct cycles_command *command = q->what.into;

	if (cycle_options_check(&command->accounting, err) < 0 ||
	    (command->html != NULL && html_check(err) < 0))
		return -1;
	if (parse_keys(command->by != NULL ? command->by : "function", command, err) < 0)
		return -1;
	if (q->arguments.n > 1 && keys_have_time(&command->keys))
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--by time: times of several captures are not of one clock; give one "
			"capture");
	for (size_t i = 0; i < command->keys.n; i++) {
		enum key key = command->keys.keys[i];

		if (NOT_TAKEN >> key & 1)
			return err_set(
				err, ERR_USAGE, ERR_NOWHERE,
				"--by %s: the columns of cycle accounting are events; wanted "
				"process, program, thread, cpu, module, function, line, "
				"block or instruction",
				key_classes[key].name);
	}
	return 0;
}

/* The capture of an argument behind the first. Its CPU must have the tree of the first. */
static int add_capture(const struct question *q, const char *path, struct cycle_objects *objects,
		       struct err *err)
{
	const struct cycles_command *command = q->what.into;
	const struct arguments arguments = { .items = (const char *[]){ path }, .n = 1 };
	struct cycle_template *tree = NULL;
	struct session session;
	struct select *select;
	int rc = open_input(&q->input, &arguments, &session, &select, err);

	if (rc == 0)
		rc = cycle_options_tree(&command->accounting, &session, &tree, err);
	if (rc == 0 && strcmp(tree->id, objects->tree->id) != 0)
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
			     "its CPU has the tree %s, that of the first capture %s: their events "
			     "do not add up",
			     tree->id, objects->tree->id);
	if (rc == 0)
		rc = cycle_objects_add(objects, &session, select, err);
	cycle_template_free(tree);
	close_input(&session, select, rc < 0 ? EXIT_FAILED : EXIT_DONE);
	return rc < 0 ? err_within(err, "%s", path) : 0;
}

/* Adds up what samples come to in all captures. */
static int add_captures(const struct question *q, struct session *s, const struct select *select,
			struct cycle_objects *objects, struct err *err)
{
	int rc = cycle_objects_add(objects, s, select, err);

	for (size_t i = 1; i < q->arguments.n && rc == 0; i++)
		rc = add_capture(q, q->arguments.items[i], objects, err);
	return rc;
}

static int write_html(const struct question *q, const struct cycle_objects *objects,
		      const struct cycle_request *request, struct err *err)
{
	const struct cycles_command *command = q->what.into;
	struct text subject = { 0 };
	struct html h = { 0 };
	int rc = cycles_html(&h, objects, request, err);

	text_str(&subject, q->out.session->path);
	for (size_t i = 1; i < q->arguments.n; i++)
		text_format(&subject, ", %s", q->arguments.items[i]);
	text_char(&subject, '\0');
	if (rc == 0)
		rc = printer_html(&q->out, &h, command->html, subject.bytes, err);
	html_release(&h);
	text_release(&subject);
	return rc;
}

static int show(struct question *q, const struct cycle_objects *objects, const double *penalties,
		struct err *err)
{
	const struct cycles_command *command = q->what.into;
	const struct cycle_request request = {
		.penalties = penalties,
		.assumed_ghz = cycle_options_assumed_ghz(&command->accounting, objects->tree),
		.node_of = command->node_of,
		.top = rows_to_show(&q->rows),
		.is_for_people = question_is_for_reading(q),
	};
	struct cycle_tables tables = { 0 };
	int rc = cycles_make(objects, &request, &tables, err);

	if (rc == 0)
		rc = question_show(q, &tables.shown, err);
	if (rc == 0 && command->html != NULL)
		rc = write_html(q, objects, &request, err);
	cycle_tables_release(&tables);
	return rc;
}

static int cycles_answer(struct question *q, struct session *s, const struct select *select,
			 struct err *err)
{
	const struct cycles_command *command = q->what.into;
	struct cycle_template *tree = NULL;
	struct cycle_objects objects;
	double *penalties;
	int rc;

	if (cycle_options_tree(&command->accounting, s, &tree, err) < 0)
		return -1;
	penalties = cycle_options_penalties(&command->accounting, tree, err);
	cycle_objects_init(&objects, tree, &command->keys, command->is_by_block);
	rc = penalties == NULL ? -1 : add_captures(q, s, select, &objects, err);
	if (rc == 0)
		rc = show(q, &objects, penalties, err);
	free(penalties);
	cycle_objects_release(&objects);
	cycle_template_free(tree);
	return rc;
}

static int cycles_command(int argc, char **argv)
{
	struct cycles_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.more = cycle_option_set(&command.accounting),
		.has_rows = QUESTION_ROWS_UNSORTED,
		.max_arguments = ARGUMENTS_MAX,
		.by = &command.keys,
		.check = cycles_check,
		.answer = cycles_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_cycles = {
	.usage = &usage,
	.purpose = "cycle accounting: what cycles are lost for, by function",
	.reads = COMMAND_READS_CAPTURE,
	.run = cycles_command,
};

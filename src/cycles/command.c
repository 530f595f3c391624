/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops cycles: cycle accounting. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/question.h"
#include "cpu/cpu.h"
#include "cycles/cycles.h"
#include "estimate/clock.h"

static const struct usage usage = {
	"cycles",
	"[OPTIONS] [FILE]",
	"Cycle accounting: what cycles are lost for, by function, in the branches of a tree.",
};

struct cycles_command {
	const char *by;
	const char *node_of;
	const char *tree;
	const char *ghz;
	struct option_list penalties;

	struct keys keys;	 /* of --by */
	struct core_clock clock; /* of --ghz */
};

static const struct option options[] = {
	{ "by", 0, OPTION_TEXT, offsetof(struct cycles_command, by), "KEY[,KEY]",
	  "process, program, thread, cpu, module, function (the default), line,\n"
	  "                          instruction" },
	{ "tree", 0, OPTION_TEXT, offsetof(struct cycles_command, node_of), "NAME",
	  "instead: the whole tree of this function; all: of the capture" },
	{ "penalty", 0, OPTION_LIST, offsetof(struct cycles_command, penalties), "EVENT=CYCLES",
	  "cycles that an event costs on this machine" },
	{ "ghz", 0, OPTION_TEXT, offsetof(struct cycles_command, ghz), "F",
	  "frequency of the cores, for penalties in ns" },
	{ "template", 0, OPTION_TEXT, offsetof(struct cycles_command, tree), "NAME|FILE",
	  "the tree: one of 'list penalties', or a file (catalog/schema.md)" },
};

static int cycles_check(struct question *q, struct err *err)
{
	struct cycles_command *command = q->what.into;

	if (command->ghz != NULL && core_clock_parse(command->ghz, &command->clock, err) < 0)
		return -1;
	if (keys_parse(command->by != NULL ? command->by : "function", &command->keys, err) < 0)
		return -1;
	for (size_t i = 0; i < command->keys.n; i++) {
		enum key key = command->keys.keys[i];

		if (key == KEY_EVENT || key == KEY_OPERATION || key == KEY_SOURCE)
			return err_set(
				err, ERR_USAGE, ERR_NOWHERE,
				"--by %s: the columns of cycle accounting are events; wanted "
				"process, program, thread, cpu, module, function, line or "
				"instruction",
				key_classes[key].name);
	}
	return 0;
}

/* EVENT=CYCLES */
static int set_penalty(const struct cycle_template *t, const char *text, double *penalties,
		       struct err *err)
{
	const char *equals = strrchr(text, '=');
	char name[128], *end = NULL;
	double cycles;
	int node;

	if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof(name))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--penalty: found '%.60s', wanted EVENT=CYCLES", text);
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	cycles = strtod(equals + 1, &end);
	if (end == equals + 1 || *end != '\0' || !(cycles >= 0) || cycles > 1e9)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--penalty %.60s: wanted a number of cycles behind the '='", text);
	node = cycle_template_node(t, name);
	if (node == NO_NODE || t->nodes[node].kind != NODE_EVENT)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--penalty: the tree of %s has no event '%.60s'; see 'cyclops list "
			       "penalties --cpu %s'",
			       t->name, name, t->id);
	penalties[node] = cycles;
	return 0;
}

static int answer_of_tree(struct question *q, struct session *s, const struct select *select,
			  const struct cycle_template *tree, double *penalties, struct err *err)
{
	const struct cycles_command *command = q->what.into;
	const struct cycle_request request = {
		.tree = tree,
		.penalties = penalties,
		.keys = command->keys,
		.node_of = command->node_of,
		.top = rows_to_show(&q->rows),
		.is_for_people = question_is_for_reading(q),
	};
	struct cycle_tables tables = { 0 };
	int rc = 0;

	for (size_t i = 0; i < tree->n_nodes; i++)
		penalties[i] = cycle_node_penalty(tree, (int)i, command->clock.hz / 1e9);
	for (size_t i = 0; i < command->penalties.n && rc == 0; i++)
		rc = set_penalty(tree, command->penalties.items[i], penalties, err);
	if (rc < 0)
		return -1;
	rc = cycles_make(s, select, &request, &tables, err);
	if (rc == 0)
		rc = question_show(q, &tables.shown, err);
	cycle_tables_release(&tables);
	return rc;
}

static int cycles_answer(struct question *q, struct session *s, const struct select *select,
			 struct err *err)
{
	const struct cycles_command *command = q->what.into;
	const struct info *info = capture_info(s->capture);
	struct cycle_template *tree = NULL;
	double *penalties;
	int rc;

	if (cycle_template_choose(command->tree, s->cpu != NULL ? cpu_id(s->cpu) : "",
				  strings_get(capture_strings(s->capture), info->cpuid), &tree,
				  err) < 0)
		return -1;
	penalties = mem_zalloc(tree->n_nodes, sizeof(*penalties));
	rc = answer_of_tree(q, s, select, tree, penalties, err);
	free(penalties);
	cycle_template_free(tree);
	return rc;
}

static int cycles_command(int argc, char **argv)
{
	struct cycles_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.has_rows = QUESTION_ROWS_UNSORTED,
		.max_arguments = 1,
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

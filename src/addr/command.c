/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops addr: memory accesses by object, member, cache line, page … */
#include <stddef.h>

#include "addr/answer.h"
#include "base/alloc.h"
#include "cli/question.h"
#include "cli/command.h"
#include "data/heap.h"

static const struct usage usage = {
	"addr",
	"[OPTIONS] [FILE]",
	"Which data are hot: objects, members, cache lines, pages; the strides of instructions.",
};

struct addr_command {
	const char *by, *object, *type, *base, *heap_map;
	struct addr_request request; /* the options above, parsed */
};

static const struct option options[] = {
	{ "by", 0, OPTION_TEXT, offsetof(struct addr_command, by), "KEY",
	  "object (the default), type, field, line, page, hugepage,\n"
	  "                          node, instruction, offset" },
	{ "object", 0, OPTION_TEXT, offsetof(struct addr_command, object), "NAME",
	  "offsets in the elements of this variable" },
	{ "type", 0, OPTION_TEXT, offsetof(struct addr_command, type), "NAME",
	  "members of all objects of this type; with --base: offsets in\n                          "
	  "structs of this type, or of this many bytes" },
	{ "base", 0, OPTION_TEXT, offsetof(struct addr_command, base), "ADDR[,COUNT]",
	  "address of the first of COUNT (1) structs" },
	{ "heap-map", 0, OPTION_INPUT, offsetof(struct addr_command, heap_map), "FILE",
	  "classes of objects in a Java heap: see HEAP MAPS in\n                          "
	  "cyclops-c2c(1)" },
};

/* --object, or --type with --base, imply --by offset. */
static int addr_make_request(struct question *q, struct err *err)
{
	struct addr_command *command = q->what.into;
	struct addr_request *out = &command->request;
	bool is_of_type = command->type != NULL && command->base == NULL;
	bool has_window = command->object != NULL || command->base != NULL;

	*out = (struct addr_request){
		.by = has_window   ? ADDR_BY_OFFSET
		      : is_of_type ? ADDR_BY_FIELD
				   : ADDR_BY_OBJECT,
		.top = rows_to_show(&q->rows),
		.sort = q->rows.sort,
		.object = command->object,
		.type = command->type,
		.base = command->base,
	};
	if (command->by != NULL && addr_by_parse(command->by, &out->by, err) < 0)
		return -1;
	if (is_of_type && out->by != ADDR_BY_FIELD && command->object == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--by %s: --type alone shows fields; --type and --base show offsets",
			       command->by);
	if (has_window && out->by != ADDR_BY_OFFSET)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--by %s: --object and --base show offsets only", command->by);
	if (command->object != NULL && (command->type != NULL || command->base != NULL))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--object excludes --type and --base: the object has a type and an "
			       "address");
	return 0;
}

static int addr_answer(struct question *q, struct session *s, const struct select *select,
		       struct err *err)
{
	const struct addr_command *command = q->what.into;
	struct addr_report report = { 0 };
	struct heap_map heap = { 0 };
	int rc = data_heap_open(s, &heap, command->heap_map, err);

	if (rc == 0)
		rc = addr_report_make(s, select, &command->request, &report, err);
	q->lacks_data = rc == 0 && table_n_rows(&report.rows) == 0;
	if (rc == 0)
		rc = question_show(q, &report.shown, err);
	addr_report_release(&report);
	data_heap_close(s, &heap);
	return rc;
}

static int addr_command(int argc, char **argv)
{
	struct addr_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.has_rows = QUESTION_ROWS_SORTED,
		.max_arguments = 1,
		.check = addr_make_request,
		.answer = addr_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_addr = {
	.usage = &usage,
	.purpose = "which data are hot: objects, members, cache lines, pages",
	.reads = COMMAND_READS_CAPTURE,
	.run = addr_command,
};

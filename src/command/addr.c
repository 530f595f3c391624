/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops addr: which data is accessed, member by member and page by page. */
#include <stddef.h>

#include "analysis/addr_report.h"
#include "base/alloc.h"
#include "command/commands.h"
#include "command/common.h"

static const struct usage usage = {
	"addr",
	"[OPTIONS] [FILE]",
	"Data addresses: objects, members, pages and lines; how instructions walk through them.",
};

struct addr_command {
	const char *by, *object, *type, *base;
	unsigned time_slices;
};

static const struct option options[] = {
	{ "by", 0, OPTION_TEXT, offsetof(struct addr_command, by), "KEY",
	  "object (the default), type, field, line, page, hugepage,\n"
	  "                          node, instruction, offset" },
	{ "object", 0, OPTION_TEXT, offsetof(struct addr_command, object), "NAME",
	  "offsets in the elements of this variable" },
	{ "type", 0, OPTION_TEXT, offsetof(struct addr_command, type), "NAME",
	  "offsets in structs of this type, or of so many bytes, at --base" },
	{ "base", 0, OPTION_TEXT, offsetof(struct addr_command, base), "ADDR[,COUNT]",
	  "where the first of COUNT (1) structs is" },
	{ "time-slices", 0, OPTION_COUNT, offsetof(struct addr_command, time_slices), "N",
	  "when: cut the time into so many slices (at most 200)" },
};

/* What was asked for by --object, --type and --base is offsets. */
static int make_request(const struct addr_command *command, const struct row_options *rows,
			struct addr_request *out, struct err *err)
{
	bool has_window = command->object != NULL || command->type != NULL || command->base != NULL;

	*out = (struct addr_request){
		.by = has_window ? ADDR_BY_OFFSET : ADDR_BY_OBJECT,
		.top = rows_to_show(rows),
		.sort = rows->sort,
		.object = command->object,
		.type = command->type,
		.base = command->base,
	};
	if (command->by != NULL && addr_by_parse(command->by, &out->by, err) < 0)
		return -1;
	if (has_window && out->by != ADDR_BY_OFFSET)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--by %s: with --object, --type or --base there are only offsets",
			       command->by);
	if (command->object != NULL && (command->type != NULL || command->base != NULL))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--object stands alone: it has a type and a place");
	return 0;
}

static int answer(struct session *s, const struct select *select,
		  const struct addr_request *request, const struct output_options *output,
		  struct err *err)
{
	struct addr_report report = { 0 };
	struct printer out = { 0 };
	int rc;

	if (printer_open(&out, output, "text", usage.command, s, err) < 0)
		return -1;
	rc = addr_report_make(s, select, request, &report, err);
	rc = printer_finish(&out, output, &report.shown, rc, err);
	addr_report_release(&report);
	return rc;
}

int command_addr(int argc, char **argv)
{
	struct input_options input = { 0 };
	struct row_options rows = { 0 };
	struct output_options output = { 0 };
	struct addr_command command = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		input_option_set(&input),
		row_option_set(&rows),
		output_option_set(&output),
	};
	struct session session = { 0 };
	struct select *select = NULL;
	struct addr_request request;
	struct arguments arguments;
	struct err err;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 1, &input.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	status = EXIT_DONE;
	if (make_request(&command, &rows, &request, &err) < 0 ||
	    open_input(&input, &arguments, &session, &select, &err) < 0 ||
	    slices_choose(&session, command.time_slices, NULL, &err) < 0 ||
	    answer(&session, select, &request, &output, &err) < 0)
		status = fail(&err);
	return close_input(&session, select, status);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops report: what is in this capture, which code is hot, what stands out. */
#include "analysis/report.h"
#include "base/alloc.h"
#include "command/commands.h"
#include "command/common.h"

static const struct usage usage = {
	"report",
	"[OPTIONS] [FILE]",
	"What is in this capture, what was lost, which code is hot, what stands out.",
};

struct report_command {
	unsigned time_slices;
};

static const struct option options[] = {
	{ "time-slices", 0, OPTION_COUNT, offsetof(struct report_command, time_slices), "N",
	  "when: cut the time into so many slices (at most 200)" },
};

static int answer(struct session *s, const struct select *select, const struct row_options *rows,
		  const struct output_options *output, struct err *err)
{
	size_t top = rows->all || rows->top > 0 ? rows_to_show(rows) : REPORT_BRIEF;
	struct report report = { 0 };
	struct printer out = { 0 };
	int rc;

	if (printer_open(&out, output, "text", usage.command, s, err) < 0)
		return -1;
	rc = report_make(s, select, top, &report, err);
	rc = printer_finish(&out, output, &report.shown, rc, err);
	report_release(&report);
	return rc;
}

int command_report(int argc, char **argv)
{
	struct input_options input = { 0 };
	struct row_options rows = { 0 };
	struct output_options output = { 0 };
	struct report_command command = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		input_option_set(&input),
		unsorted_row_option_set(&rows),
		output_option_set(&output),
	};
	struct session session;
	struct select *select;
	struct arguments arguments;
	struct err err;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 1, &input.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	status = EXIT_DONE;
	if (open_input(&input, &arguments, &session, &select, &err) < 0 ||
	    slices_choose(&session, command.time_slices, NULL, &err) < 0 ||
	    answer(&session, select, &rows, &output, &err) < 0)
		status = fail(&err);
	return close_input(&session, select, status);
}

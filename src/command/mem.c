/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops mem: how long memory operations take, where their data comes from, what they move. */
#include <stdlib.h>
#include <string.h>

#include "analysis/mem_report.h"
#include "analysis/vector_length.h"
#include "base/alloc.h"
#include "command/commands.h"
#include "command/common.h"

static const struct usage usage = {
	"mem",
	"[OPTIONS] [FILE]",
	"Loads, stores and atomics of SPE or memory samples: latency, data source, bandwidth.",
};

struct mem_command {
	const char *by;
	const char *ghz;
	const char *region;
	unsigned time_slices, vector_length;
	bool histogram;
};

static const struct option options[] = {
	{ "by", 0, OPTION_TEXT, offsetof(struct mem_command, by), "KEY,KEY...",
	  "source (the default), function, line, instruction,\n"
	  "                          place, module, process, thread, cpu, event, operation, time" },
	{ "region", 0, OPTION_TEXT, offsetof(struct mem_command, region), "WHAT",
	  "only this function, or code: 0x1000..0x1fff" },
	{ "ghz", 0, OPTION_TEXT, offsetof(struct mem_command, ghz), "F",
	  "frequency of the cores, for nanoseconds" },
	{ "vector-length", 0, OPTION_COUNT, offsetof(struct mem_command, vector_length), "BITS",
	  "of SVE, where no record says it" },
	{ "time-slices", 0, OPTION_COUNT, offsetof(struct mem_command, time_slices), "N",
	  "when: cut the time into so many slices (at most 200)" },
	{ "histogram", 0, OPTION_FLAG, offsetof(struct mem_command, histogram), NULL,
	  "the distribution of each row's latencies, too" },
};

static int make_request(const struct mem_command *command, const struct row_options *rows,
			const struct output_options *output, struct mem_request *out,
			struct err *err)
{
	*out = (struct mem_request){
		.top = rows_to_show(rows),
		.sort = rows->sort,
		.with_histogram = command->histogram,
		.region = command->region,
		.vector_bits = command->vector_length,
		.for_programs = output->table != NULL ||
				(output->format != NULL && strcmp(output->format, "text") != 0),
	};
	if (vector_length_check(command->vector_length, err) < 0)
		return -1;
	if (command->by != NULL && hot_keys_parse(command->by, &out->by, err) < 0)
		return -1;
	return command->ghz == NULL ? 0 : core_clock_parse(command->ghz, &out->clock, err);
}

static int answer(struct session *s, const struct select *select, const struct mem_request *request,
		  const struct output_options *output, struct err *err)
{
	struct mem_report report = { 0 };
	struct printer out = { 0 };
	int rc;

	if (printer_open(&out, output, "text", usage.command, s, err) < 0)
		return -1;
	rc = mem_report_make(s, select, request, &report, err);
	rc = printer_finish(&out, output, &report.shown, rc, err);
	mem_report_release(&report);
	return rc;
}

int command_mem(int argc, char **argv)
{
	struct input_options input = { 0 };
	struct row_options rows = { 0 };
	struct output_options output = { 0 };
	struct mem_command command = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		input_option_set(&input),
		row_option_set(&rows),
		output_option_set(&output),
	};
	struct mem_request request;
	struct session session = { 0 };
	struct select *select = NULL;
	struct arguments arguments;
	char *region = NULL;
	struct err err;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 1, &input.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	status = EXIT_DONE;
	if (command.region != NULL)
		input.select = region = select_region(input.select, command.region);
	if (make_request(&command, &rows, &output, &request, &err) < 0 ||
	    open_input(&input, &arguments, &session, &select, &err) < 0 ||
	    slices_choose(&session, command.time_slices, &request.by, &err) < 0 ||
	    answer(&session, select, &request, &output, &err) < 0)
		status = fail(&err);
	status = close_input(&session, select, status);
	free(region);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops mem: how long memory operations take, where their data comes from, what they move. */
#include <stdlib.h>

#include "access/vector_length.h"
#include "base/alloc.h"
#include "cli/question.h"
#include "cli/command.h"
#include "mem/answer.h"

static const struct usage usage = {
	"mem",
	"[OPTIONS] [FILE]",
	"How long loads and stores take, and where their data come from.",
};

struct mem_command {
	const char *by;
	const char *ghz;
	const char *region;
	unsigned vector_length;
	bool histogram, by_level;

	struct mem_request request; /* what that means */
	char *select;		    /* of --select and --region */
};

static const struct option options[] = {
	{ "by", 0, OPTION_TEXT, offsetof(struct mem_command, by), "KEY,KEY...",
	  "source (the default), function, caller, line, instruction,\n"
	  "                          place, module, process, program, thread, cpu, event, "
	  "operation, time" },
	{ "region", 0, OPTION_TEXT, offsetof(struct mem_command, region), "WHAT",
	  "only this function or address range (0x1000..0x1fff)" },
	{ "ghz", 0, OPTION_TEXT, offsetof(struct mem_command, ghz), "F",
	  "core frequency, for latencies in ns" },
	{ "vector-length", 0, OPTION_COUNT, offsetof(struct mem_command, vector_length), "BITS",
	  "length of SVE vectors, where it was not recorded" },
	{ "by-level", 0, OPTION_FLAG, offsetof(struct mem_command, by_level), NULL,
	  "how long a load takes from each level of the memory hierarchy: that\n"
	  "                          table alone; derived latency where the direct one is "
	  "saturated" },
	{ "histogram", 0, OPTION_FLAG, offsetof(struct mem_command, histogram), NULL,
	  "also the distribution of each row's latencies" },
};

static int mem_make_request(struct question *q, struct err *err)
{
	struct mem_command *command = q->what.into;

	if (command->region != NULL)
		q->input.select = command->select = select_region(q->input.select, command->region);
	command->request = (struct mem_request){
		.top = rows_to_show(&q->rows),
		.sort = q->rows.sort,
		.with_histogram = command->histogram,
		.by_level = command->by_level,
		.with_loads = question_has_gates(q),
		.region = command->region,
		.vector_bits = command->vector_length,
	};
	if (vector_length_check(command->vector_length, err) < 0)
		return -1;
	if (command->by != NULL && keys_parse(command->by, &command->request.by, err) < 0)
		return -1;
	if (command->by_level &&
	    (command->by != NULL || command->histogram || question_has_gates(q)))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--by-level: not with --by, --histogram or --fail-if");
	if (question_has_gates(q) && command->by != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if is about all loads, or those of --region and --select: "
			       "not with --by");
	return command->ghz == NULL ? 0
				    : core_clock_parse(command->ghz, &command->request.clock, err);
}

static int measure_mem_gate(void *context, const struct gate *g, struct measured *out,
			    struct err *err)
{
	return mem_loads_measure(context, g, out, err);
}

static int mem_answer(struct question *q, struct session *s, const struct select *select,
		      struct err *err)
{
	struct mem_command *command = q->what.into;
	struct mem_report report = { 0 };
	int rc;

	command->request.for_programs = !question_is_for_reading(q);
	command->request.only_total_percentiles =
		question_shows_screen(q) && q->rows.sort == NULL && !command->histogram;
	rc = mem_report_make(s, select, &command->request, &report, err);
	q->lacks_data =
		rc == 0 && table_n_rows(command->by_level ? &report.levels : &report.rows) == 0;
	if (rc == 0)
		rc = question_judge(q, measure_mem_gate, &report.loads, err);
	if (rc == 0)
		rc = question_show(q, &report.shown, err);
	mem_report_release(&report);
	return rc;
}

static int mem_command(int argc, char **argv)
{
	struct mem_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.has_rows = QUESTION_ROWS_SORTED,
		.max_arguments = 1,
		.by = &command.request.by,
		.quantities = mem_quantities,
		.n_quantities = MEM_N_QUANTITIES,
		.check = mem_make_request,
		.answer = mem_answer,
	};
	int status = question_ask(&q, argc, argv);

	free(command.select);
	return status;
}

const struct command command_mem = {
	.usage = &usage,
	.purpose = "how long loads and stores take, and where their data come from",
	.reads = COMMAND_READS_CAPTURE,
	.run = mem_command,
};

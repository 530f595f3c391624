/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops collect: captures into a dataset that engines such as DuckDB query. */
#include "cli/command.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/input.h"
#include "cli/message.h"
#include "cli/printer.h"
#include "collect/collect.h"
#include "table/answer.h"

static const struct usage usage = {
	"collect",
	"--into DATASET [OPTIONS] FILE…|FOLDER…",
	"Adds captures to a dataset of Parquet files, for questions to many of them (cyclops "
	"fleet).",
};

struct collect_options {
	const char *into, *host, *day;
	bool again;
};

static const struct option options[] = {
	{ "into", 0, OPTION_FOLDER, offsetof(struct collect_options, into), "DATASET",
	  "the folder of the dataset, which is made if there is none" },
	{ "host", 0, OPTION_TEXT, offsetof(struct collect_options, host), "NAME",
	  "the host of all these captures (default: as recorded)" },
	{ "day", 0, OPTION_TEXT, offsetof(struct collect_options, day), "DAY",
	  "the day of all these captures, as 2026-11-26 (default: as\n"
	  "                          recorded, else that of the file)" },
	{ "again", 0, OPTION_FLAG, offsetof(struct collect_options, again), NULL,
	  "also what was collected before: names may be known now" },
};

enum collected_column {
	COLLECTED_COL_FILE,
	COLLECTED_COL_STATE,
	COLLECTED_COL_HOST,
	COLLECTED_COL_DAY,
	COLLECTED_COL_BASIS,
	COLLECTED_COL_RECORDS,
	COLLECTED_COL_ROWS,
	COLLECTED_COL_PLACES,
	COLLECTED_COL_UNNAMED,
	COLLECTED_COL_DAMAGED,
	COLLECTED_COL_CAPTURE,
	COLLECTED_N_COLS,
};

static const struct column collected_columns[COLLECTED_N_COLS] = {
	[COLLECTED_COL_FILE] = { "file", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_PATH,
				 "path of the capture" },
	[COLLECTED_COL_STATE] = { "state", NULL, "", CELL_TEXT, 0,
				  "collected, there (it was collected before), empty or failed" },
	[COLLECTED_COL_HOST] = { "host", NULL, "", CELL_TEXT, COLUMN_GROW,
				 "host that it was recorded on" },
	[COLLECTED_COL_DAY] = { "day", NULL, "", CELL_TEXT, 0, "day of its start, UTC" },
	[COLLECTED_COL_BASIS] = { "start_basis", "day of", "", CELL_TEXT, 0,
				  "what tells the day: recorded; file: when the file was written, "
				  "as the capture has no "
				  "wall clock; given: --day" },
	[COLLECTED_COL_RECORDS] = { "records", NULL, "records", CELL_COUNT, 0,
				    "samples and SPE records" },
	[COLLECTED_COL_ROWS] = { "rows", NULL, "rows", CELL_COUNT, 0,
				 "rows of the table samples that they became" },
	[COLLECTED_COL_PLACES] = { "new_places", "new places", "places", CELL_COUNT, 0,
				   "places of code that no capture before had" },
	[COLLECTED_COL_UNNAMED] = { "without_name", "without name", "places", CELL_COUNT, 0,
				    "those of them whose function is not known" },
	[COLLECTED_COL_DAMAGED] = { "damaged", NULL, "", CELL_BOOL, COLUMN_MACHINE_ONLY,
				    "a part of the capture could not be read" },
	[COLLECTED_COL_CAPTURE] = { "capture", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				    "hash of its bytes" },
};

static const char *const state_names[N_COLLECT_STATES] = {
	[COLLECT_DONE] = "collected",
	[COLLECT_THERE] = "there",
	[COLLECT_EMPTY] = "empty",
	[COLLECT_FAILED] = "failed",
};

static void fill_row(struct table *t, const char *path, const struct collected *c)
{
	struct cell *cells = table_add_row(t);

	cells[COLLECTED_COL_FILE] = cell_text(path);
	cells[COLLECTED_COL_STATE] = cell_text(state_names[c->state]);
	if (c->host != NULL)
		cells[COLLECTED_COL_HOST] = cell_text(c->host);
	if (c->day[0] != '\0')
		cells[COLLECTED_COL_DAY] = cell_text(c->day);
	if (c->start_basis != NULL)
		cells[COLLECTED_COL_BASIS] = cell_text(c->start_basis);
	if (c->capture[0] != '\0')
		cells[COLLECTED_COL_CAPTURE] = cell_text(c->capture);
	if (c->state != COLLECT_DONE)
		return;
	cells[COLLECTED_COL_RECORDS] = cell_count(c->n_records);
	cells[COLLECTED_COL_ROWS] = cell_count(c->n_rows);
	cells[COLLECTED_COL_PLACES] = cell_count(c->n_places);
	cells[COLLECTED_COL_UNNAMED] = cell_count(c->n_unnamed);
	cells[COLLECTED_COL_DAMAGED] = cell_bool(c->is_damaged);
}

static void say_answer(const struct collection *c, const struct collected *list,
		       struct table *answer)
{
	size_t n = c->inputs->paths.n, of_state[N_COLLECT_STATES] = { 0 };
	uint64_t n_places = 0, n_unnamed = 0;
	size_t n_of_file = 0;
	char digits[GROUPED_BYTES], more[GROUPED_BYTES];

	for (size_t i = 0; i < n; i++) {
		of_state[list[i].state]++;
		n_places += list[i].n_places;
		n_unnamed += list[i].n_unnamed;
		n_of_file += list[i].state == COLLECT_DONE &&
			     list[i].start_basis == start_basis_names[START_OF_FILE];
	}
	answer_say(answer, "%s capture%s collected into %s; %s there already, %zu failed.",
		   grouped_u64(of_state[COLLECT_DONE], digits), plural(of_state[COLLECT_DONE]),
		   c->root, grouped_u64(of_state[COLLECT_THERE], more), of_state[COLLECT_FAILED]);
	if (n_of_file > 0)
		answer_say(answer,
			   "%s of them have no wall clock: their day is that on which the file was "
			   "written "
			   "(--day gives it).",
			   grouped_u64(n_of_file, digits));
	if (n_unnamed > 0)
		answer_say(answer,
			   "%s of %s new places have no function: where binaries are found now "
			   "(--symfs), --again adds their names.",
			   grouped_u64(n_unnamed, digits), grouped_u64(n_places, more));
}

static int show_collected(const struct collection *c, const struct collected *list,
			  const struct row_options *rows, const struct output_options *output,
			  struct err *err)
{
	struct printer out = { 0 };
	struct table answer, table;
	int rc = printer_open(&out, output, "text", usage.command, NULL, err);

	answer_init(&answer);
	table_init(&table, "collected", NULL, collected_columns, COUNT(collected_columns));
	say_answer(c, list, &answer);
	for (size_t i = 0; i < c->inputs->paths.n; i++) {
		fill_row(&table, c->inputs->paths.items[i], &list[i]);
		out.document.is_modelled |= list[i].is_modelled;
	}
	return printer_finish_work(&out, output, rows, &answer, &table, rc, err);
}

static int check_options(const struct collect_options *o, const struct arguments *arguments,
			 struct err *err)
{
	int64_t ns;

	if (o->into == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "no dataset given: cyclops collect --into FOLDER CAPTURE…");
	if (strstr(o->into, "://") != NULL)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--into %s: a dataset is written to a folder; `cyclops fleet push FOLDER "
			"%s` copies that to the store",
			o->into, o->into);
	if (arguments->n == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "no captures given: name files, or folders with captures");
	if (o->day != NULL && !day_read(o->day, &ns))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--day: found '%s', wanted a day such as 2026-11-26", o->day);
	return 0;
}

/* Prints why captures could not be collected. Returns the exit status. */
static int collect_status(const struct collection *c, const struct collected *list)
{
	size_t n = c->inputs->paths.n, n_data = 0;
	int status = EXIT_DONE;

	for (size_t i = 0; i < n; i++) {
		if (list[i].state == COLLECT_FAILED) {
			message_print("%s", list[i].failed);
			status = EXIT_FAILED;
		}
		n_data += list[i].state == COLLECT_DONE || list[i].state == COLLECT_THERE;
	}
	return status == EXIT_DONE && n_data == 0 ? EXIT_NO_DATA : status;
}

static int collect_answer(const struct collection *c, unsigned n_workers,
			  const struct row_options *rows, const struct output_options *output)
{
	struct pool *pool = pool_new(n_workers);
	struct collected *list = collect_all(c, pool);
	int status = collect_status(c, list);
	struct err err;

	if (show_collected(c, list, rows, output, &err) < 0)
		status = fail(&err);
	collected_free(list, c->inputs->paths.n);
	pool_free(pool);
	return status;
}

static int collect_command(int argc, char **argv)
{
	struct input_options input = { 0 };
	struct collect_options asked = { 0 };
	struct row_options rows = { 0 };
	struct output_options output = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &asked },
		inputs_option_set(&input),
		unsorted_row_option_set(&rows),
		output_option_set(&output),
	};
	struct inputs inputs = { 0 };
	struct arguments arguments;
	struct err err;
	unsigned n_workers;
	int rc, status = start_command(&usage, argc, argv, sets, COUNT(sets), SIZE_MAX,
				       &input.wants_help, &arguments);

	output.inputs = &arguments;
	if (status >= 0)
		return status;
	enter_sandbox(sets, COUNT(sets), &arguments);
	n_workers = input.n_workers;
	input.n_workers = 1; /* each capture has one; there are many captures */
	input.is_quiet = true;
	rc = check_options(&asked, &arguments, &err);
	for (size_t i = 0; i < arguments.n && rc == 0; i++)
		rc = inputs_add(&inputs, arguments.items[i], &err);
	status = rc < 0 ? fail(&err)
			: collect_answer(
				  &(struct collection){
					  .inputs = &inputs,
					  .opening = &input,
					  .root = asked.into,
					  .given = { .host = asked.host, .day = asked.day },
					  .again = asked.again,
				  },
				  n_workers, &rows, &output);
	inputs_release(&inputs);
	arguments_release(&arguments);
	return status;
}

const struct command command_collect = {
	.usage = &usage,
	.purpose = "captures into a dataset, for questions to many of them",
	.reads = COMMAND_READS_CAPTURES,
	.run = collect_command,
};

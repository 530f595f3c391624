/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/question.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "scan/time_slices.h"
#include "table/answer.h"

enum { SETS_MAX = 7 };

static const struct option time_options[] = {
	{ "time-slices", 0, OPTION_COUNT, offsetof(struct question, time_slices), "N",
	  "divide the time into this many slices (at most 200)" },
};

/* All sets of options: the command's own, then the common ones. */
static size_t option_sets(struct question *q, struct option_set sets[SETS_MAX])
{
	size_t n = 0;

	if (q->what.n > 0)
		sets[n++] = q->what;
	if (q->more.n > 0)
		sets[n++] = q->more;
	if (q->quantities != NULL)
		sets[n++] = gate_option_set(&q->gates);
	if (!q->without_time_slices)
		sets[n++] = (struct option_set){ "When:", time_options, COUNT(time_options), q };
	sets[n++] = input_option_set(&q->input);
	if (q->has_rows != QUESTION_ROWS_NONE)
		sets[n++] = q->has_rows == QUESTION_ROWS_SORTED ? row_option_set(&q->rows)
								: unsorted_row_option_set(&q->rows);
	sets[n++] = output_option_set(&q->output);
	return n;
}

static int question_answer(struct question *q, struct session *s, const struct select *select,
			   struct err *err)
{
	int rc;

	q->output.inputs = &q->arguments;
	q->results.files[0] = s->path;
	if (scan_choose_slices(s, q->time_slices, q->by != NULL && keys_have_time(q->by), err) <
		    0 ||
	    printer_open(&q->out, &q->output, "text", q->usage->command, s, err) < 0)
		return -1;
	printer_page(&q->out, &q->output);
	rc = q->answer(q, s, select, err);
	q->lacks_data |= capture_is_empty(s->capture);
	return printer_close(&q->out, rc, err);
}

/* Conditions that make no sense are found before the capture is read. */
static int check_gates(const struct question *q, struct err *err)
{
	struct gate gates[OPTION_LIST_MAX];

	if (q->quantities == NULL)
		return 0;
	if (gate_options_check(&q->gates, err) < 0)
		return -1;
	return gate_options_parse(&q->gates, q->quantities, q->n_quantities, gates, err);
}

/* The exit status of a question that was answered. */
static int question_status(struct question *q, const struct select *select)
{
	bool has_gates = question_has_gates(q);

	if (q->lacks_data && has_gates)
		gate_options_report_failure(&q->gates, &q->results, q->usage->command,
					    "there is no data of this kind");
	if (q->lacks_data && (select == NULL || has_gates)) /* a selection may match nothing */
		return EXIT_NO_DATA;
	return gate_options_status(&q->gates, &q->results, EXIT_DONE);
}

int question_ask(struct question *q, int argc, char **argv)
{
	struct option_set sets[SETS_MAX];
	size_t n_sets = option_sets(q, sets);
	struct session session = { 0 };
	struct select *select = NULL;
	struct err err;
	int status = start_command(q->usage, argc, argv, sets, n_sets, q->max_arguments,
				   &q->input.wants_help, &q->arguments);

	if (status >= 0)
		return status;
	enter_sandbox(sets, n_sets, &q->arguments);
	gates_init(&q->results);
	if ((q->check != NULL && q->check(q, &err) < 0) || check_gates(q, &err) < 0 ||
	    open_input(&q->input, &q->arguments, &session, &select, &err) < 0 ||
	    question_answer(q, &session, select, &err) < 0 ||
	    gate_options_report(&q->gates, &q->results, &q->output, q->usage->command, &err) < 0)
		status = gate_options_fail(&q->gates, &q->results, q->usage->command, &err);
	else
		status = question_status(q, select);
	gates_release(&q->results);
	return close_input(&session, select, status);
}

bool question_has_gates(const struct question *q)
{
	return q->gates.conditions.n > 0;
}

int question_judge(struct question *q, gate_measure *measure, void *context, struct err *err)
{
	if (q->lacks_data)
		return 0;
	return gate_options_judge(&q->gates, q->quantities, q->n_quantities, measure, context,
				  &q->results, err);
}

int question_show(struct question *q, const struct tables *tables, struct err *err)
{
	struct tables shown = gates_shown(&q->results, tables);
	int rc;

	for (size_t i = 0; i < shown.list.n && q->input.select != NULL; i++)
		answer_say_of(shown.list.items[i], "the selected records");
	q->results.is_modelled = q->out.document.is_modelled;
	rc = printer_tables(&q->out, &q->output, &shown, err);

	vec_release(&shown.list);
	return rc;
}

bool question_is_for_reading(const struct question *q)
{
	return q->out.format->is_for_people && q->output.table == NULL;
}

bool question_shows_screen(const struct question *q)
{
	return printer_shows_screen(&q->out, &q->output);
}

static bool is_existing_file(const char *argument)
{
	return access(argument, F_OK) == 0 || strcmp(argument, "-") == 0;
}

int question_take_symbol(struct question *q, const char **symbol, struct err *err)
{
	struct arguments *arguments = &q->arguments;
	const char **items = arguments->items;
	bool is_second =
		arguments->n < 2 || is_existing_file(items[0]) || !is_existing_file(items[1]);

	if (arguments->n == 2 && *symbol != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "two symbols given: '%s' by --symbol",
			       *symbol);
	if (arguments->n == 0 || *symbol != NULL)
		return 0;
	if (arguments->n == 1 && q->input.path == NULL &&
	    (is_existing_file(items[0]) || strchr(items[0], '/') != NULL))
		return 0;
	if (arguments->n == 2 && q->input.path == NULL && !is_existing_file(items[0]) &&
	    !is_existing_file(items[1]))
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "neither '%s' nor '%s' is a file: cyclops %s FILE SYMBOL", items[0],
			       items[1], q->usage->command);
	*symbol = items[is_second ? arguments->n - 1 : 0];
	items[0] = items[is_second ? 0 : 1];
	arguments->n--;
	return 0;
}

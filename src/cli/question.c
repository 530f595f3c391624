/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/question.h"

#include <stddef.h>

#include "base/alloc.h"
#include "scan/time_slices.h"

enum { SETS_MAX = 5 };

static const struct option time_options[] = {
	{ "time-slices", 0, OPTION_COUNT, offsetof(struct question, time_slices), "N",
	  "cut the time into so many slices (at most 200)" },
};

/* All sets of options: the command's own, then the common ones. */
static size_t option_sets(struct question *q, struct option_set sets[SETS_MAX])
{
	size_t n = 0;

	if (q->what.n > 0)
		sets[n++] = q->what;
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

	if (scan_choose_slices(s, q->time_slices, q->by != NULL && keys_have_time(q->by), err) <
		    0 ||
	    printer_open(&q->out, &q->output, "text", q->usage->command, s, err) < 0)
		return -1;
	printer_page(&q->out, &q->output);
	rc = q->answer(q, s, select, err);
	q->lacks_data |= capture_is_empty(s->capture);
	return printer_close(&q->out, rc, err);
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
	status = EXIT_DONE;
	if ((q->check != NULL && q->check(q, &err) < 0) ||
	    open_input(&q->input, &q->arguments, &session, &select, &err) < 0 ||
	    question_answer(q, &session, select, &err) < 0)
		status = fail(&err);
	else if (q->lacks_data && select == NULL) /* a selection may match nothing */
		status = EXIT_NO_DATA;
	return close_input(&session, select, status);
}

int question_show(struct question *q, const struct tables *tables, struct err *err)
{
	return printer_tables(&q->out, &q->output, tables, err);
}

bool question_is_for_reading(const struct question *q)
{
	return q->out.format == &format_text && q->output.table == NULL;
}

bool question_shows_screen(const struct question *q)
{
	return printer_shows_screen(&q->out, &q->output);
}

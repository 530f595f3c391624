/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/gates.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { SHARE_OF_FUNCTION, CHANGE_OF_FUNCTION, INCREASE, DIFFERENT_HOSTS };

const struct quantity fleet_quantities[FLEET_N_QUANTITIES] = {
	[SHARE_OF_FUNCTION] = { "share", "FUNCTION", "", true,
				"of top: part of the event's weight" },
	[CHANGE_OF_FUNCTION] = { "change", "FUNCTION", "", true,
				 "of changed: its share behind less that before" },
	[INCREASE] = { "increase", NULL, "", true,
		       "of changed: the largest significant increase of a share; 0: none is" },
	[DIFFERENT_HOSTS] = { "hosts", NULL, "", false,
			      "of hosts: hosts that differ from their peers" },
};

/* The question that each is about. */
static const char *const questions[FLEET_N_QUANTITIES] = {
	[SHARE_OF_FUNCTION] = "top",
	[CHANGE_OF_FUNCTION] = "changed",
	[INCREASE] = "changed",
	[DIFFERENT_HOSTS] = "hosts",
};

int fleet_gate_check(const struct fleet_query *q, const struct gate *g, struct err *err)
{
	if (strcmp(questions[g->quantity], q->name) == 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s: %s is of the question %s",
		       g->condition.text, fleet_quantities[g->quantity].name,
		       questions[g->quantity]);
}

static const struct cell *cell_of(const struct table *t, size_t row, const char *column)
{
	return table_cell(t, row, (size_t)table_column(t, column));
}

static const char *text_of(const struct table *t, size_t row, const char *column)
{
	const struct cell *cell = cell_of(t, row, column);

	return cell->type == CELL_TEXT ? cell->text : "";
}

/* Rows are in order of events. */
static int check_one_event(const struct table *t, struct err *err)
{
	size_t n = table_n_rows(t);

	if (n == 0 || strcmp(text_of(t, 0, "event"), text_of(t, n - 1, "event")) == 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "the answer is of %s, %s and perhaps others: give --event",
		       text_of(t, 0, "event"), text_of(t, n - 1, "event"));
}

static bool is_of(const struct gate *g, const char *function)
{
	return strlen(function) == g->argument_size &&
	       memcmp(function, g->argument, g->argument_size) == 0;
}

/* A share or change of a function, whatever modules have one of the name. */
static int measure_function(const struct table *t, const struct gate *g, const char *column,
			    const char *error, struct measured *out, struct err *err)
{
	double sum = 0, squares = 0;
	bool is_known = true;
	size_t n = 0;

	for (size_t row = 0; row < table_n_rows(t); row++) {
		const struct cell *half = cell_of(t, row, error);

		if (!is_of(g, text_of(t, row, "function")))
			continue;
		sum += cell_of(t, row, column)->number;
		squares += half->number * half->number;
		is_known &= half->type == CELL_NUMBER;
		n++;
	}
	if (n == 0)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "no record is in '%.*s'",
			       (int)g->argument_size, g->argument);
	*out = is_known ? measured_between(sum, sum - sqrt(squares), sum + sqrt(squares))
			: measured_once(sum);
	return 0;
}

static int measure_increase(const struct table *t, struct measured *out, struct err *err)
{
	*out = measured_exactly(0);
	for (size_t row = 0; row < table_n_rows(t); row++) {
		const struct cell *significant = cell_of(t, row, "significant");
		double change = cell_of(t, row, "change")->number;
		double half = cell_of(t, row, "change_error")->number;

		if (significant->type != CELL_BOOL)
			return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
				       "these are too few hosts to say what is significant; "
				       "change(FUNCTION) needs none");
		if (significant->count != 0 && change > out->value)
			*out = measured_between(change, change - half, change + half);
	}
	return 0;
}

/* Rows of a host need not stand together. */
static double count_hosts(const struct table *t)
{
	size_t n = 0;

	for (size_t row = 0; row < table_n_rows(t); row++) {
		size_t before = 0;

		while (before < row &&
		       strcmp(text_of(t, before, "host"), text_of(t, row, "host")) != 0)
			before++;
		n += before == row;
	}
	return (double)n;
}

int fleet_measure(const struct fleet_query *q, const struct table *t, const struct gate *g,
		  struct measured *out, struct err *err)
{
	if (fleet_gate_check(q, g, err) < 0 || check_one_event(t, err) < 0)
		return -1;
	switch (g->quantity) {
	case SHARE_OF_FUNCTION:
		return measure_function(t, g, "share", "share_error", out, err);
	case CHANGE_OF_FUNCTION:
		return measure_function(t, g, "change", "change_error", out, err);
	case INCREASE:
		return measure_increase(t, out, err);
	default:
		*out = measured_exactly(count_hosts(t));
		return 0;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/validation/validate.h"

#include "base/alloc.h"
#include "table/answer.h"

enum event_column {
	EVENT,
	VERDICT,
	FACTOR,
	RUNS,
	RIGHT,
	WORST,
	WHAT,
	LEAST,
	MOST,
	COUNTED,
	N_EVENT_COLUMNS,
};

/* Counts for people are of an iteration, which is what kernels are about. */
static const struct column event_columns[N_EVENT_COLUMNS] = {
	[EVENT] = { "event", NULL, "", CELL_TEXT, COLUMN_WHOLE, "name in the catalog" },
	[VERDICT] = { "verdict", NULL, "", CELL_TEXT, 0,
		      "ok; over, under: counts too much, too little; fires elsewhere: counts in a "
		      "kernel "
		      "in which it must not; not counted here: cannot be counted, or reads 0 "
		      "whatever "
		      "runs" },
	[FACTOR] = { "factor", "by \303\227", "", CELL_NUMBER, COLUMN_BLANK,
		     "counted / nearest right count, of over and under" },
	[RUNS] = { "kernels", NULL, "", CELL_COUNT, 0, "kernels in which it was counted" },
	[RIGHT] = { "right", NULL, "", CELL_COUNT, 0, "kernels in which the count is right" },
	[WORST] = { "kernel", "shown by", "", CELL_TEXT, COLUMN_BLANK,
		    "the kernel that shows the verdict; absent: ok" },
	[WHAT] = { "iteration", "iteration", "", CELL_TEXT, COLUMN_GROW | COLUMN_BLANK,
		   "what one iteration of that kernel does" },
	[LEAST] = { "least", NULL, "", CELL_NUMBER, COLUMN_BLANK,
		    "least right count of an iteration of that kernel" },
	[MOST] = { "most", NULL, "", CELL_NUMBER, COLUMN_BLANK,
		   "most right count of an iteration of that kernel" },
	[COUNTED] = { "counted", NULL, "", CELL_NUMBER, COLUMN_BLANK,
		      "counted in an iteration of that kernel" },
};

void validation_events_table(const struct validation *v, struct table *t)
{
	table_init(t, "events", NULL, event_columns, N_EVENT_COLUMNS);
	for (size_t i = 0; i < v->events.n; i++) {
		const struct validated_event *e = &v->events.items[i];
		const struct validation_check *worst = e->result.worst;
		const struct validation_case *which =
			worst != NULL ? &v->cases.items[worst - v->checks.items] : NULL;
		struct cell *row = table_add_row(t);

		row[EVENT] = table_text_cell(t, e->name);
		row[VERDICT] = cell_text(validation_verdict_name(e->result.verdict));
		row[RUNS] = cell_count(e->result.n_runs);
		row[RIGHT] = cell_count(e->result.n_right);
		if (e->result.factor != 1)
			row[FACTOR] = cell_number(e->result.factor);
		if (which == NULL)
			continue;
		row[WORST] = table_text_cell(t, worst->run);
		row[WHAT] = table_text_cell(t, which->which->what);
		row[LEAST] = cell_number(worst->least / which->iterations);
		row[MOST] = cell_number(worst->most / which->iterations);
		if (worst->is_counted)
			row[COUNTED] = cell_number(worst->count / which->iterations);
	}
}

enum check_column {
	CHECK_EVENT,
	CHECK_CASE,
	CHECK_KERNEL,
	CHECK_KIND,
	CHECK_ITERATIONS,
	CHECK_LEAST,
	CHECK_MOST,
	CHECK_COUNTED,
	CHECK_VERDICT,
	N_CHECK_COLUMNS,
};

static const struct column check_columns[N_CHECK_COLUMNS] = {
	[CHECK_EVENT] = { "event", NULL, "", CELL_TEXT, 0, "name in the catalog" },
	[CHECK_CASE] = { "case", NULL, "", CELL_TEXT, 0, "the kernel with its parameters" },
	[CHECK_KERNEL] = { "kernel", NULL, "", CELL_TEXT, 0, "name of the kernel" },
	[CHECK_KIND] = { "kind", NULL, "", CELL_TEXT, 0,
			 "exact, lines, never (must not count) or range" },
	[CHECK_ITERATIONS] = { "iterations", NULL, "iterations", CELL_NUMBER, 0, "of the run" },
	[CHECK_LEAST] = { "least", NULL, "events", CELL_NUMBER, 0, "least right count of the run" },
	[CHECK_MOST] = { "most", NULL, "events", CELL_NUMBER, 0, "most right count of the run" },
	[CHECK_COUNTED] = { "counted", NULL, "events", CELL_NUMBER, 0,
			    "count of the run; absent: it was not counted all of the time" },
	[CHECK_VERDICT] = { "verdict", NULL, "", CELL_TEXT, 0,
			    "of this run alone, as in table events" },
};

void validation_checks_table(const struct validation *v, struct table *t)
{
	table_init(t, "checks", NULL, check_columns, N_CHECK_COLUMNS);
	t->readers = TABLE_FOR_PROGRAMS;
	for (size_t i = 0; i < v->checks.n; i++) {
		const struct validation_check *c = &v->checks.items[i];
		const struct validation_case *which = &v->cases.items[i];
		struct cell *row = table_add_row(t);

		row[CHECK_EVENT] = table_text_cell(t, c->event);
		row[CHECK_CASE] = table_text_cell(t, c->run);
		row[CHECK_KERNEL] = table_text_cell(t, which->which->kernel->name);
		row[CHECK_KIND] = cell_text(expected_kind_name(which->expectation->kind));
		row[CHECK_ITERATIONS] = cell_number(which->iterations);
		row[CHECK_LEAST] = cell_number(c->least);
		row[CHECK_MOST] = cell_number(c->most);
		row[CHECK_VERDICT] =
			cell_text(validation_verdict_name(validation_verdict_of_run(c)));
		if (c->is_counted)
			row[CHECK_COUNTED] = cell_number(c->count);
	}
}

/* "L1D_CACHE_WB, BR_PRED and 3 more" of those with a verdict; at most so many names. */
static const char *names_of(const struct validation *v, enum validation_verdict verdict,
			    struct table *t)
{
	enum { MOST_NAMES = 5 };
	struct text text = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < v->events.n && n < MOST_NAMES; i++)
		if (v->events.items[i].result.verdict == verdict) {
			text_part(&text);
			text_str(&text, v->events.items[i].name);
			n++;
		}
	if (v->n_of[verdict] > n)
		text_format(&text, " and %zu more", v->n_of[verdict] - n);
	return table_take_text(t, &text);
}

void validation_answer(const struct validation *v, struct table *t)
{
	static const struct {
		enum validation_verdict verdict;
		const char *words;
	} kinds[] = {
		{ VALIDATION_NOT_COUNTED, "not counted here" },
		{ VALIDATION_FIRES_ELSEWHERE, "count where they must not" },
		{ VALIDATION_OVER, "count too much" },
		{ VALIDATION_UNDER, "count too little" },
	};
	struct text text = { 0 };

	answer_init(t);
	answer_say(t, "%zu of %zu events count what they should.", v->n_of[VALIDATION_OK],
		   v->events.n);
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (v->n_of[kinds[i].verdict] > 0)
			text_format(&text, "%s%s: %s", text.n > 0 ? "; " : "", kinds[i].words,
				    names_of(v, kinds[i].verdict, t));
	text_char(&text, '\0');
	if (text.n > 1)
		answer_say_sentence(t, table_text(t, text.bytes));
	if (v->n_skipped > 0)
		answer_say(t, "%zu kernel%s did not run: %s.", v->n_skipped, plural(v->n_skipped),
			   table_text(t, v->why_skipped.text));
	text_release(&text);
}

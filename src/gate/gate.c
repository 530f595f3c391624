/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"

struct measured measured_exactly(double value)
{
	return measured_between(value, value, value);
}

struct measured measured_once(double value)
{
	return measured_between(value, NAN, NAN);
}

struct measured measured_between(double value, double low, double high)
{
	return (struct measured){ value, low, high, value, value, NULL };
}

struct gate_verdict gate_verdict_of(const struct condition *c, const struct measured *m)
{
	bool is_met = condition_is_met(c, m->value);

	if (condition_is_met(c, m->least) != condition_is_met(c, m->most))
		return (struct gate_verdict){ true, GATE_UNDECIDED };
	if (isnan(m->low) || isnan(m->high))
		return (struct gate_verdict){ is_met, GATE_UNKNOWN };
	if (condition_is_met(c, m->low) != is_met || condition_is_met(c, m->high) != is_met)
		return (struct gate_verdict){ is_met, GATE_WITHIN };
	return (struct gate_verdict){ is_met, GATE_CERTAIN };
}

/* The quantities, for messages. */
struct quantity_list {
	const struct quantity *items;
	size_t n;
};

static const char *quantity_name_at(const void *context, size_t i)
{
	const struct quantity_list *list = context;

	return i < list->n ? list->items[i].name : NULL;
}

static int no_such_quantity(const char *text, const char *name, const struct quantity_list *list,
			    struct err *err)
{
	const char *nearest = nearest_word(name, quantity_name_at, list);
	char names[384];

	if (nearest != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if '%s': there is no '%s'; did you mean '%s'?", text, name,
			       nearest);
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--fail-if '%s': there is no '%s'; there are %s", text, name,
		       list_words(quantity_name_at, list, names, sizeof(names)));
}

/* Splits "share(parse)"; a name without an argument stays whole. */
static void split_argument(struct gate *g, size_t *out_name_size)
{
	const struct condition *c = &g->condition;
	const char *open = memchr(c->name, '(', c->name_size);

	*out_name_size = c->name_size;
	if (open == NULL || open == c->name || c->name[c->name_size - 1] != ')')
		return;
	g->argument = open + 1;
	g->argument_size = (size_t)(c->name + c->name_size - 1 - g->argument);
	*out_name_size = (size_t)(open - c->name);
}

/* Does the limit suit the quantity? */
static int check_limit(const struct condition *c, const struct quantity *q, struct err *err)
{
	if (c->unit == CONDITION_PERCENT && !q->is_share)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if '%s': %s is no share: the limit has no %%", c->text,
			       q->name);
	if (c->unit == CONDITION_TIME && strcmp(q->unit, "ns") != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if '%s': %s is no time: the limit has no ns, us, ms or s",
			       c->text, q->name);
	if (q->is_share && c->unit == CONDITION_PLAIN && fabs(c->limit) > 1)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if '%s': %s is a share, 0 to 1 or 0 %% to 100 %%: did you "
			       "mean %g %%?",
			       c->text, q->name, c->limit);
	return 0;
}

static int check_argument(const struct gate *g, const struct quantity *q, struct err *err)
{
	const char *text = g->condition.text;

	if (q->argument == NULL && g->argument != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if '%s': %s has nothing in parentheses", text, q->name);
	if (q->argument != NULL && g->argument_size == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if '%s': %s is of what? It is written %s(%s)", text, q->name,
			       q->name, q->argument);
	return 0;
}

int gate_parse(const char *text, const struct quantity *quantities, size_t n, struct gate *out,
	       struct err *err)
{
	const struct quantity_list list = { quantities, n };
	struct gate g = { .quantity = n };
	size_t name_size;
	char *name;
	int rc;

	if (condition_parse(text, &g.condition, err) < 0)
		return -1;
	split_argument(&g, &name_size);
	name = mem_strndup(g.condition.name, name_size);
	for (size_t i = 0; i < n && g.quantity == n; i++)
		if (strcasecmp(quantities[i].name, name) == 0)
			g.quantity = i;
	rc = g.quantity == n ? no_such_quantity(text, name, &list, err) : 0;
	free(name);
	if (rc < 0 || check_argument(&g, &quantities[g.quantity], err) < 0 ||
	    check_limit(&g.condition, &quantities[g.quantity], err) < 0)
		return -1;
	*out = g;
	return 0;
}

enum gate_column {
	GATE_TEXT,
	GATE_RESULT,
	GATE_MEASURE,
	GATE_WORDS,
	GATE_ERROR,
	GATE_LIMIT_WORDS,
	GATE_CERTAINTY,
	GATE_VALUE,
	GATE_LOW,
	GATE_HIGH,
	GATE_LIMIT,
	N_GATE_COLUMNS,
};

static const struct column columns[N_GATE_COLUMNS] = {
	[GATE_TEXT] = { "fail_if", "fails if", "", CELL_TEXT, COLUMN_GROW, "the condition" },
	[GATE_RESULT] = { "result", NULL, "", CELL_TEXT, 0, "passed or failed" },
	[GATE_MEASURE] = { "measure", "worst", "", CELL_TEXT, COLUMN_GROW,
			   "of several measures that the condition is about, the one that meets "
			   "it most, or comes nearest to it" },
	[GATE_WORDS] = { "measured_words", "measured", "", CELL_TEXT,
			 COLUMN_TEXT_ONLY | COLUMN_FIGURES, "the measured value" },
	[GATE_ERROR] = { "error_words", "± (95 %)", "", CELL_TEXT,
			 COLUMN_TEXT_ONLY | COLUMN_FIGURES,
			 "how far it may be off, 19 times out of 20" },
	[GATE_LIMIT_WORDS] = { "limit_words", "limit", "", CELL_TEXT,
			       COLUMN_TEXT_ONLY | COLUMN_FIGURES, "that the condition gives" },
	[GATE_CERTAINTY] = { "certainty", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			     "certain; within: the limit is within the error, and the measured "
			     "value decides; unknown: the error is not known; undecided: saturated "
			     "counters hide the answer, which counts as failed; noise: the change "
			     "is not significant, so it passes" },
	[GATE_VALUE] = { "measured", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			 "the measured value, of diff the change; a share is 0 to 1, with a limit "
			 "in "
			 "% the change is a part of what it was" },
	[GATE_LOW] = { "measured_low", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		       "lower limit of its error (95 %)" },
	[GATE_HIGH] = { "measured_high", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			"upper limit of its error (95 %)" },
	[GATE_LIMIT] = { "limit", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			 "that the condition gives" },
};

static const char *const certainty_names[GATE_N_CERTAINTIES] = {
	[GATE_CERTAIN] = "certain",	[GATE_WITHIN] = "within", [GATE_UNKNOWN] = "unknown",
	[GATE_UNDECIDED] = "undecided", [GATE_NOISE] = "noise",
};

static const char *const remarks[GATE_N_CERTAINTIES] = {
	[GATE_WITHIN] = "the limit is within the error, the measured value decides",
	[GATE_UNKNOWN] = "error not known",
	[GATE_UNDECIDED] = "undecided, which counts as failed: saturated counters hide the answer",
};

/* A value of the quantity: "15.5 %", "0.23", "1.24 ms". */
static const char *value_words(struct table *t, const struct quantity *q, double value)
{
	if (q->is_share)
		return table_format(t, "%.*f %%", value != 0 && fabs(value) < 0.0995 ? 2 : 1,
				    100 * value);
	if (value == floor(value) && fabs(value) < 1e15)
		return table_human(t, cell_signed((int64_t)value), q->unit);
	return table_human(t, cell_number(value), q->unit);
}

/* "1.2 %"; NULL: there is none to tell. */
static const char *measured_error_words(struct table *t, const struct quantity *q,
					const struct measured *m)
{
	double half = (m->high - m->low) / 2;

	if (!isfinite(half) || half == 0)
		return NULL;
	return value_words(t, q, half);
}

/* The measured value, with a sign where saturated counters may move it by more than a hundredth. */
static const char *measured_words(struct table *t, const struct quantity *q,
				  const struct measured *m)
{
	bool may_be_more = m->most > m->value * 1.01, may_be_less = m->least < m->value * 0.99;
	const char *sign = may_be_more && may_be_less ? "≈ "
			   : may_be_more	      ? "≥ "
			   : may_be_less	      ? "≤ "
						      : "";

	return table_format(t, "%s%s", sign, value_words(t, q, m->value));
}

/* The limit as short as it was given. */
static const char *limit_words(struct table *t, const struct quantity *q, double limit)
{
	if (q->is_share)
		return table_format(t, "%g %%", 100 * limit);
	return strcmp(q->unit, "ns") == 0 ? value_words(t, q, limit) : table_format(t, "%g", limit);
}

static struct cell finite_cell(double value)
{
	return isfinite(value) ? cell_number(value) : (struct cell){ 0 };
}

void gates_init(struct gates *g)
{
	*g = (struct gates){ 0 };
	table_init(&g->table, "gates", NULL, columns, N_GATE_COLUMNS);
}

void gates_release(struct gates *g)
{
	vec_release(&g->results);
	table_release(&g->table);
}

struct tables gates_shown(struct gates *g, const struct tables *tables)
{
	struct tables shown = { 0 };
	size_t i = 0;

	while (i < tables->list.n && tables->list.items[i]->style == TABLE_ANSWER)
		*vec_add(&shown.list) = tables->list.items[i++];
	if (g->results.n > 0)
		*vec_add(&shown.list) = &g->table;
	while (i < tables->list.n)
		*vec_add(&shown.list) = tables->list.items[i++];
	return shown;
}

/* Adds what became of a condition in words; the texts are copied. */
static void gates_add_result(struct gates *g, const char *text, const char *sentence,
			     bool is_failed)
{
	*vec_add(&g->results) =
		(struct gate_result){ table_text(&g->table, text), table_text(&g->table, sentence),
				      is_failed, false };
	g->n_failed += is_failed;
}

void gates_add_error(struct gates *g, const char *text, const char *why)
{
	gates_add_result(g, text, why, false);
	g->results.items[g->results.n - 1].is_error = true;
}

/* "share(parse) 15.5 % ± 1.2 % (limit 10 %): FAIL". The name stands there as the condition has it. */
static const char *sentence_of(struct table *t, const struct condition *c,
			       const struct gate_line *l)
{
	bool has_error = l->error != NULL, has_remark = l->remark != NULL;

	return table_format(t, "%.*s%s%s %s%s%s (limit %s%s%s): %s", (int)c->name_size, c->name,
			    l->measure != NULL ? ": " : "", l->measure != NULL ? l->measure : "",
			    l->measured, has_error ? " ± " : "", has_error ? l->error : "",
			    l->limit, has_remark ? "; " : "", has_remark ? l->remark : "",
			    l->verdict.is_failed ? "FAIL" : "pass");
}

void gates_add_line(struct gates *gates, const struct condition *c, const struct gate_line *l)
{
	struct table *t = &gates->table;
	struct cell *row = table_add_row(t);

	row[GATE_TEXT] = cell_text(table_text(t, c->text));
	row[GATE_RESULT] = cell_text(l->verdict.is_failed ? "failed" : "passed");
	if (l->measure != NULL)
		row[GATE_MEASURE] = cell_text(l->measure);
	row[GATE_WORDS] = cell_text(l->measured);
	if (l->error != NULL)
		row[GATE_ERROR] = cell_text(l->error);
	row[GATE_LIMIT_WORDS] = cell_text(l->limit);
	row[GATE_CERTAINTY] = cell_text(certainty_names[l->verdict.certainty]);
	row[GATE_VALUE] = finite_cell(l->value);
	row[GATE_LOW] = finite_cell(l->low);
	row[GATE_HIGH] = finite_cell(l->high);
	row[GATE_LIMIT] = finite_cell(c->limit);
	if (l->remark != NULL)
		table_note(t, "%s: %s", c->text, l->remark);
	gates_add_result(gates, c->text, sentence_of(t, c, l), l->verdict.is_failed);
}

void gates_add(struct gates *gates, const struct gate *g, const struct quantity *q,
	       const struct measured *m)
{
	struct gate_verdict v = gate_verdict_of(&g->condition, m);
	struct table *t = &gates->table;
	const struct gate_line line = {
		.measured = measured_words(t, q, m),
		.error = measured_error_words(t, q, m),
		.limit = limit_words(t, q, g->condition.limit),
		.remark = remarks[v.certainty],
		.verdict = v,
		.value = m->value,
		.low = m->low,
		.high = m->high,
	};

	gates_add_line(gates, &g->condition, &line);
	if (m->basis != NULL)
		table_note(t, "%s: %s", g->condition.text, m->basis);
}

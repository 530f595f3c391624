/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of --fail-if. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "diff/diff.h"

enum { MAX_NAMES = 12 }; /* listed in a message */

/* Takes the kind, as in "function:", off the name. */
static void split_kind(struct diff_gate *g)
{
	for (int kind = 0; kind < N_MEASURE_KINDS; kind++) {
		const char *word = measure_kind_name((enum measure_kind)kind);
		size_t size = strlen(word);

		if (g->name_size <= size + 1 || memcmp(g->name, word, size) != 0 ||
		    g->name[size] != ':')
			continue;
		g->kind = kind;
		g->name += size + 1;
		g->name_size -= size + 1;
		return;
	}
}

int diff_gate_parse(const char *text, struct diff_gate *out, struct err *err)
{
	struct condition c;

	if (condition_parse(text, &c, err) < 0)
		return -1;
	*out = (struct diff_gate){ c, c.name, c.name_size, -1 };
	split_kind(out);
	return 0;
}

static bool gate_has_name(const struct diff_gate *g, const char *name)
{
	return strlen(name) == g->name_size && strncasecmp(name, g->name, g->name_size) == 0;
}

/* The whole condition's name, as in "cycles:u": an event, and not a node "u" of the kind cycles. */
static bool has_full_name(const struct diff_gate *g, const char *name)
{
	const struct condition *c = &g->condition;

	return strlen(name) == c->name_size && strncasecmp(name, c->name, c->name_size) == 0;
}

static bool is_about(const struct diff_gate *g, const struct diff_row *row)
{
	const struct measure *m = diff_measure(row);

	if (g->condition.unit == CONDITION_TIME && strcmp(m->unit, "ns") != 0)
		return false;
	if (has_full_name(g, m->name) || has_full_name(g, diff_row_name(row)))
		return true;
	return (g->kind < 0 || g->kind == m->kind) &&
	       (gate_has_name(g, m->name) || gate_has_name(g, diff_row_name(row)));
}

/* The change as the condition's limit is given. From 0 the relative change is infinite. */
static double change_between(const struct diff_gate *g, double from, double to)
{
	double change = to - from;

	if (g->condition.unit != CONDITION_PERCENT)
		return change;
	if (from == 0)
		return change == 0 ? 0 : copysign(INFINITY, change);
	return change / fabs(from);
}

static double change_of(const struct diff_gate *g, const struct diff_row *row)
{
	return change_between(g, row->from, row->to);
}

/* Do saturated counters hide whether the change meets the condition? */
static bool is_undecided(const struct diff_gate *g, const struct diff_row *row)
{
	double least = change_between(g, row->from_range.high, row->to_range.low);
	double largest = change_between(g, row->from_range.low, row->to_range.high);

	return row->certainty != DIFF_NOISE &&
	       condition_is_met(&g->condition, least) != condition_is_met(&g->condition, largest);
}

static const char *row_name_at(const void *context, size_t i)
{
	const struct diff *d = context;

	return i < d->rows.n ? diff_row_name(&d->rows.items[i]) : NULL;
}

/* Appends the names of totals, metrics and events. Functions, lines and instructions are too many. */
static void put_names(const struct diff *d, struct text *out)
{
	size_t n = 0;

	for (size_t i = 0; i < d->rows.n; i++) {
		if (diff_measure(&d->rows.items[i])->kind > MEASURE_EVENT)
			continue;
		if (n < MAX_NAMES)
			text_format(out, "%s%s", n > 0 ? ", " : "", row_name_at(d, i));
		n++;
	}
	if (n > MAX_NAMES)
		text_format(out, " and %zu more", n - MAX_NAMES);
}

static int no_such(const struct diff_gate *g, const struct diff *d, struct err *err)
{
	char *name = mem_strndup(g->name, g->name_size);
	const char *nearest = nearest_word(name, row_name_at, d);
	bool is_of_function = memchr(g->name, '(', g->name_size) != NULL;
	struct text hint = { 0 };
	size_t n_before;

	if (is_of_function) {
		text_str(&hint, "; functions stand by their name alone, as in 'parse > 1 %'");
	} else if (nearest != NULL) {
		text_format(&hint, "; did you mean '%s'?", nearest);
	} else {
		text_str(&hint, "; there are ");
		n_before = hint.n;
		put_names(d, &hint);
		text_format(&hint, "%sthe other rows of the tables",
			    hint.n > n_before ? ", and " : "");
	}
	if (!(d->a->kinds & d->b->kinds & 1u << MEASURE_METRIC))
		text_str(&hint, " (metrics such as ipc need counts, or folders of `cyclops run`)");
	else if (strcmp(name, "time") == 0)
		text_str(&hint, " (perf stat -x and -j tell the time with -e duration_time)");
	text_char(&hint, '\0');
	err_set(err, strcmp(name, "time") == 0 ? ERR_NO_DATA : ERR_FORMAT, ERR_NOWHERE,
		"--fail-if '%s': neither run has a measure '%s'%s", g->condition.text, name,
		hint.bytes);
	text_release(&hint);
	free(name);
	return -1;
}

/* What makes a change worth telling more than others: that it trips, or at least meets the condition. */
static int rank_of(const struct diff_gate *g, const struct diff_row *row)
{
	if (!condition_is_met(&g->condition, change_of(g, row)))
		return 0;
	return row->certainty == DIFF_NOISE ? 1 : 2;
}

static bool is_worse(const struct diff_gate *g, const struct diff_row *row,
		     const struct diff_row *than)
{
	if (than == NULL || rank_of(g, row) != rank_of(g, than))
		return than == NULL || rank_of(g, row) > rank_of(g, than);
	return g->condition.is_less ? change_of(g, row) < change_of(g, than)
				    : change_of(g, row) > change_of(g, than);
}

int diff_gate_check(const struct diff_gate *g, const struct diff *d, struct diff_gate_result *out,
		    struct err *err)
{
	*out = (struct diff_gate_result){ 0 };
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct diff_row *row = &d->rows.items[i];

		if (!is_about(g, row) || isnan(change_of(g, row)))
			continue;
		out->n_matches++;
		if (is_undecided(g, row)) {
			out->n_undecided++;
			if (out->undecided == NULL)
				out->undecided = row;
			continue;
		}
		out->n_met += rank_of(g, row) > 0;
		out->n_tripped += rank_of(g, row) > 1;
		if (is_worse(g, row, out->worst))
			out->worst = row;
	}
	return out->n_matches > 0 ? 0 : no_such(g, d, err);
}

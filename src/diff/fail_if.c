/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of --fail-if. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "diff/diff.h"

enum { MAX_NAMES = 12 }; /* listed in a message */

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static int bad_gate(const char *text, const char *what, struct err *err)
{
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--fail-if '%s': %s; a condition is NAME < NUMBER or NAME > NUMBER with or "
		       "without %%, such as 'ipc < -3%%'",
		       text, what);
}

/* Takes the kind, as in "function:", off the name. */
static void split_kind(struct gate *g)
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

/* The last < or > is the operator: names of C++ functions contain such signs, too. */
static const char *find_sign(const char *text)
{
	const char *sign = NULL;

	for (const char *at = strpbrk(text, "<>"); at != NULL; at = strpbrk(at + 1, "<>"))
		sign = at;
	return sign;
}

int gate_parse(const char *text, struct gate *out, struct err *err)
{
	const char *sign = find_sign(text), *at;
	char *end;

	*out = (struct gate){ .text = text, .name = skip_blanks(text), .kind = -1 };
	if (sign == NULL)
		return bad_gate(text, "there is no < or >", err);
	out->is_less = *sign == '<';
	out->or_equal = sign[1] == '=';
	for (at = sign; at > out->name && isspace((unsigned char)at[-1]);)
		at--;
	if (at <= out->name)
		return bad_gate(text, "there is no name", err);
	out->name_size = (size_t)(at - out->name);
	at = skip_blanks(sign + 1 + out->or_equal);
	out->limit = strtod(at, &end);
	if (end == at || !isfinite(out->limit))
		return bad_gate(text, "there is no number", err);
	at = skip_blanks(end);
	out->is_share = *at == '%';
	if (*skip_blanks(at + out->is_share) != '\0')
		return bad_gate(text, "something follows the number", err);
	if (out->is_share)
		out->limit /= 100;
	split_kind(out);
	return 0;
}

static bool gate_has_name(const struct gate *g, const char *name)
{
	return strlen(name) == g->name_size && strncasecmp(name, g->name, g->name_size) == 0;
}

static bool is_about(const struct gate *g, const struct diff_row *row)
{
	const struct measure *m = diff_measure(row);

	return (g->kind < 0 || g->kind == m->kind) &&
	       (gate_has_name(g, m->name) || gate_has_name(g, diff_row_name(row)));
}

/* The change as the condition's limit is given. From 0 the relative change is infinite. */
static double change_between(const struct gate *g, double from, double to)
{
	double change = to - from;

	if (!g->is_share)
		return change;
	if (from == 0)
		return change == 0 ? 0 : copysign(INFINITY, change);
	return change / fabs(from);
}

static double change_of(const struct gate *g, const struct diff_row *row)
{
	return change_between(g, row->from, row->to);
}

static bool is_met(const struct gate *g, double change)
{
	if (change == g->limit)
		return g->or_equal;
	return g->is_less ? change < g->limit : change > g->limit;
}

/* Do saturated counters hide whether the change meets the condition? */
static bool is_undecided(const struct gate *g, const struct diff_row *row)
{
	double least = change_between(g, row->from_range.high, row->to_range.low);
	double largest = change_between(g, row->from_range.low, row->to_range.high);

	return row->certainty != DIFF_NOISE && is_met(g, least) != is_met(g, largest);
}

static const char *row_name_at(const void *context, size_t i)
{
	const struct diff *d = context;

	return i < d->rows.n ? diff_row_name(&d->rows.items[i]) : NULL;
}

/* Appends the names of totals and metrics. Functions, lines and instructions are too many. */
static void put_names(const struct diff *d, struct text *out)
{
	size_t n = 0;

	for (size_t i = 0; i < d->rows.n; i++) {
		if (diff_measure(&d->rows.items[i])->kind > MEASURE_METRIC)
			continue;
		if (n < MAX_NAMES)
			text_format(out, "%s%s", n > 0 ? ", " : "", row_name_at(d, i));
		n++;
	}
	if (n > MAX_NAMES)
		text_format(out, " and %zu more", n - MAX_NAMES);
}

static int no_such(const struct gate *g, const struct diff *d, struct err *err)
{
	char *name = mem_strndup(g->name, g->name_size);
	const char *nearest = nearest_word(name, row_name_at, d);
	struct text hint = { 0 };

	if (nearest != NULL) {
		text_format(&hint, "; did you mean '%s'?", nearest);
	} else {
		text_str(&hint, "; there are ");
		put_names(d, &hint);
		text_str(&hint, ", and the other rows of the tables");
	}
	if (!(d->a->kinds & d->b->kinds & 1u << MEASURE_METRIC))
		text_str(&hint, " (metrics such as ipc need counts, or folders of `cyclops run`)");
	else if (strcmp(name, "time") == 0)
		text_str(&hint, " (perf stat -x and -j tell the time with -e duration_time)");
	text_char(&hint, '\0');
	err_set(err, ERR_FORMAT, ERR_NOWHERE, "--fail-if '%s': neither run has a measure '%s'%s",
		g->text, name, hint.bytes);
	text_release(&hint);
	free(name);
	return -1;
}

int gate_check(const struct gate *g, const struct diff *d, struct gate_result *out, struct err *err)
{
	*out = (struct gate_result){ 0 };
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct diff_row *row = &d->rows.items[i];
		double change = change_of(g, row);

		if (!is_about(g, row) || isnan(change))
			continue;
		out->n_matches++;
		if (is_undecided(g, row)) {
			out->n_undecided++;
			if (out->undecided == NULL)
				out->undecided = row;
			continue;
		}
		if (!is_met(g, change))
			continue;
		out->n_met++;
		out->n_tripped += row->certainty != DIFF_NOISE;
		if (out->worst == NULL || (g->is_less ? change < change_of(g, out->worst)
						      : change > change_of(g, out->worst)))
			out->worst = row;
	}
	return out->n_matches > 0 ? 0 : no_such(g, d, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "estimate/shares.h"
#include "base/strings.h"
#include "base/tuples.h"

/* The probability that a table without any real change shows a row as certain. */
static const double false_alarm = 0.01;

static const char *const per_names[N_DIFF_PER] = { "run", "second", "total" };

int diff_per_find(const char *name)
{
	for (int i = 0; i < N_DIFF_PER; i++)
		if (strcmp(per_names[i], name) == 0)
			return i;
	return -1;
}

const char *diff_row_name(const struct diff_row *row)
{
	const struct measure *m = diff_measure(row);

	return m->kind == MEASURE_TOTAL && m->event[0] != '\0' ? m->event : m->name;
}

bool diff_is_scaled(const struct diff_row *row)
{
	return (row->a != NULL && row->a->is_scaled) || (row->b != NULL && row->b->is_scaled);
}

double diff_share(const struct diff_row *row)
{
	return row->from == 0 ? NAN : (row->to - row->from) / fabs(row->from);
}

double diff_saturated_part(const struct measure *m)
{
	return m == NULL || m->value <= 0 ? 0 : fmin(m->saturated / m->value, 1);
}

struct diff_range diff_change_range(const struct diff_row *row)
{
	return (struct diff_range){ row->to_range.low - row->from_range.high,
				    row->to_range.high - row->from_range.low };
}

/* The measures of one run, found by name. */
struct index {
	const struct measures *measures;
	struct strings *strings; /* of both runs */
	struct tuples full;	 /* kind, event, module, name */
	/* kind, event, name: finds a measure although its module has another name now */
	struct tuples short_;
	VEC_OF(uint32_t) by_full, by_short;
	/* by number in short_: the name of several measures; by number of the measure */
	VEC_OF(bool) is_ambiguous, is_taken;
};

enum { FULL_WORDS = 4, SHORT_WORDS = 3 };

static void keys_of(struct strings *s, const struct measure *m, uint64_t full[FULL_WORDS],
		    uint64_t short_[SHORT_WORDS])
{
	uint64_t event = strings_addz(s, m->event).v, name = strings_addz(s, m->name).v;

	full[0] = short_[0] = m->kind;
	full[1] = short_[1] = event;
	full[2] = strings_addz(s, m->module).v;
	full[3] = short_[2] = name;
}

static void index_init(struct index *x, const struct measures *m, struct strings *strings)
{
	*x = (struct index){ .measures = m, .strings = strings };
	tuples_init(&x->full, FULL_WORDS);
	tuples_init(&x->short_, SHORT_WORDS);
	for (uint32_t i = 0; i < m->list.n; i++) {
		uint64_t full[FULL_WORDS], short_[SHORT_WORDS];
		uint32_t number;

		keys_of(strings, &m->list.items[i], full, short_);
		*vec_add(&x->is_taken) = false;
		if (tuples_add(&x->full, full) == x->by_full.n)
			*vec_add(&x->by_full) = i;
		number = tuples_add(&x->short_, short_);
		if (number < x->by_short.n) {
			x->is_ambiguous.items[number] = true;
			continue;
		}
		*vec_add(&x->by_short) = i;
		*vec_add(&x->is_ambiguous) = false;
	}
}

static void index_release(struct index *x)
{
	tuples_release(&x->full);
	tuples_release(&x->short_);
	vec_release(&x->by_full);
	vec_release(&x->by_short);
	vec_release(&x->is_ambiguous);
	vec_release(&x->is_taken);
}

/*
 * Returns the measure with the same name in the other run and marks it as taken. NULL if there is
 * none.
 */
static const struct measure *take_partner(struct index *x, const struct measure *m, bool by_full)
{
	uint64_t full[FULL_WORDS], short_[SHORT_WORDS];
	uint32_t number, found;

	keys_of(x->strings, m, full, short_);
	number = by_full ? tuples_find(&x->full, full) : tuples_find(&x->short_, short_);
	if (number == TUPLES_NONE || (!by_full && x->is_ambiguous.items[number]))
		return NULL;
	found = by_full ? x->by_full.items[number] : x->by_short.items[number];
	if (x->is_taken.items[found])
		return NULL;
	x->is_taken.items[found] = true;
	return &x->measures->list.items[found];
}

/* Was the kind of the measure looked for in both runs? */
static bool is_compared(const struct diff *d, const struct measure *m)
{
	return d->a->kinds & d->b->kinds & 1u << m->kind;
}

/* Pairs the measures of both runs: first by name and module, then what is left by name alone. */
static void pair_measures(struct diff *d, struct index *of_b)
{
	for (size_t i = 0; i < d->a->list.n; i++)
		if (is_compared(d, &d->a->list.items[i]))
			*vec_add(&d->rows) = (struct diff_row){
				.a = &d->a->list.items[i],
				.b = take_partner(of_b, &d->a->list.items[i], true),
			};
	for (size_t i = 0; i < d->rows.n; i++)
		if (d->rows.items[i].b == NULL)
			d->rows.items[i].b = take_partner(of_b, d->rows.items[i].a, false);
	for (size_t i = 0; i < d->b->list.n; i++)
		if (!of_b->is_taken.items[i] && is_compared(d, &d->b->list.items[i]))
			*vec_add(&d->rows) = (struct diff_row){ .b = &d->b->list.items[i] };
}

/* The total of an event in a run, or NULL. */
static const struct measure *event_total(const struct measures *m, const char *event)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (m->list.items[i].kind == MEASURE_TOTAL &&
		    strcmp(m->list.items[i].event, event) == 0)
			return &m->list.items[i];
	return NULL;
}

struct estimate {
	double value, variance; /* NAN: not known */
};

/*
 * Divides a part by its total. Both vary together, so the error of the share is smaller than that
 * of the part.
 */
static struct estimate as_share(struct estimate part, const struct measure *whole)
{
	double share, variance;

	if (whole == NULL || whole->value <= 0)
		return (struct estimate){ NAN, NAN };
	share = part.value / whole->value;
	variance = part.variance * (1 - 2 * share) + share * share * whole->error * whole->error;
	return (struct estimate){ share, fmax(variance, 0) / (whole->value * whole->value) };
}

/* A node as a share of all cycles, which other events count: their errors are independent. */
static struct estimate as_share_of_cycles(struct estimate node, const struct measures *run,
					  const struct measure *m)
{
	for (size_t i = 0; m != NULL && i < run->list.n; i++) {
		const struct measure *whole = &run->list.items[i];
		double share;

		if (whole->kind != MEASURE_CYCLES || strcmp(whole->name, m->event) != 0 ||
		    whole->value <= 0)
			continue;
		if (whole == m)
			return (struct estimate){ 1, 0 };
		share = node.value / whole->value;
		return (struct estimate){ share, (node.variance +
						  share * share * whole->error * whole->error) /
							 (whole->value * whole->value) };
	}
	return (struct estimate){ NAN, NAN };
}

/*
 * The value that is compared, after the division. A measure without samples counts as 0. Its error
 * is then one sample, of the mean size that samples have in the other run.
 */
static struct estimate compared_value(const struct diff *d, const struct measures *run,
				      const struct measure *m, const struct measure *other)
{
	const struct measure *named = m != NULL ? m : other;
	struct estimate e = { 0, 0 };
	double seconds = (double)run->elapsed_ns / 1e9;

	if (m != NULL)
		e = (struct estimate){ m->value, m->error * m->error };
	else if (other->samples > 0 && other->kind != MEASURE_CYCLES) /* those were not collected */
		e.variance = other->value / (double)other->samples * other->value /
			     (double)other->samples;
	else
		e = (struct estimate){ NAN, NAN };
	if (named->kind == MEASURE_CYCLES && d->per == DIFF_PER_TOTAL)
		return as_share_of_cycles(e, run, m);
	if (named->samples == 0 || d->per == DIFF_PER_RUN)
		return e;
	if (d->per == DIFF_PER_TOTAL)
		return named->kind == MEASURE_TOTAL ? e
						    : as_share(e, event_total(run, named->event));
	return (struct estimate){ e.value / seconds, e.variance / (seconds * seconds) };
}

/* An upper bound of what saturated counters hide of a measure. */
static double hidden_of(const struct measure *m)
{
	return m == NULL ? 0 : m->saturated * (LATENCY_SATURATED_TIMES - 1);
}

/*
 * Bounds of a share. It is lowest if saturated counters hide something of the other parts only, and
 * highest if they hide something of this part only.
 */
static struct diff_range range_of_share(double value, const struct measure *m,
					const struct measure *whole)
{
	double own = hidden_of(m), others = fmax(hidden_of(whole) - own, 0);

	if (isnan(value))
		return (struct diff_range){ value, value };
	return (struct diff_range){
		value * whole->value / (whole->value + others),
		(value * whole->value + own) / (whole->value + own),
	};
}

/* Is the measure compared as a share of its event's total? */
static bool is_compared_as_share(const struct diff *d, const struct measure *m)
{
	return m != NULL && m->samples > 0 && m->kind != MEASURE_TOTAL &&
	       m->kind != MEASURE_CYCLES && d->per == DIFF_PER_TOTAL;
}

static uint64_t n_saturated_of(const struct diff *d, const struct measures *run,
			       const struct measure *m)
{
	const struct measure *of = is_compared_as_share(d, m) ? event_total(run, m->event) : m;

	return of != NULL ? of->n_saturated : 0;
}

/* Bounds of the value that is compared. */
static struct diff_range range_of(const struct diff *d, const struct measures *run,
				  const struct measure *m, double value)
{
	/* scales to the value that is compared */
	double factor = m == NULL || m->value == 0 ? 0 : value / m->value;

	if (is_compared_as_share(d, m))
		return range_of_share(value, m, event_total(run, m->event));
	return (struct diff_range){ value, value + hidden_of(m) * factor };
}

static void estimate_row(const struct diff *d, struct diff_row *row)
{
	struct estimate a = compared_value(d, d->a, row->a, row->b);
	struct estimate b = compared_value(d, d->b, row->b, row->a);

	row->from = a.value;
	row->to = b.value;
	row->from_range = range_of(d, d->a, row->a, a.value);
	row->to_range = range_of(d, d->b, row->b, b.value);
	row->n_saturated = n_saturated_of(d, d->a, row->a) + n_saturated_of(d, d->b, row->b);
	row->error = sqrt(a.variance + b.variance);
	if (diff_is_scaled(row))
		row->error = NAN;
}

/* The number of standard errors that chance exceeds, in either direction, with this probability. */
static double deviations_of(double probability)
{
	double low = 0, high = 40;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / sqrt(2)) > probability)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * Does chance explain the number of saturated counters? Its variance is the number itself
 * (Poisson).
 */
static bool chance_explains_saturated(const struct diff_row *row, double limit)
{
	return (double)row->n_saturated <= limit * limit;
}

/* A change of more than `limit` standard errors is certain. */
static enum diff_certainty certainty_of(const struct diff_row *row, double limit)
{
	struct diff_range range = diff_change_range(row);
	double change = fabs(row->to - row->from), noise = limit * row->error;

	if (isnan(row->error) || isnan(change))
		return DIFF_UNKNOWN;
	if (range.low > noise || range.high < -noise)
		return DIFF_CERTAIN;
	if (range.low >= -noise && range.high <= noise)
		return DIFF_NOISE;
	return change <= noise && chance_explains_saturated(row, limit) ? DIFF_NOISE
									: DIFF_SATURATED;
}

/*
 * Bonferroni correction: each row gets an equal part of the probability of a false alarm, because
 * in a table of many rows one is far off by chance.
 */
static void set_certainties(struct diff *d)
{
	size_t n_of_kind[N_MEASURE_KINDS] = { 0 };
	double limits[N_MEASURE_KINDS];

	for (size_t i = 0; i < d->rows.n; i++)
		n_of_kind[diff_measure(&d->rows.items[i])->kind]++;
	for (int i = 0; i < N_MEASURE_KINDS; i++)
		limits[i] =
			n_of_kind[i] == 0 ? 0 : deviations_of(false_alarm / (double)n_of_kind[i]);
	for (size_t i = 0; i < d->rows.n; i++) {
		struct diff_row *row = &d->rows.items[i];

		row->certainty = certainty_of(row, limits[diff_measure(row)->kind]);
	}
}

/*
 * What the rows of an event are sorted by: the size of the change. Counted measures have different
 * units, so they are not sorted.
 */
static double change_size(const struct diff_row *row)
{
	double size = diff_measure(row)->samples > 0 ? fabs(row->to - row->from) : 0;

	/* the hidden change may be as large as the saturated part */
	if (row->certainty == DIFF_SATURATED)
		size = fmax(size, fmax(row->from * diff_saturated_part(row->a),
				       row->to * diff_saturated_part(row->b)));
	return isnan(size) ? -1 : size;
}

static int diff_compare_rows(const void *left, const void *right)
{
	const struct diff_row *x = left, *y = right;
	const struct measure *a = diff_measure(x), *b = diff_measure(y);
	double size_a = change_size(x), size_b = change_size(y);
	int order;

	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	if (((a->samples == 0 && b->samples == 0) || a->kind == MEASURE_CYCLES) &&
	    x->number != y->number)
		return x->number < y->number ? -1 : 1;
	order = strcmp(a->event, b->event);
	if (order == 0)
		order = (size_a < size_b) - (size_a > size_b);
	if (order == 0)
		order = strcmp(a->name, b->name);
	return order != 0 ? order : strcmp(a->module, b->module);
}

void diff_make(const struct measures *a, const struct measures *b, enum diff_per per,
	       struct diff *out)
{
	struct strings strings;
	struct index of_b;

	*out = (struct diff){ .a = a, .b = b, .per = per };
	strings_init(&strings);
	index_init(&of_b, b, &strings);
	pair_measures(out, &of_b);
	index_release(&of_b);
	strings_release(&strings);
	for (size_t i = 0; i < out->rows.n; i++) {
		out->rows.items[i].number = i;
		estimate_row(out, &out->rows.items[i]);
	}
	set_certainties(out);
	if (out->rows.n > 1)
		qsort(out->rows.items, out->rows.n, sizeof(*out->rows.items), diff_compare_rows);
}

void diff_release(struct diff *d)
{
	vec_release(&d->rows);
}

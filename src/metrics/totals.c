/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/totals.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/tuples.h"

/* Rounding of times that were printed: less than this is not multiplexing. */
static const double exact_coverage = 0.999;

/* Where and when a count was made. */
enum { TARGET_CPU, TARGET_TID, TARGET_INTERVAL, TARGET_WHERE, N_TARGET };

/* What is summed up: an event, and which of its counts. */
enum { SERIES_EVENT, SERIES_OCCURRENCE, N_SERIES };

struct summing {
	struct stat_totals *out;
	struct strings names;
	struct tuples targets, series;
	struct tuples seen;	 /* event and target, and … */
	VEC_OF(uint32_t) n_seen; /* … how often */
	VEC_OF(bool) has_counts; /* of each target: something was counted */
};

static uint64_t metrics_totals_word_of(int32_t number)
{
	return (uint32_t)number;
}

static uint32_t metrics_totals_target_of(struct summing *s, const struct count *c)
{
	uint64_t target[N_TARGET] = {
		[TARGET_CPU] = metrics_totals_word_of(c->cpu),
		[TARGET_TID] = metrics_totals_word_of(c->tid),
		[TARGET_INTERVAL] = c->interval,
	};
	uint32_t number;

	if (c->where != NULL)
		target[TARGET_WHERE] = strings_addz(&s->names, c->where).v;
	number = tuples_add(&s->targets, target);
	if (number == s->has_counts.n)
		*vec_add(&s->has_counts) = false;
	s->has_counts.items[number] |= c->state == COUNT_COUNTED;
	return number;
}

/* How many times the event was counted there before. */
static uint32_t occurrence_of(struct summing *s, uint64_t event, uint32_t target)
{
	uint64_t pair[2] = { event, target };
	uint32_t number = tuples_add(&s->seen, pair);

	if (number == s->n_seen.n)
		*vec_add(&s->n_seen) = 0;
	return s->n_seen.items[number]++;
}

static struct stat_total *total_of(struct summing *s, const struct count *c, uint32_t target)
{
	uint64_t event = strings_addz(&s->names, c->event).v;
	uint64_t key[N_SERIES] = {
		[SERIES_EVENT] = event,
		[SERIES_OCCURRENCE] = occurrence_of(s, event, target),
	};
	uint32_t number = tuples_add(&s->series, key);

	if (number == s->out->list.n)
		*vec_add(&s->out->list) = (struct stat_total){
			.event = c->event,
			.unit = c->unit,
			.group = c->group,
			.occurrence = (uint32_t)key[SERIES_OCCURRENCE],
			.state = c->state,
			.is_user_only = c->is_user_only,
		};
	return &s->out->list.items[number];
}

/* Counters that stop, or values that were cut, at the end of 32 or 64 bits. */
static bool is_full(const struct count *c)
{
	return c->raw == UINT32_MAX || c->raw == UINT64_MAX || c->value == (double)UINT32_MAX ||
	       c->value >= (double)UINT64_MAX;
}

static void add_count(struct stat_total *t, const struct count *c, bool others_counted)
{
	if (c->state != COUNT_COUNTED) {
		t->is_partial |= others_counted;
		return;
	}
	t->state = COUNT_COUNTED;
	t->value += c->value;
	t->enabled_ns += c->enabled_ns;
	t->running_ns += c->running_ns;
	t->spread = fmax(t->spread, c->spread);
	t->n_runs = c->n_runs > t->n_runs ? c->n_runs : t->n_runs;
	t->is_full |= is_full(c);
}

/*
 * An event in several groups that take turns, such as cycles in each: together they saw more of the
 * time than each alone.
 */
static void add_turns(struct stat_totals *totals)
{
	size_t n = totals->list.n;

	for (size_t i = 0; i < n; i++) {
		struct stat_total sum = totals->list.items[i];
		double raw = 0;

		if (sum.occurrence > 0 || sum.group == 0 || sum.state != COUNT_COUNTED)
			continue;
		sum.running_ns = 0;
		sum.group = 0;
		for (size_t k = i; k < n; k++) {
			const struct stat_total *t = &totals->list.items[k];

			if (t->event != sum.event && strcasecmp(t->event, sum.event) != 0)
				continue;
			if (t->group == 0 || t->state != COUNT_COUNTED || t->enabled_ns == 0 ||
			    stat_total_coverage(t) >= exact_coverage) {
				sum.running_ns = 0;
				break;
			}
			raw += t->value * stat_total_coverage(t);
			sum.running_ns += t->running_ns;
			sum.occurrence = t->occurrence + 1;
			sum.is_full |= t->is_full;
			sum.is_partial |= t->is_partial;
			sum.spread = fmax(sum.spread, t->spread);
		}
		if (sum.running_ns == 0 || sum.occurrence < 2)
			continue;
		sum.value = raw * ((double)sum.enabled_ns / (double)sum.running_ns);
		if (sum.running_ns > sum.enabled_ns)
			sum.running_ns = sum.enabled_ns;
		*vec_add(&totals->turns) = sum;
	}
}

void stat_totals_init(struct stat_totals *out, const struct count *counts, size_t n)
{
	struct summing s = { .out = out };

	*out = (struct stat_totals){ 0 };
	strings_init(&s.names);
	tuples_init(&s.targets, N_TARGET);
	tuples_init(&s.series, N_SERIES);
	tuples_init(&s.seen, 2);
	for (size_t i = 0; i < n; i++)
		metrics_totals_target_of(&s, &counts[i]);
	for (size_t i = 0; i < n; i++) {
		uint32_t target = metrics_totals_target_of(&s, &counts[i]);

		add_count(total_of(&s, &counts[i], target), &counts[i], s.has_counts.items[target]);
	}
	add_turns(out);
	vec_release(&s.n_seen);
	vec_release(&s.has_counts);
	tuples_release(&s.targets);
	tuples_release(&s.series);
	tuples_release(&s.seen);
	strings_release(&s.names);
}

void stat_totals_release(struct stat_totals *t)
{
	vec_release(&t->list);
	vec_release(&t->turns);
}

double stat_total_coverage(const struct stat_total *t)
{
	return t->enabled_ns == 0 ? 1 : (double)t->running_ns / (double)t->enabled_ns;
}

enum cell_mark stat_total_mark(const struct stat_total *t, double least_coverage)
{
	double coverage = stat_total_coverage(t);

	if (t->is_implausible || t->reads_zero)
		return MARK_IMPLAUSIBLE;
	if (t->is_full)
		return MARK_SATURATED;
	if (coverage < least_coverage)
		return MARK_SPARSE;
	return coverage < exact_coverage || t->is_partial ? MARK_SCALED : MARK_EXACT;
}

/* Does `a` say more than `b`, which may be NULL? */
static bool is_better(const struct stat_total *a, const struct stat_total *b)
{
	if (b == NULL)
		return true;
	if ((a->state == COUNT_COUNTED) != (b->state == COUNT_COUNTED))
		return a->state == COUNT_COUNTED;
	return stat_total_coverage(a) > stat_total_coverage(b);
}

const struct stat_total *stat_totals_find(const struct stat_totals *t, const char *event)
{
	const struct stat_total *best = NULL;

	for (size_t i = 0; i < t->list.n; i++)
		if (strcasecmp(t->list.items[i].event, event) == 0 &&
		    is_better(&t->list.items[i], best))
			best = &t->list.items[i];
	for (size_t i = 0; i < t->turns.n; i++)
		if (strcasecmp(t->turns.items[i].event, event) == 0 &&
		    is_better(&t->turns.items[i], best))
			best = &t->turns.items[i];
	return best;
}

const struct stat_total *stat_totals_find_in(const struct stat_totals *t, const char *event,
					     uint32_t group)
{
	const struct stat_total *best = NULL;

	for (size_t i = 0; i < t->list.n; i++)
		if (t->list.items[i].group == group &&
		    strcasecmp(t->list.items[i].event, event) == 0 &&
		    is_better(&t->list.items[i], best))
			best = &t->list.items[i];
	return best;
}

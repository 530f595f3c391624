/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/ranking.h"

#include <stdlib.h>

#include "base/tuples.h"

/* What matters of an access. */
struct access_sum {
	struct c2c_counts counts;
	struct c2c_latency contended, reloads;
};

static struct access_sum sum_of(const struct c2c *s, const struct c2c_access *a)
{
	struct access_sum sum = { 0 };

	for (uint32_t i = 0; i < a->n_touches; i++)
		c2c_touch_add_waits(s->accesses_seen, a->first_touch + i, &sum.counts,
				    &sum.contended, &sum.reloads);
	return sum;
}

/* Of its loads that waited for others. */
static struct c2c_latency c2c_ranking_waits_of(const struct access_sum *sum)
{
	struct c2c_latency waits = sum->contended;

	c2c_latency_merge(&waits, &sum->reloads);
	return waits;
}

static int compare_ranked(const void *left, const void *right)
{
	const struct c2c_ranked *a = left, *b = right;

	if (a->rank != b->rank)
		return (a->rank < b->rank) - (a->rank > b->rank);
	if (a->records != b->records)
		return (a->records < b->records) - (a->records > b->records);
	return (a->number > b->number) - (a->number < b->number);
}

static void add_ranked(const struct access_sum *sum, uint32_t number, bool writers,
		       struct c2c_ranked *r)
{
	struct c2c_latency own = c2c_ranking_waits_of(sum);

	if (r->records == 0)
		r->number = number;
	r->records += sum->counts.n[C2C_RECORDS];
	r->rank += writers ? 0 : own.cycles;
	r->has_reloads |= sum->reloads.n > 0;
	c2c_latency_merge(&r->waits, &own);
}

/* What is one row: an access; of many objects all that an instruction does. */
static uint32_t cause_row(const struct c2c *s, const struct c2c_cause *f, uint32_t number,
			  struct tuples *rows)
{
	const struct c2c_access *a = &s->accesses.items[number];
	const uint64_t one[] = { number, UINT64_MAX }, many[] = { a->place, a->kind };

	return tuples_add(rows, f->n_objects > 1 || f->n_variables > 1 ? many : one);
}

static void add_threads(const struct c2c *s, uint32_t number, uint32_t row, struct tuples *threads,
			struct c2c_ranked *r)
{
	const struct c2c_access *a = &s->accesses.items[number];

	for (uint32_t i = 0; i < a->n_touches; i++) {
		struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, a->first_touch + i);
		uint32_t n = threads->n;

		r->n_threads += tuples_add(threads, (const uint64_t[]){ row, k.tid }) == n;
	}
}

/* Atomics are writers, and those that waited for the line readers, too. */
static bool may_be_ranked(const struct c2c_access *a, bool writers)
{
	return writers ? c2c_kind_writes(a->kind)
		       : !c2c_kind_writes(a->kind) || a->kind & C2C_KIND_ATOMIC;
}

static bool is_ranked(const struct c2c_access *a, const struct access_sum *sum, bool writers)
{
	return writers || !c2c_kind_writes(a->kind) || c2c_ranking_waits_of(sum).n > 0;
}

static void keep_waiting(struct c2c_ranking *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].waits.n > 0)
			l->items[n++] = l->items[i];
	l->n = n;
}

struct c2c_ranking c2c_rank_accesses(const struct c2c *s, const struct c2c_cause *f, bool writers)
{
	bool waits = f->sum.contended.n + f->sum.reloads.n > 0;
	struct c2c_ranking all = { 0 };
	struct tuples rows, threads;

	tuples_init(&rows, 2);
	tuples_init(&threads, 2);
	for (size_t line = 0; line < f->lines.n; line++) {
		const struct c2c_subject *subject = &s->subjects.items[f->lines.items[line]];

		for (uint32_t i = 0; i < subject->n_accesses; i++) {
			uint32_t number = subject->first_access + i, row;
			const struct c2c_access *a = &s->accesses.items[number];
			struct access_sum sum;

			if (!may_be_ranked(a, writers))
				continue;
			sum = sum_of(s, a);
			if (!is_ranked(a, &sum, writers))
				continue;
			row = cause_row(s, f, number, &rows);
			if (row == all.n)
				vec_add(&all);
			add_ranked(&sum, number, writers, &all.items[row]);
			add_threads(s, number, row, &threads, &all.items[row]);
		}
	}
	tuples_release(&rows);
	tuples_release(&threads);
	if (!writers && waits)
		keep_waiting(&all);
	if (all.n > 1)
		qsort(all.items, all.n, sizeof(*all.items), compare_ranked);
	return all;
}

uint32_t c2c_ranking_place(const struct c2c *s, const struct c2c_ranking *all)
{
	return all->n > 0 ? s->accesses.items[all->items[0].number].place : UINT32_MAX;
}

uint32_t c2c_first_place(const struct c2c *s, const struct c2c_cause *f, bool writers)
{
	struct c2c_ranking all = c2c_rank_accesses(s, f, writers);
	uint32_t place = c2c_ranking_place(s, &all);

	vec_release(&all);
	return place;
}

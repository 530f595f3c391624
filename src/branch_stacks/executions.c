/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/executions.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"

enum { LONGEST = 64 << 10 }; /* of segments that may reach into the function */

/* The number of the first instruction at an offset or behind it. */
static size_t first_from(const uint64_t *offsets, size_t n, uint64_t offset)
{
	return bisect(0, n, i, offsets[i] < offset);
}

static size_t executions_at(const uint64_t *offsets, size_t n, uint64_t offset)
{
	size_t at = first_from(offsets, n, offset);

	return at < n && offsets[at] == offset ? at : n;
}

/* Adds to `first`, and takes it off again behind `last`: sums of all before give the counts. */
static void mark(struct execution *at, size_t first, size_t last, const struct segment_sum *sum)
{
	at[first].n += sum->n;
	at[first].weight += sum->weight;
	at[last].n -= sum->n;
	at[last].weight -= sum->weight;
}

static void add_up(struct execution *at, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		at[i].n += at[i - 1].n;
		at[i].weight += at[i - 1].weight;
	}
}

/* The first segment that begins at an offset of a module or behind it. */
static size_t segments_from(const struct segments *s, struct module_id module, uint64_t offset)
{
	return bisect(
		0, s->list.n, i,
		s->list.items[i].module.v < module.v ||
			(s->list.items[i].module.v == module.v && s->list.items[i].start < offset));
}

static void count_runs(struct executions *e, const struct branch_stacks *b, struct module_id module,
		       uint64_t to, const uint64_t *offsets)
{
	const struct segments *s = &b->segments;
	uint64_t least = offsets[0] > LONGEST ? offsets[0] - LONGEST : 0;

	for (size_t i = segments_from(s, module, least); i < s->list.n; i++) {
		const struct segment *at = &s->list.items[i];
		size_t first, last;

		if (at->module.v != module.v || at->start >= to)
			break;
		if (at->fault != SEGMENT_GOOD || at->end < offsets[0])
			continue;
		first = first_from(offsets, e->n, at->start);
		last = first_from(offsets, e->n, at->end);
		last = last < e->n ? last : e->n - 1;
		mark(e->runs, first, last + 1, segment_sum(s, at));
		mark(e->goes_on, first, last, segment_sum(s, at));
	}
	add_up(e->runs, e->n + 1);
	add_up(e->goes_on, e->n + 1);
}

static int executed_compare(const void *left, const void *right)
{
	const struct executed_branch *a = left, *b = right;
	const uint64_t words[][2] = {
		{ a->from, b->from },
		{ a->to, b->to },
		{ a->from_place.module.v, b->from_place.module.v },
		{ a->from_place.offset, b->from_place.offset },
		{ a->to_place.module.v, b->to_place.module.v },
		{ a->to_place.offset, b->to_place.offset },
		{ a->type, b->type },
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (words[i][0] != words[i][1])
			return words[i][0] < words[i][1] ? -1 : 1;
	return 0;
}

static void collect_branches(struct executions *e, const struct branch_stacks *b,
			     struct module_id module, const uint64_t *offsets)
{
	struct taken_branch taken;

	for (uint64_t at = 0; branch_stacks_next_taken(b, &at, &taken);) {
		struct executed_branch branch = {
			.from = e->n,
			.to = e->n,
			.from_place = taken.from,
			.to_place = taken.to,
			.type = taken.type,
			.sum = taken.sum,
		};

		if (branch.from_place.module.v == module.v)
			branch.from = executions_at(offsets, e->n, branch.from_place.offset);
		if (branch.to_place.module.v == module.v)
			branch.to = executions_at(offsets, e->n, branch.to_place.offset);
		if (branch.from < e->n || branch.to < e->n)
			*vec_add(&e->branches) = branch;
	}
	if (e->branches.n > 1)
		qsort(e->branches.items, e->branches.n, sizeof(*e->branches.items),
		      executed_compare);
}

void executions_init_runs(struct executions *e, const struct branch_stacks *b,
			  struct module_id module, uint64_t to, const uint64_t *offsets, size_t n)
{
	*e = (struct executions){
		.n = n,
		.runs = mem_zalloc(n + 1, sizeof(*e->runs)),
		.goes_on = mem_zalloc(n + 1, sizeof(*e->goes_on)),
	};
	if (n > 0)
		count_runs(e, b, module, to, offsets);
}

void executions_init(struct executions *e, const struct branch_stacks *b, struct module_id module,
		     uint64_t to, const uint64_t *offsets, size_t n)
{
	executions_init_runs(e, b, module, to, offsets, n);
	if (n > 0)
		collect_branches(e, b, module, offsets);
}

size_t executions_first_from(const struct executions *e, size_t from)
{
	return bisect(0, e->branches.n, i, e->branches.items[i].from < from);
}

void executions_release(struct executions *e)
{
	free(e->runs);
	free(e->goes_on);
	vec_release(&e->branches);
}

/* The first duration of a segment with this number or a higher one. */
static size_t timed_from(const struct branch_stacks *b, uint64_t segment)
{
	return bisect(0, b->timed.n, i, b->timed.items[i].segment < segment);
}

/* The smallest of the durations `first` … `last` - 1 that is not below a part of all. */
static uint64_t timed_quantile(const struct branch_stacks *b, size_t first, size_t last,
			       double wanted)
{
	uint64_t below = 0;

	for (size_t i = first; i < last; i++) {
		below += b->timed.items[i].n;
		if ((double)below >= wanted)
			return b->timed.items[i].cycles;
	}
	return 0;
}

struct stack_duration segment_duration(const struct branch_stacks *b, const struct segment *s)
{
	size_t first = timed_from(b, s->number), last = timed_from(b, (uint64_t)s->number + 1);
	struct stack_duration d = { 0 };

	for (size_t i = first; i < last; i++)
		d.n += b->timed.items[i].n;
	d.p50 = timed_quantile(b, first, last, 0.5 * (double)d.n);
	d.p90 = timed_quantile(b, first, last, 0.9 * (double)d.n);
	d.p99 = timed_quantile(b, first, last, 0.99 * (double)d.n);
	return d;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/executions.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "branch_stacks/durations.h"

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
static void mark(struct execution *at, size_t first, size_t last, const struct good_segment *s)
{
	at[first].n += s->n;
	at[first].weight += s->weight;
	at[last].n -= s->n;
	at[last].weight -= s->weight;
}

static void add_up(struct execution *at, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		at[i].n += at[i - 1].n;
		at[i].weight += at[i - 1].weight;
	}
}

static bool is_behind(const struct segment *s, struct module_id module, uint64_t to)
{
	return s->module.v > module.v || (s->module.v == module.v && s->start >= to);
}

static void count_runs(struct executions *e, const struct branch_stacks *b, struct module_id module,
		       uint64_t to, const uint64_t *offsets)
{
	const struct segments *s = &b->segments;
	uint64_t least = offsets[0] > LONGEST ? offsets[0] - LONGEST : 0;
	uint64_t next = segments_good_from(s, module, least);
	struct good_segment good;

	while (segments_next_good(s, &next, &good) && !is_behind(&good.segment, module, to)) {
		size_t first, last;

		if (good.segment.module.v != module.v || good.segment.end < offsets[0])
			continue;
		first = first_from(offsets, e->n, good.segment.start);
		last = first_from(offsets, e->n, good.segment.end);
		last = last < e->n ? last : e->n - 1;
		mark(e->runs, first, last + 1, &good);
		mark(e->goes_on, first, last, &good);
	}
	add_up(e->runs, e->n + 1);
	add_up(e->goes_on, e->n + 1);
}

int executed_compare(const void *left, const void *right)
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

void executions_init(struct executions *e, const struct branch_stacks *b, struct module_id module,
		     uint64_t to, const uint64_t *offsets, size_t n)
{
	*e = (struct executions){
		.stacks = b,
		.module = module,
		.offsets = mem_alloc(n + 1, sizeof(*e->offsets)),
		.n = n,
		.runs = mem_zalloc(n + 1, sizeof(*e->runs)),
		.goes_on = mem_zalloc(n + 1, sizeof(*e->goes_on)),
	};
	if (n == 0)
		return;
	memcpy(e->offsets, offsets, n * sizeof(*e->offsets));
	count_runs(e, b, module, to, offsets);
}

bool executions_next_branch(const struct executions *e, uint64_t *at, struct executed_branch *out)
{
	struct taken_branch taken;

	while (e->n > 0 && branch_stacks_next_taken(e->stacks, at, &taken)) {
		size_t from = e->n, to = e->n;

		if (taken.from.module.v == e->module.v)
			from = executions_at(e->offsets, e->n, taken.from.offset);
		if (taken.to.module.v == e->module.v)
			to = executions_at(e->offsets, e->n, taken.to.offset);
		if (from == e->n && to == e->n)
			continue;
		*out = (struct executed_branch){
			.from = from,
			.to = to,
			.from_place = taken.from,
			.to_place = taken.to,
			.type = taken.type,
			.sum = taken.sum,
		};
		return true;
	}
	return false;
}

void executions_release(struct executions *e)
{
	free(e->offsets);
	free(e->runs);
	free(e->goes_on);
}

/* The first duration of a segment with this number or a higher one. */
static size_t timed_from(const struct branch_stacks *b, uint64_t segment)
{
	return bisect(0, b->timed.n, i, b->timed.items[i].segment < segment);
}

struct stack_duration segment_duration(const struct branch_stacks *b, const struct good_segment *s)
{
	size_t first = timed_from(b, s->segment.number), n;
	struct stack_duration d;
	struct segment_cycles *times;

	if (b->segments.sums != NULL)
		return s->duration;
	n = timed_from(b, (uint64_t)s->segment.number + 1) - first;
	times = mem_alloc(n + 1, sizeof(*times));
	for (size_t i = 0; i < n; i++)
		times[i] = (struct segment_cycles){ b->timed.items[first + i].cycles,
						    b->timed.items[first + i].n };
	d = stack_duration_of(times, n);
	free(times);
	return d;
}

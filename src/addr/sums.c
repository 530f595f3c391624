/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/sums.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory_group.h"

static_assert(sizeof(struct addr_brief) == 64, "a cache line");

void addr_sums_add(struct addr_sums *to, const struct addr_sums *from)
{
	if (to->n == 0 || from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (to->n == 0 || from->least < to->least)
		to->least = from->least;
	to->n += from->n;
	memory_counts_merge(&to->kinds, &from->kinds);
	to->cycles += from->cycles;
	to->full_cycles += from->full_cycles;
	to->n_cycles += from->n_cycles;
	to->n_saturated += from->n_saturated;
	to->n_translated += from->n_translated;
	to->walks += from->walks;
	to->walk_cycles += from->walk_cycles;
	to->n_walk_cycles += from->n_walk_cycles;
	for (int i = 0; i < N_SOURCE_LEVELS; i++)
		to->levels[i] += from->levels[i];
	to->memory_operations += from->memory_operations;
	to->n_near += from->n_near;
	to->n_far += from->n_far;
	to->far_cycles += from->far_cycles;
	to->page_nodes |= from->page_nodes;
}

static void add_counts(struct addr_sums *to, uint64_t counts)
{
	to->n += brief_count(counts, BRIEF_N);
	to->kinds.loads += brief_count(counts, BRIEF_LOADS);
	to->kinds.stores += brief_count(counts, BRIEF_STORES);
	to->kinds.atomics += brief_count(counts, BRIEF_ATOMICS);
	to->n_cycles += brief_count(counts, BRIEF_N_CYCLES);
	to->n_translated += brief_count(counts, BRIEF_N_TRANSLATED);
	to->walks += brief_count(counts, BRIEF_WALKS);
	to->n_walk_cycles += brief_count(counts, BRIEF_N_WALK_CYCLES);
}

/* Without its wide part. */
static void add_brief(struct addr_sums *to, const struct addr_brief *from)
{
	if (brief_count(from->counts, BRIEF_N) == 0)
		return;
	to->first_ns = to->n == 0 || from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
	to->least = to->n == 0 || from->least < to->least ? from->least : to->least;
	add_counts(to, from->counts);
	to->cycles += from->cycles;
	to->memory_operations += from->memory_operations;
	to->full_cycles += from->full_cycles;
	to->n_saturated += from->n_saturated;
	to->walk_cycles += from->walk_cycles;
	to->n_near += from->n_near;
	to->n_far += from->n_far;
	to->far_cycles += from->far_cycles;
	to->page_nodes |= from->page_nodes;
	for (int i = SOURCE_UNKNOWN + 1; i < N_SOURCE_LEVELS; i++)
		to->levels[i] += from->levels[i];
}

/* Of a record that is alone. */
static struct addr_sums sums_of_record(const struct addr_record *r)
{
	bool has_nodes = r->page_nodes != 0 && r->cpu_nodes != 0;
	struct addr_sums sums = {
		.cycles = r->cycles,
		.first_ns = r->time_ns,
		.least = r->address,
		.walk_cycles = r->walk_cycles,
		.memory_operations = r->operations,
		.page_nodes = r->page_nodes,
		.n_near = has_nodes && r->page_nodes == r->cpu_nodes,
		.n_far = has_nodes && r->page_nodes != r->cpu_nodes,
	};

	add_counts(&sums, r->counts);
	if (r->is_saturated) {
		sums.full_cycles = r->cycles;
		sums.n_saturated = 1;
	}
	if (r->level != SOURCE_UNKNOWN)
		sums.levels[r->level] = 1;
	if (sums.n_far > 0)
		sums.far_cycles = r->cycles;
	return sums;
}

struct addr_record addr_record_of(const struct access *a)
{
	return (struct addr_record){
		.address = a->address,
		.counts = brief_one(BRIEF_N, true) |
			  (a->kind == MEMORY_NONE ? 0 : brief_one(BRIEF_LOADS + a->kind, true)) |
			  brief_one(BRIEF_N_CYCLES, a->has_cycles) |
			  brief_one(BRIEF_N_TRANSLATED, a->is_translated) |
			  brief_one(BRIEF_WALKS, a->has_walk) |
			  brief_one(BRIEF_N_WALK_CYCLES, a->has_walk_cycles),
		.cycles = a->has_cycles ? a->cycles : 0,
		.walk_cycles = a->has_walk ? a->walk_cycles : 0,
		.is_saturated = a->has_cycles && a->is_saturated,
		.level = a->level,
	};
}

static const struct addr_brief empty_brief = { .first_ns = UINT64_MAX, .least = UINT64_MAX };

void addr_briefs_release(struct addr_briefs *briefs)
{
	free(briefs->items);
	vec_release(&briefs->wide);
	*briefs = (struct addr_briefs){ 0 };
}

/* Aligned memory cannot be resized. */
static void grow_briefs(struct addr_briefs *briefs, size_t n)
{
	enum { FIRST = 64 };
	size_t more = memory_is_scarce() ? briefs->cap / 16 : briefs->cap; /* as of a vector */
	size_t cap = briefs->cap == 0 ? FIRST : briefs->cap + more;
	struct addr_brief *items;

	cap = cap < n ? n : cap;
	items = mem_aligned(cap, sizeof(*items));
	if (briefs->n > 0)
		memcpy(items, briefs->items, briefs->n * sizeof(*items));
	free(briefs->items);
	briefs->items = items;
	briefs->cap = cap;
}

void addr_briefs_reach(struct addr_briefs *briefs, size_t n)
{
	if (n > briefs->cap)
		grow_briefs(briefs, n);
	while (briefs->n < n)
		briefs->items[briefs->n++] = empty_brief;
}

static struct addr_sums *get_wide(struct addr_briefs *briefs, struct addr_brief *of)
{
	if (of->wide == 0) {
		vec_add(&briefs->wide);
		of->wide = (uint32_t)briefs->wide.n;
	}
	return &briefs->wide.items[of->wide - 1];
}

void addr_brief_empty(struct addr_briefs *briefs, struct addr_brief *b)
{
	uint32_t wide;

	add_brief(get_wide(briefs, b), b);
	wide = b->wide;
	*b = empty_brief;
	b->wide = wide;
}

void addr_brief_add_large(struct addr_briefs *briefs, struct addr_brief *to, struct addr_record r)
{
	struct addr_sums sums = sums_of_record(&r);

	addr_sums_add(get_wide(briefs, to), &sums);
}

void addr_brief_add_nodes(struct addr_brief *to, uint64_t page_nodes, uint64_t cpu_nodes,
			  uint32_t cycles)
{
	bool is_near = page_nodes == cpu_nodes, is_far = cpu_nodes != 0 && !is_near;

	to->page_nodes |= (uint8_t)page_nodes;
	to->n_near += is_near;
	to->n_far += is_far;
	to->far_cycles += is_far ? cycles : 0;
}

struct addr_sums addr_briefs_get(const struct addr_briefs *briefs, uint32_t group)
{
	const struct addr_brief *b = &briefs->items[group];
	struct addr_sums sums =
		b->wide != 0 ? briefs->wide.items[b->wide - 1]
			     : (struct addr_sums){ .first_ns = UINT64_MAX, .least = UINT64_MAX };

	add_brief(&sums, b);
	return sums;
}

static void brief_merge(struct addr_brief *to, const struct addr_brief *from)
{
	to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
	to->least = from->least < to->least ? from->least : to->least;
	to->cycles += from->cycles;
	to->walk_cycles += from->walk_cycles;
	to->memory_operations += from->memory_operations;
	to->full_cycles += from->full_cycles;
	to->far_cycles += from->far_cycles;
	to->counts += from->counts;
	to->n_near += from->n_near;
	to->n_far += from->n_far;
	to->n_saturated += from->n_saturated;
	to->page_nodes |= from->page_nodes;
	for (int i = 0; i < N_SOURCE_LEVELS; i++)
		to->levels[i] += from->levels[i];
}

void addr_briefs_merge(struct addr_briefs *briefs, uint32_t group, const struct addr_briefs *from,
		       uint32_t from_group)
{
	struct addr_brief *to = &briefs->items[group];
	const struct addr_brief *more = &from->items[from_group];

	if (brief_count(to->counts, BRIEF_N) + brief_count(more->counts, BRIEF_N) > BRIEF_RECORDS)
		add_brief(get_wide(briefs, to), more);
	else
		brief_merge(to, more);
	if (more->wide != 0)
		addr_sums_add(get_wide(briefs, to), &from->wide.items[more->wide - 1]);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/sums.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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
	to->cpu_nodes |= from->cpu_nodes;
}

static struct addr_sums sums_of_brief(const struct addr_brief *from)
{
	struct addr_sums sums = {
		.n = from->n,
		.kinds = { from->loads, from->stores, from->atomics },
		.cycles = from->cycles,
		.n_cycles = from->n_cycles,
		.first_ns = from->first_ns,
		.least = from->least,
		.n_translated = from->n_translated,
		.memory_operations = from->memory_operations,
		.full_cycles = from->full_cycles,
		.n_saturated = from->n_saturated,
		.walks = from->walks,
		.walk_cycles = from->walk_cycles,
		.n_walk_cycles = from->n_walk_cycles,
		.n_near = from->n_near,
		.n_far = from->n_far,
		.far_cycles = from->far_cycles,
		.page_nodes = from->page_nodes,
		.cpu_nodes = from->cpu_nodes,
	};

	for (int i = SOURCE_UNKNOWN + 1; i < N_SOURCE_LEVELS; i++)
		sums.levels[i] = from->levels[i];
	return sums;
}

/* Of a record that is alone. */
static struct addr_sums sums_of_record(const struct addr_record *r)
{
	const struct access *access = r->access;
	uint64_t cycles = access->has_cycles ? access->cycles : 0;
	bool has_nodes = r->page_nodes != 0 && r->cpu_nodes != 0;
	struct addr_sums sums = {
		.n = 1,
		.cycles = cycles,
		.n_cycles = access->has_cycles,
		.first_ns = r->time_ns,
		.least = access->address,
		.n_translated = access->is_translated,
		.memory_operations = r->operations,
		.page_nodes = r->page_nodes,
		.cpu_nodes = r->cpu_nodes,
		.n_near = has_nodes && r->page_nodes == r->cpu_nodes,
		.n_far = has_nodes && r->page_nodes != r->cpu_nodes,
	};

	memory_counts_add(&sums.kinds, access->kind, 1);
	if (access->has_cycles && access->is_saturated) {
		sums.full_cycles = cycles;
		sums.n_saturated = 1;
	}
	if (access->has_walk) {
		sums.walks = 1;
		sums.walk_cycles = access->walk_cycles;
		sums.n_walk_cycles = access->has_walk_cycles;
	}
	if (access->level != SOURCE_UNKNOWN)
		sums.levels[access->level] = 1;
	if (sums.n_far > 0)
		sums.far_cycles = cycles;
	return sums;
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
	size_t cap = briefs->cap == 0 ? FIRST : 2 * briefs->cap;
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
	struct addr_sums sums = sums_of_brief(b);
	uint32_t wide;

	addr_sums_add(get_wide(briefs, b), &sums);
	wide = b->wide;
	*b = empty_brief;
	b->wide = wide;
}

void addr_brief_add_large(struct addr_briefs *briefs, struct addr_brief *to,
			  const struct addr_record *r)
{
	struct addr_sums sums = sums_of_record(r);

	addr_sums_add(get_wide(briefs, to), &sums);
}

struct addr_sums addr_briefs_get(const struct addr_briefs *briefs, uint32_t group)
{
	const struct addr_brief *b = &briefs->items[group];
	struct addr_sums sums;

	if (b->wide != 0 && b->n == 0)
		return briefs->wide.items[b->wide - 1];
	sums = sums_of_brief(b);
	if (b->wide != 0)
		addr_sums_add(&sums, &briefs->wide.items[b->wide - 1]);
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
	to->n += from->n;
	to->loads += from->loads;
	to->stores += from->stores;
	to->atomics += from->atomics;
	to->n_cycles += from->n_cycles;
	to->n_translated += from->n_translated;
	to->walks += from->walks;
	to->n_walk_cycles += from->n_walk_cycles;
	to->n_near += from->n_near;
	to->n_far += from->n_far;
	to->n_saturated += from->n_saturated;
	to->page_nodes |= from->page_nodes;
	to->cpu_nodes |= from->cpu_nodes;
	for (int i = 0; i < N_SOURCE_LEVELS; i++)
		to->levels[i] += from->levels[i];
}

void addr_briefs_merge(struct addr_briefs *briefs, uint32_t group, const struct addr_briefs *from,
		       uint32_t from_group)
{
	struct addr_brief *to = &briefs->items[group];
	const struct addr_brief *more = &from->items[from_group];

	if (to->n + more->n > BRIEF_RECORDS)
		addr_brief_empty(briefs, to);
	brief_merge(to, more);
	if (more->wide != 0)
		addr_sums_add(get_wide(briefs, to), &from->wide.items[more->wide - 1]);
}

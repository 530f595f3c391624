/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An address is looked up in the child's mappings first, then in the parent's as of the fork, then
 * in the grandparent's. A chain of 100000 forks must not make that slow, nor may forks copy
 * mappings. So the tree of forks is cut into paths ("strands", a heavy path decomposition): at each
 * fork one side continues the strand, and the other side begins a new one with that strand as its
 * parent. The side with more mappings and forks to come continues, be it parent or child:
 *
 *	space 1   --m--m--+--m---------------		strand 1: m m (m m m m)
 *	                  fork				strand 2: m, parent 1 after two
 *	space 2           +--m--m--m--m------
 *
 * A new strand has at most half of what is left, hence strands are nested no deeper than the
 * logarithm of all records. The mappings of a strand follow each other in time, so a strand is one
 * cover (process/cover.h).
 */
#include "process/spaces.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/pool.h"

enum { COVERS_AT_ONCE = 128 };

void spaces_init(struct spaces *s)
{
	*s = (struct spaces){ 0 };
	spaces_add_empty(s, SPACES_KERNEL, 0);
}

void spaces_release(struct spaces *s)
{
	for (uint32_t i = 0; i < s->n_strands; i++)
		cover_release(&s->strands[i].cover);
	free(s->strands);
	free(s->by_strand);
	history_release(&s->strand_of);
	vec_release(&s->spaces);
	vec_release(&s->mappings);
	*s = (struct spaces){ 0 };
}

uint32_t spaces_add_empty(struct spaces *s, uint32_t owner, uint64_t start_ns)
{
	uint32_t number = (uint32_t)s->spaces.n;

	*vec_add(&s->spaces) =
		(struct space){ .owner = owner, .parent = number, .start_ns = start_ns };
	return number;
}

uint32_t spaces_add_fork(struct spaces *s, uint32_t owner, uint64_t start_ns, uint32_t parent)
{
	uint32_t number = spaces_add_empty(s, owner, start_ns);

	assert(parent < number);
	s->spaces.items[number].parent = parent;
	s->spaces.items[number].parent_maps = s->spaces.items[parent].n_maps;
	return number;
}

void spaces_map(struct spaces *s, const struct mapping *mapping)
{
	assert(mapping->space < s->spaces.n);
	s->spaces.items[mapping->space].n_maps++;
	*vec_add(&s->mappings) = *mapping;
}

/* State while freezing. */
struct forest {
	uint64_t *weights;	 /* by space: mappings and spaces, of it and all forked from it */
	uint32_t *first_child;	 /* by space: in `children`, in order of forks; n + 1 */
	uint32_t *children;	 /* spaces */
	uint32_t *first_map;	 /* by space: in `maps`; n + 1 */
	uint32_t *maps;		 /* mappings of each space, in order */
	uint32_t *strands;	 /* by space: where it begins */
	uint32_t *strand_of_map; /* by mapping */
	VEC_OF(struct strand) list;
};

static bool spaces_is_root(const struct spaces *s, uint32_t space)
{
	return s->spaces.items[space].parent == space;
}

/*
 * Sorts the numbers 0 … n_items-1 by a key of theirs, keeping their order. Returns where each
 * key's numbers begin in `out`: an array of n_keys + 1. Items with key UINT32_MAX are left out.
 */
static uint32_t *group(const uint32_t *keys, size_t n_items, size_t n_keys, uint32_t *out)
{
	uint32_t *first = mem_zalloc(n_keys + 1, sizeof(*first));

	for (size_t i = 0; i < n_items; i++)
		if (keys[i] != UINT32_MAX)
			first[keys[i]]++;
	for (size_t key = 0; key < n_keys; key++)
		first[key + 1] += first[key];
	for (size_t i = n_items; i-- > 0;)
		if (keys[i] != UINT32_MAX)
			out[--first[keys[i]]] = (uint32_t)i;
	return first;
}

static void spaces_weigh(struct forest *f, const struct spaces *s)
{
	f->weights = mem_zalloc(s->spaces.n, sizeof(*f->weights));
	for (size_t i = s->spaces.n; i-- > 0;) {
		f->weights[i] += 1 + s->spaces.items[i].n_maps;
		if (!spaces_is_root(s, (uint32_t)i))
			f->weights[s->spaces.items[i].parent] += f->weights[i];
	}
}

static void list_children(struct forest *f, const struct spaces *s)
{
	size_t n = s->spaces.n;
	uint32_t *parents = mem_alloc(n, sizeof(*parents));

	for (uint32_t i = 0; i < n; i++)
		parents[i] = spaces_is_root(s, i) ? UINT32_MAX : s->spaces.items[i].parent;
	f->children = mem_alloc(n, sizeof(*f->children));
	f->first_child = group(parents, n, n, f->children);
	free(parents);
}

static void list_maps(struct forest *f, const struct spaces *s)
{
	size_t n = s->mappings.n;
	uint32_t *spaces = mem_alloc(n, sizeof(*spaces));

	for (size_t i = 0; i < n; i++)
		spaces[i] = s->mappings.items[i].space;
	f->maps = mem_alloc(n, sizeof(*f->maps));
	f->first_map = group(spaces, n, s->spaces.n, f->maps);
	free(spaces);
}

static uint32_t begin_strand(struct forest *f)
{
	uint32_t number = (uint32_t)f->list.n;

	vec_add(&f->list)->parent = number;
	return number;
}

/* A new strand, whose parent is the present end of another. */
static uint32_t hang_strand(struct forest *f, uint32_t from)
{
	uint32_t number = begin_strand(f);
	struct strand *new = &f->list.items[number];
	const struct strand *parent = &f->list.items[from];

	/* a parent without mappings is skipped: its own parent serves */
	if (parent->n_maps == 0 && parent->parent != from) {
		new->parent = parent->parent;
		new->parent_maps = parent->parent_maps;
	} else {
		new->parent = from;
		new->parent_maps = parent->n_maps;
	}
	return number;
}

/* Puts the space's mappings `from` … `to`-1 on a strand. */
static void put_maps(struct forest *f, uint32_t space, uint32_t from, uint32_t to, uint32_t strand)
{
	for (uint32_t i = from; i < to; i++)
		f->strand_of_map[f->maps[f->first_map[space] + i]] = strand;
	f->list.items[strand].n_maps += to - from;
}

/* Visits the forks of a space in order of time, and decides which side continues the strand. */
static void place_space(struct forest *f, struct spaces *s, uint32_t number)
{
	const struct space *space = &s->spaces.items[number];
	uint32_t strand = spaces_is_root(s, number) ? begin_strand(f) : f->strands[number];
	uint64_t rest = f->weights[number];
	uint32_t done = 0;

	history_add(&s->strand_of, space->owner, space->start_ns, strand);
	for (uint32_t i = f->first_child[number]; i < f->first_child[number + 1]; i++) {
		uint32_t child = f->children[i], before = s->spaces.items[child].parent_maps;

		rest -= before - done + f->weights[child];
		put_maps(f, number, done, before, strand);
		done = before;
		if (f->weights[child] <= rest) {
			f->strands[child] = hang_strand(f, strand);
			continue;
		}
		f->strands[child] = strand;
		strand = hang_strand(f, strand);
		history_add(&s->strand_of, space->owner, s->spaces.items[child].start_ns, strand);
	}
	put_maps(f, number, done, space->n_maps, strand);
}

/* Of COVERS_AT_ONCE strands. */
static void build_some_covers(void *context, size_t part, unsigned worker)
{
	const struct spaces *s = context;
	size_t first = part * COVERS_AT_ONCE;
	VEC_OF(struct range) ranges = { 0 };

	(void)worker;
	for (size_t i = first; i < first + COVERS_AT_ONCE && i < s->n_strands; i++) {
		struct strand *strand = &s->strands[i];

		ranges.n = 0;
		for (uint32_t k = 0; k < strand->n_maps; k++)
			*vec_add(&ranges) =
				s->mappings.items[s->by_strand[strand->first + k]].range;
		cover_build(&strand->cover, ranges.items, ranges.n);
	}
	vec_release(&ranges);
}

/* Each on its own: there may be many processes. */
static void build_covers(struct spaces *s, struct pool *pool)
{
	size_t n_parts = (s->n_strands + COVERS_AT_ONCE - 1) / COVERS_AT_ONCE;

	if (pool != NULL && n_parts > 1)
		pool_run(pool, n_parts, build_some_covers, s);
	else
		for (size_t i = 0; i < n_parts; i++)
			build_some_covers(s, i, 0);
}

static void forest_release(struct forest *f)
{
	free(f->weights);
	free(f->first_child);
	free(f->children);
	free(f->first_map);
	free(f->maps);
	free(f->strands);
	free(f->strand_of_map);
	vec_release(&f->list);
}

void spaces_freeze(struct spaces *s, uint32_t n_owners, struct pool *pool)
{
	struct forest f = { 0 };
	uint32_t *first;

	spaces_weigh(&f, s);
	list_children(&f, s);
	list_maps(&f, s);
	f.strands = mem_zalloc(s->spaces.n, sizeof(*f.strands));
	f.strand_of_map = mem_zalloc(s->mappings.n, sizeof(*f.strand_of_map));
	for (uint32_t i = 0; i < s->spaces.n; i++)
		place_space(&f, s, i);

	s->by_strand = mem_alloc(s->mappings.n, sizeof(*s->by_strand));
	first = group(f.strand_of_map, s->mappings.n, f.list.n, s->by_strand);
	for (size_t i = 0; i < f.list.n; i++)
		f.list.items[i].first = first[i];
	free(first);
	s->n_strands = (uint32_t)f.list.n;
	s->strands = f.list.items;
	f.list.items = NULL;
	build_covers(s, pool);
	history_freeze(&s->strand_of, n_owners);
	forest_release(&f);
}

/* Time of the n-th mapping of a strand, counted from 1. */
static uint64_t time_of_step(const struct spaces *s, const struct strand *strand, uint32_t step)
{
	return s->mappings.items[s->by_strand[strand->first + step - 1]].time_ns;
}

/* How many mappings of a strand were there at this time. */
static uint32_t step_at(const struct spaces *s, const struct strand *strand, uint64_t time_ns)
{
	return (uint32_t)bisect(0, strand->n_maps, i,
				time_of_step(s, strand, (uint32_t)i + 1) <= time_ns);
}

/* Cuts the window of the answer to the times of a piece. */
static void narrow_window(const struct spaces *s, const struct strand *strand,
			  const struct piece *p, struct spot *spot)
{
	uint64_t from_ns = p->from == 0 ? 0 : time_of_step(s, strand, p->from);
	uint64_t to_ns = p->to > strand->n_maps ? UINT64_MAX : time_of_step(s, strand, p->to);

	if (from_ns > spot->from_ns)
		spot->from_ns = from_ns;
	if (to_ns < spot->to_ns)
		spot->to_ns = to_ns;
}

static void narrow_range(struct range *range, const struct range *by)
{
	if (by->start > range->start)
		range->start = by->start;
	if (by->last < range->last)
		range->last = by->last;
}

struct spot spaces_find(const struct spaces *s, uint32_t owner, uint64_t time_ns, uint64_t address)
{
	struct span span = history_find(&s->strand_of, owner, time_ns);
	struct spot spot = {
		.range = { 0, UINT64_MAX },
		.from_ns = span.from_ns,
		.to_ns = span.to_ns,
	};
	const struct strand *strand;
	struct piece p;

	if (span.value == HISTORY_NONE)
		return spot;
	strand = &s->strands[span.value];
	p = cover_find(&strand->cover, step_at(s, strand, time_ns), address);
	narrow_window(s, strand, &p, &spot);
	narrow_range(&spot.range, &p.range);
	/* not mapped here: look in the parent, as it was at the fork */
	while (p.item == 0 && strand->parent != (uint32_t)(strand - s->strands)) {
		uint32_t step = strand->parent_maps;

		strand = &s->strands[strand->parent];
		p = cover_find(&strand->cover, step, address);
		narrow_range(&spot.range, &p.range);
	}
	if (p.item != 0)
		spot.mapping = &s->mappings.items[s->by_strand[strand->first + p.item - 1]];
	if (spot.mapping != NULL && spot.mapping->module.v == 0)
		spot.mapping = NULL;
	return spot;
}

/* Is it the name of the file, or its first 15 bytes? */
static bool is_comm_of(const char *comm, const char *file)
{
	enum { COMM_MAX = 15 };
	size_t n = strlen(comm);

	return n > 0 && strncmp(comm, file, n) == 0 && (file[n] == '\0' || n == COMM_MAX);
}

struct module_id *spaces_programs(const struct spaces *s, const struct modules *modules,
				  const char *const *comms, uint32_t n_owners)
{
	struct module_id *programs = mem_zalloc(n_owners + 1u, sizeof(*programs));
	struct module_id *of_space = mem_zalloc(s->spaces.n + 1, sizeof(*of_space));
	bool *has_name = mem_zalloc(s->spaces.n + 1, sizeof(*has_name));

	for (size_t i = 0; i < s->mappings.n; i++) {
		const struct mapping *m = &s->mappings.items[i];
		const struct module *module = modules_get(modules, m->module);
		uint32_t owner = s->spaces.items[m->space].owner;
		const char *name = strings_get(modules->strings, module->name);
		bool is_named;

		if (module->kind != MODULE_FILE || m->is_data || has_name[m->space] ||
		    owner >= n_owners)
			continue;
		is_named = is_comm_of(comms[owner], name);
		if (is_named || (of_space[m->space].v == 0 && strstr(name, ".so") == NULL))
			of_space[m->space] = m->module;
		has_name[m->space] = is_named;
	}
	for (uint32_t i = SPACES_KERNEL + 1; i < s->spaces.n; i++) {
		const struct space *space = &s->spaces.items[i];

		if (space->parent != i) /* a fork: its parent is a lower number */
			of_space[i] = of_space[space->parent];
		if (space->owner < n_owners)
			programs[space->owner] = of_space[i];
	}
	free(of_space);
	free(has_name);
	return programs;
}

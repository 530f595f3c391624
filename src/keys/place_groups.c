/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/place_groups.h"

#include "base/prefetch.h"

enum {
	/* Longer lists would be slower than the hash table. */
	LONGEST_LIST = 8,
	/* Bytes of lists that stay in the caches of any CPU: to fetch them takes longer than to wait for them. */
	CACHED_BYTES = 128 << 10,
};

void place_groups_init(struct place_groups *g)
{
	*g = (struct place_groups){ 0 };
	tuples_init(&g->crowded, 1);
}

void place_groups_release(struct place_groups *g)
{
	vec_release(&g->list);
	vec_release(&g->first);
	tuples_release(&g->crowded);
	vec_release(&g->crowded_groups);
}

/*
 * Searches the list of a place. Returns the group, or PLACE_GROUPS_NONE: then *out_last is the last
 * group of the list (PLACE_GROUPS_NONE: empty), and *out_n its length.
 */
static uint32_t place_groups_walk(const struct place_groups *g, uint32_t place, uint32_t rest,
				  uint32_t *out_last, unsigned *out_n)
{
	uint32_t at = place < g->first.n ? g->first.items[place] : 0;

	*out_last = PLACE_GROUPS_NONE;
	*out_n = 0;
	for (; at != 0; at = g->list.items[at - 1].next) {
		if (g->list.items[at - 1].rest == rest)
			return at - 1;
		*out_last = at - 1;
		++*out_n;
	}
	return PLACE_GROUPS_NONE;
}

static uint64_t crowded_key(uint32_t place, uint32_t rest)
{
	return (uint64_t)place << 32 | rest;
}

static uint32_t place_groups_append(struct place_groups *g, uint32_t place, uint32_t rest)
{
	*vec_add(&g->list) = (struct place_group){ .place = place, .rest = rest };
	return (uint32_t)g->list.n - 1;
}

static uint32_t add_crowded(struct place_groups *g, uint32_t place, uint32_t rest)
{
	const uint64_t key = crowded_key(place, rest);
	uint32_t number = tuples_add(&g->crowded, &key);

	if (number == g->crowded_groups.n)
		*vec_add(&g->crowded_groups) = place_groups_append(g, place, rest);
	return g->crowded_groups.items[number];
}

/* Makes room for the place. */
static void fit(struct place_groups *g, uint32_t place)
{
	if (place < g->first.n)
		return;
	vec_reserve(&g->first, place + 1 - g->first.n);
	g->first.n = place + 1;
}

uint32_t place_groups_add_(struct place_groups *g, uint32_t place, uint32_t rest)
{
	uint32_t last, group;
	unsigned n;

	fit(g, place);
	group = place_groups_walk(g, place, rest, &last, &n);
	if (group != PLACE_GROUPS_NONE)
		return group;
	if (n >= LONGEST_LIST)
		return add_crowded(g, place, rest);
	group = place_groups_append(g, place, rest);
	if (last == PLACE_GROUPS_NONE)
		g->first.items[place] = group + 1;
	else
		g->list.items[last].next = group + 1;
	return group;
}

uint32_t place_groups_find(const struct place_groups *g, uint32_t place, uint32_t rest)
{
	const uint64_t key = crowded_key(place, rest);
	uint32_t last, number, group;
	unsigned n;

	group = place_groups_walk(g, place, rest, &last, &n);
	if (group != PLACE_GROUPS_NONE || n < LONGEST_LIST)
		return group;
	number = tuples_find(&g->crowded, &key);
	return number == TUPLES_NONE ? PLACE_GROUPS_NONE : g->crowded_groups.items[number];
}

void place_groups_fetch(struct place_groups *g, const uint32_t *places, size_t n)
{
	uint32_t last = 0;

	if (g->first.n * sizeof(*g->first.items) + g->list.n * sizeof(*g->list.items) <=
	    CACHED_BYTES)
		return;
	for (size_t i = 0; i < n; i++)
		last = places[i] > last ? places[i] : last;
	fit(g, last);
	for (size_t i = 0; i < n; i++)
		prefetch(&g->first.items[places[i]]);
	for (size_t i = 0; i < n; i++) {
		uint32_t first = g->first.items[places[i]];

		if (first != 0)
			prefetch(&g->list.items[first - 1]);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/sums/place_costs.h"

#include <string.h>

void place_costs_init(struct place_costs *p)
{
	*p = (struct place_costs){ 0 };
	tuples_init(&p->wide_places, 1);
	pthread_mutex_init(&p->mutex, NULL);
}

void place_costs_release(struct place_costs *p)
{
	if (p->is_whole_huge)
		mem_huge_free(p->whole.items, 1, MEM_HUGE);
	else
		vec_release(&p->whole);
	for (size_t i = 0; i < p->narrow.n; i++)
		mem_huge_free(p->narrow.items[i], 1, MEM_HUGE);
	vec_release(&p->narrow);
	vec_release(&p->wide);
	tuples_release(&p->wide_places);
	pthread_mutex_destroy(&p->mutex);
}

/* Room for all that have whole width, in huge pages. */
static void reach_all_whole(struct place_costs *p)
{
	struct hot_cost *items = mem_huge(1, MEM_HUGE);
	size_t n = p->whole.n;

	if (n > 0)
		memcpy(items, p->whole.items, n * sizeof(*items));
	vec_release(&p->whole);
	p->whole.items = items;
	p->whole.n = n;
	p->whole.cap = PLACE_COSTS_WHOLE;
	p->is_whole_huge = true;
}

void place_costs_reach(struct place_costs *p, size_t n)
{
	enum { FEW = PLACE_COSTS_WHOLE / 4 };
	size_t n_whole = n < PLACE_COSTS_WHOLE ? n : PLACE_COSTS_WHOLE, n_narrow = n - n_whole;

	if (n_whole > p->whole.n) {
		if (n_whole > FEW && !p->is_whole_huge)
			reach_all_whole(p);
		vec_reserve(&p->whole, n_whole - p->whole.n);
		p->whole.n = n_whole;
	}
	while (n_narrow > p->narrow.n * PLACE_COSTS_BLOCK)
		*vec_add(&p->narrow) = mem_huge(1, MEM_HUGE);
	if (n_narrow > p->n_narrow)
		p->n_narrow = n_narrow;
}

void place_costs_add_wide(const struct place_costs *p, uint32_t place, struct hot_cost *out)
{
	hot_cost_add(out,
		     &p->wide.items[tuples_find(&p->wide_places, (const uint64_t[]){ place })]);
}

void place_costs_widen(struct place_costs *p, uint32_t place, const struct hot_cost *c)
{
	struct narrow_cost *narrow = place_costs_narrow(p, place);
	const struct hot_cost before = narrow_cost_get(narrow);
	uint32_t number = tuples_add(&p->wide_places, (const uint64_t[]){ place });

	if (number == p->wide.n)
		vec_add(&p->wide);
	hot_cost_add(&p->wide.items[number], &before);
	hot_cost_add(&p->wide.items[number], c);
	*narrow = (struct narrow_cost){ { NARROW_HAS_WIDE } };
}

/* As place_costs_add_narrow(), while other threads add other places. */
static void add_shared(struct place_costs *p, uint32_t place, const struct hot_cost *c)
{
	if (place_costs_fit(place_costs_narrow(p, place), c)) {
		place_costs_add_narrow(p, place, c);
		return;
	}
	pthread_mutex_lock(&p->mutex);
	place_costs_widen(p, place, c);
	pthread_mutex_unlock(&p->mutex);
}

void place_costs_merge_part(struct place_costs *into, const struct place_costs *from, size_t part,
			    size_t n_parts)
{
	size_t n = place_costs_n(into), end = n * (part + 1) / n_parts;

	if (end > place_costs_n(from))
		end = place_costs_n(from);
	for (size_t i = n * part / n_parts; i < end; i++) {
		struct hot_cost cost;

		if (place_costs_is_empty(from, (uint32_t)i))
			continue;
		cost = place_costs_get(from, (uint32_t)i);
		if (i < PLACE_COSTS_WHOLE)
			hot_cost_add(&into->whole.items[i], &cost);
		else
			add_shared(into, (uint32_t)i, &cost);
	}
}

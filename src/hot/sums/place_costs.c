/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/sums/place_costs.h"

#include <stdlib.h>
#include <string.h>

void place_costs_init(struct place_costs *p)
{
	*p = (struct place_costs){ 0 };
	tuples_init(&p->wide_places, 1);
	pthread_mutex_init(&p->mutex, NULL);
}

void place_costs_release(struct place_costs *p)
{
	for (size_t i = 0; i < p->blocks.n; i++)
		if (i == 0 && p->n_few > 0)
			free(p->blocks.items[0]);
		else
			mem_huge_free(p->blocks.items[i], 1, MEM_HUGE);
	vec_release(&p->blocks);
	vec_release(&p->wide);
	tuples_release(&p->wide_places);
	pthread_mutex_destroy(&p->mutex);
}

/* Room for a few places, in small pages of memory: a huge one takes longer to have than they do to be added up. */
static void grow_few(struct place_costs *p, size_t n)
{
	enum { FIRST_FEW = 256 };
	size_t n_few = p->n_few == 0 ? FIRST_FEW : p->n_few;

	while (n_few < n)
		n_few *= 2;
	if (n_few == p->n_few)
		return;
	if (p->n_few == 0)
		*vec_add(&p->blocks) = NULL;
	p->blocks.items[0] =
		mem_grow_zeroed(p->blocks.items[0], p->n_few, n_few, sizeof(struct narrow_cost));
	p->n_few = n_few;
}

/* Room for all places of the first block. */
static void leave_few(struct place_costs *p)
{
	struct narrow_cost *few = p->blocks.items[0];

	p->blocks.items[0] = mem_huge(1, MEM_HUGE);
	memcpy(p->blocks.items[0], few, p->n_few * sizeof(*few));
	free(few);
	p->n_few = 0;
}

void place_costs_grow(struct place_costs *p, size_t n)
{
	enum { MOST_FEW = PLACE_COSTS_BLOCK / 4 };

	p->n = n;
	if (n <= MOST_FEW && (p->blocks.n == 0 || p->n_few > 0)) {
		grow_few(p, n);
		return;
	}
	if (p->n_few > 0)
		leave_few(p);
	while (n > p->blocks.n * PLACE_COSTS_BLOCK)
		*vec_add(&p->blocks) = mem_huge(1, MEM_HUGE);
}

struct hot_cost place_costs_total(const struct place_costs *p)
{
	struct hot_cost total = { 0 };

	for (uint32_t place = 0; place < p->n; place++) {
		const struct hot_cost cost = narrow_cost_get(place_costs_narrow(p, place));

		hot_cost_add(&total, &cost);
	}
	for (size_t i = 0; i < p->wide.n; i++)
		hot_cost_add(&total, &p->wide.items[i]);
	return total;
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
	*narrow = (struct narrow_cost){ .squares = NARROW_HAS_WIDE };
}

/* Adds up a place, while other threads add up others. */
static void merge_place(struct place_costs *into, const struct place_costs *from, uint32_t place)
{
	const struct narrow_cost *narrow = place_costs_narrow(from, place);
	struct hot_cost cost;

	if (!(narrow->squares & NARROW_HAS_WIDE) &&
	    narrow_cost_add(place_costs_narrow(into, place), narrow))
		return;
	cost = place_costs_get(from, place);
	pthread_mutex_lock(&into->mutex);
	place_costs_widen(into, place, &cost);
	pthread_mutex_unlock(&into->mutex);
}

void place_costs_merge_part(struct place_costs *into, const struct place_costs *from, size_t part,
			    size_t n_parts)
{
	size_t end = into->n * (part + 1) / n_parts;

	for (size_t i = into->n * part / n_parts; i < end && i < from->n; i++)
		if (!place_costs_is_empty(from, (uint32_t)i))
			merge_place(into, from, (uint32_t)i);
}

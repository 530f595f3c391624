/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/sums/chains.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorter.h"
#include "base/tuples.h"

enum { PIECE_BYTES = 64 << 10 }; /* that goes to the file at once */

void hot_chains_release(struct hot_chains *c)
{
	spool_release(&c->spool);
	vec_release(&c->places);
}

void chained_group_read(struct chained_group *g, const uint64_t key[N_DIMENSIONS],
			const struct hot_cost *cost, const struct tuples *frames)
{
	memcpy(g->key, key, sizeof(g->key));
	g->key[DIM_FRAME] = 0;
	g->cost = *cost;
	g->chain.n = 0;
	for (uint32_t frame = (uint32_t)key[DIM_FRAME]; frame != 0;
	     frame = (uint32_t)tuples_get(frames, frame)[0])
		*vec_add(&g->chain) = (uint32_t)tuples_get(frames, frame)[1];
}

void chained_group_release(struct chained_group *g)
{
	vec_release(&g->chain);
}

void hot_cost_write(struct text *out, const struct hot_cost *cost)
{
	const uint64_t words[] = {
		cost->cycles,	  cost->xlat_cycles,	cost->squares,	   cost->full,
		cost->n,	  cost->n_cycles,	cost->n_saturated, cost->n_walks,
		cost->n_branches, cost->n_mispredicted,
	};

	for (size_t i = 0; i < COUNT(words); i++)
		sort_value_put(out, words[i]);
}

void hot_cost_read(const uint8_t **bytes, struct hot_cost *out)
{
	out->cycles = sort_value_get(bytes);
	out->xlat_cycles = sort_value_get(bytes);
	out->squares = sort_value_get(bytes);
	out->full = sort_value_get(bytes);
	out->n = (uint32_t)sort_value_get(bytes);
	out->n_cycles = (uint32_t)sort_value_get(bytes);
	out->n_saturated = (uint32_t)sort_value_get(bytes);
	out->n_walks = (uint32_t)sort_value_get(bytes);
	out->n_branches = (uint32_t)sort_value_get(bytes);
	out->n_mispredicted = (uint32_t)sort_value_get(bytes);
}

void hot_chains_add(struct hot_chains *c, const struct chained_group *g)
{
	struct text *out = &c->spool.written;

	for (int i = 0; i < N_DIMENSIONS; i++)
		sort_value_put(out, g->key[i]);
	sort_value_put(out, g->chain.n);
	for (size_t i = 0; i < g->chain.n; i++)
		sort_value_put(out, g->chain.items[i]);
	hot_cost_write(out, &g->cost);
	spool_flush(&c->spool, PIECE_BYTES);
}

static void note_place(struct hot_chains *c, uint64_t place)
{
	if (place >= c->places.n) {
		vec_reserve(&c->places, place + 1 - c->places.n);
		c->places.n = place + 1;
	}
	c->places.items[place] = true;
}

void hot_chains_note(struct hot_chains *c, const struct chained_group *g)
{
	note_place(c, g->key[DIM_PLACE]);
	for (size_t i = 0; i < g->chain.n; i++)
		note_place(c, g->chain.items[i]);
}

void hot_chains_finish(struct hot_chains *c)
{
	spool_flush(&c->spool, 0);
	spool_finish(&c->spool);
}

void hot_chains_merge(struct hot_chains *into, const struct hot_chains *from)
{
	spool_merge(&into->spool, &from->spool);
	for (size_t i = 0; i < from->places.n; i++)
		if (from->places.items[i])
			note_place(into, i);
}

bool hot_chains_next(const struct hot_chains *c, struct spool_position *at,
		     struct chained_group *out)
{
	const uint8_t *bytes = spool_next(&c->spool, at);
	size_t n;

	if (bytes == NULL)
		return false;
	for (int i = 0; i < N_DIMENSIONS; i++)
		out->key[i] = sort_value_get(&bytes);
	n = (size_t)sort_value_get(&bytes);
	out->chain.n = 0;
	vec_reserve(&out->chain, n);
	for (size_t i = 0; i < n; i++)
		out->chain.items[i] = (uint32_t)sort_value_get(&bytes);
	out->chain.n = n;
	hot_cost_read(&bytes, &out->cost);
	spool_move(&c->spool, at, bytes);
	return true;
}

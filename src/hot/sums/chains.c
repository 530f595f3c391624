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
	size_t n = 0;

	memcpy(g->key, key, sizeof(g->key));
	g->key[DIM_FRAME] = 0;
	g->cost = *cost;
	for (uint32_t frame = (uint32_t)key[DIM_FRAME]; frame != 0;) {
		const uint64_t *words = tuples_get(frames, frame);

		if (n == g->chain.cap) {
			g->chain.n = n;
			vec_reserve(&g->chain, 1);
		}
		g->chain.items[n++] = (uint32_t)words[1];
		frame = (uint32_t)words[0];
	}
	g->chain.n = n;
}

void chained_group_release(struct chained_group *g)
{
	vec_release(&g->chain);
}

enum { N_COST_WORDS = 10, MOST_VARINT = 10 };
_Static_assert((int)N_DIMENSIONS <= 32, "a bit for each");

void hot_cost_write(struct text *out, const struct hot_cost *cost)
{
	const uint64_t words[N_COST_WORDS] = {
		cost->cycles,	  cost->xlat_cycles,	cost->squares,	   cost->full,
		cost->n,	  cost->n_cycles,	cost->n_saturated, cost->n_walks,
		cost->n_branches, cost->n_mispredicted,
	};

	sort_value_put_words(out, words, N_COST_WORDS);
}

void hot_cost_read(const uint8_t **bytes, struct hot_cost *out)
{
	uint64_t words[N_COST_WORDS];

	sort_value_get_words(bytes, words, N_COST_WORDS);
	*out = (struct hot_cost){
		.cycles = words[0],
		.xlat_cycles = words[1],
		.squares = words[2],
		.full = words[3],
		.n = (uint32_t)words[4],
		.n_cycles = (uint32_t)words[5],
		.n_saturated = (uint32_t)words[6],
		.n_walks = (uint32_t)words[7],
		.n_branches = (uint32_t)words[8],
		.n_mispredicted = (uint32_t)words[9],
	};
}

void hot_chains_add(struct hot_chains *c, const struct chained_group *g)
{
	struct text *out = &c->spool.written;
	uint32_t n = (uint32_t)g->chain.n;

	text_room(out, n * sizeof(*g->chain.items) + (N_DIMENSIONS + N_COST_WORDS) * MOST_VARINT);
	text_add(out, (const char *)&n, sizeof(n));
	text_add(out, (const char *)g->chain.items, n * sizeof(*g->chain.items));
	sort_value_put_words(out, g->key, N_DIMENSIONS);
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
	uint32_t n;

	if (bytes == NULL)
		return false;
	memcpy(&n, bytes, sizeof(n));
	bytes += sizeof(n);
	out->chain.n = 0;
	if (n > out->chain.cap)
		vec_reserve(&out->chain, n);
	if (n > 0)
		memcpy(out->chain.items, bytes, n * sizeof(*out->chain.items));
	out->chain.n = n;
	bytes += n * sizeof(*out->chain.items);
	sort_value_get_words(&bytes, out->key, N_DIMENSIONS);
	hot_cost_read(&bytes, &out->cost);
	spool_move(&c->spool, at, bytes);
	return true;
}

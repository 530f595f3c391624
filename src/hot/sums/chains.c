/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/sums/chains.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorter.h"
#include "base/tuples.h"

/* What goes to the file at once, and what of it is looked at before it is forgotten. */
enum { PIECE_BYTES = 64 << 10, SEEN_BYTES = 1 << 20 };

void hot_chains_release(struct hot_chains *c)
{
	if (c->file != NULL)
		fclose(c->file);
	for (size_t i = 0; i < c->files.n; i++)
		mapped_release(&c->files.items[i]);
	vec_release(&c->files);
	text_release(&c->written);
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

/* Sends on what is written. */
static void flush_written(struct hot_chains *c)
{
	if (c->file == NULL && c->rc == 0) {
		c->file = temporary_file(&c->err);
		c->rc = c->file == NULL ? -1 : 0;
	}
	if (c->rc == 0 && fwrite(c->written.bytes, 1, c->written.n, c->file) != c->written.n)
		c->rc = temporary_file_failed(&c->err);
	text_reset(&c->written);
}

static void write_cost(struct text *out, const struct hot_cost *cost)
{
	const uint64_t words[] = {
		cost->cycles,	  cost->xlat_cycles,	cost->squares,	   cost->full,
		cost->n,	  cost->n_cycles,	cost->n_saturated, cost->n_walks,
		cost->n_branches, cost->n_mispredicted,
	};

	for (size_t i = 0; i < COUNT(words); i++)
		sort_value_put(out, words[i]);
}

static void read_cost(const uint8_t **bytes, struct hot_cost *out)
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
	struct text *out = &c->written;

	for (int i = 0; i < N_DIMENSIONS; i++)
		sort_value_put(out, g->key[i]);
	sort_value_put(out, g->chain.n);
	for (size_t i = 0; i < g->chain.n; i++)
		sort_value_put(out, g->chain.items[i]);
	write_cost(out, &g->cost);
	if (out->n >= PIECE_BYTES)
		flush_written(c);
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

/* Maps the file, which stays when it is closed. */
static void take_file(struct hot_chains *into, FILE *file)
{
	if (file != NULL && into->rc == 0)
		into->rc = mapped_from_stream(vec_add(&into->files), file, &into->err);
}

void hot_chains_finish(struct hot_chains *c)
{
	if (c->written.n > 0)
		flush_written(c);
	if (c->rc == 0)
		take_file(c, c->file);
}

void hot_chains_merge(struct hot_chains *into, const struct hot_chains *from)
{
	if (from->rc < 0 && into->rc == 0) {
		into->rc = from->rc;
		into->err = from->err;
	}
	if (from->rc == 0)
		take_file(into, from->file);
	for (size_t i = 0; i < from->places.n; i++)
		if (from->places.items[i])
			note_place(into, i);
}

/* Reads a group that hot_chains_add() wrote; returns where the next one begins. */
static uint64_t read_written(const struct mapped *file, uint64_t at, struct chained_group *out)
{
	const uint8_t *bytes = file->bytes + at;
	size_t n;

	for (int i = 0; i < N_DIMENSIONS; i++)
		out->key[i] = sort_value_get(&bytes);
	n = (size_t)sort_value_get(&bytes);
	out->chain.n = 0;
	vec_reserve(&out->chain, n);
	for (size_t i = 0; i < n; i++)
		out->chain.items[i] = (uint32_t)sort_value_get(&bytes);
	out->chain.n = n;
	read_cost(&bytes, &out->cost);
	return (uint64_t)(bytes - file->bytes);
}

bool hot_chains_next(const struct hot_chains *c, struct hot_chains_position *at,
		     struct chained_group *out)
{
	while (c->rc == 0 && at->file < c->files.n) {
		const struct mapped *file = &c->files.items[at->file];
		uint64_t before = at->at;

		if (at->at < file->size) {
			at->at = read_written(file, at->at, out);
			if (before / SEEN_BYTES != at->at / SEEN_BYTES)
				mapped_drop(file, 0, before);
			return true;
		}
		at->file++;
		at->at = 0;
	}
	return false;
}

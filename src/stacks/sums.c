/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorter.h"

/* What goes to the file at once, and what of it is looked at before it is forgotten. */
enum { PIECE_BYTES = 64 << 10, SEEN_BYTES = 1 << 20 };

/* Of a frame, with its place in the table that finds it. */
enum { FRAME_BYTES = 24 };

static void *sums_new(const struct session *session, const void *options)
{
	struct stack_sums *sums = mem_zalloc(1, sizeof(*sums));

	sums->options = options;
	sums->hot = hot_class.new(session, &sums->options->hot);
	tuples_init(&sums->sources, 1);
	return sums;
}

static void sums_free(void *partial)
{
	struct stack_sums *sums = partial;

	if (sums == NULL)
		return;
	hot_class.free(sums->hot);
	if (sums->file != NULL)
		fclose(sums->file);
	for (size_t i = 0; i < sums->files.n; i++)
		mapped_release(&sums->files.items[i]);
	vec_release(&sums->files);
	vec_release(&sums->places);
	text_release(&sums->written);
	tuples_release(&sums->sources);
	free(sums);
}

static unsigned sums_want_chains(const void *options)
{
	const struct stack_sums_options *o = options;

	return hot_class.wants_chains(&o->hot);
}

static void sums_consume(void *partial, const struct batch *b)
{
	struct stack_sums *sums = partial;

	hot_class.consume(sums->hot, b);
}

static size_t sums_bytes(const struct stack_sums *sums, const struct tuples *frames)
{
	const struct hot *hot = sums->hot;

	return hot->costs.n * (sizeof(*hot->costs.items) + sizeof(*hot->groups.list.items)) +
	       hot->rests.n * (hot->rests.width + 1) * sizeof(*hot->rests.words) +
	       (size_t)frames->n * FRAME_BYTES;
}

/* Fills in the chain of a frame. */
static void read_chain(const struct tuples *frames, uint32_t frame, struct stack_group *out)
{
	out->chain.n = 0;
	for (; frame != 0; frame = (uint32_t)tuples_get(frames, frame)[0])
		*vec_add(&out->chain) = (uint32_t)tuples_get(frames, frame)[1];
}

static void read_group(const struct hot *hot, const struct tuples *frames, uint32_t number,
		       struct stack_group *out)
{
	hot_key(hot, number, out->key);
	read_chain(frames, (uint32_t)out->key[DIM_FRAME], out);
	out->key[DIM_FRAME] = 0;
	out->cost = *hot_cost(hot, number);
}

static void note_place(struct stack_sums *sums, uint64_t place)
{
	if (place >= sums->places.n) {
		vec_reserve(&sums->places, place + 1 - sums->places.n);
		sums->places.n = place + 1;
	}
	sums->places.items[place] = true;
}

static void note_places(struct stack_sums *sums, const struct stack_group *g)
{
	note_place(sums, g->key[DIM_PLACE]);
	for (size_t i = 0; i < g->chain.n; i++)
		note_place(sums, g->chain.items[i]);
}

/* Sends on what is written. */
static void flush_written(struct stack_sums *sums)
{
	if (sums->file == NULL && sums->rc == 0) {
		sums->file = temporary_file(&sums->err);
		sums->rc = sums->file == NULL ? -1 : 0;
	}
	if (sums->rc == 0 &&
	    fwrite(sums->written.bytes, 1, sums->written.n, sums->file) != sums->written.n)
		sums->rc = temporary_file_failed(&sums->err);
	text_reset(&sums->written);
}

static void write_group(struct stack_sums *sums, const struct stack_group *g)
{
	struct text *out = &sums->written;

	for (int i = 0; i < N_DIMENSIONS; i++)
		sort_value_put(out, g->key[i]);
	sort_value_put(out, g->chain.n);
	for (size_t i = 0; i < g->chain.n; i++)
		sort_value_put(out, g->chain.items[i]);
	text_add(out, (const char *)&g->cost, sizeof(g->cost));
	if (out->n >= PIECE_BYTES)
		flush_written(sums);
}

/* Sends all groups to the file, and begins anew. */
static void write_groups(struct stack_sums *sums, const struct tuples *frames)
{
	const struct session *session = sums->hot->session;
	const struct hot *hot = sums->hot;
	struct stack_group g = { 0 };

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		read_group(hot, frames, i, &g);
		if (sums->options->only_places) {
			note_places(sums, &g);
			continue;
		}
		tuples_add(&sums->sources, &g.key[DIM_SOURCE]);
		write_group(sums, &g);
	}
	stack_group_release(&g);
	hot_class.free(sums->hot);
	sums->hot = hot_class.new(session, &sums->options->hot);
}

static bool sums_let_go(void *partial, const struct tuples *frames)
{
	struct stack_sums *sums = partial;

	if (sums_bytes(sums, frames) < sums->options->limit_bytes)
		return false;
	write_groups(sums, frames);
	return true;
}

/* Maps what the partial has in its file, too, which stays when that is closed. */
static void take_file(struct stack_sums *into, FILE *file)
{
	if (file != NULL && into->rc == 0)
		into->rc = mapped_from_stream(vec_add(&into->files), file, &into->err);
}

static void sums_finish(void *partial)
{
	struct stack_sums *sums = partial;

	hot_class.finish(sums->hot);
	if (sums->written.n > 0)
		flush_written(sums);
	if (sums->rc == 0)
		take_file(sums, sums->file);
}

static void sums_merge(void *into, const void *from, const struct id_map *map)
{
	const struct stack_sums *part = from;
	struct stack_sums *sums = into;

	hot_class.merge(sums->hot, part->hot, map);
	if (part->rc < 0 && sums->rc == 0) {
		sums->rc = part->rc;
		sums->err = part->err;
	}
	if (part->rc == 0)
		take_file(sums, part->file);
	for (uint32_t i = 0; i < part->sources.n; i++)
		tuples_add(&sums->sources, tuples_get(&part->sources, i));
	for (size_t i = 0; i < part->places.n; i++)
		if (part->places.items[i])
			note_place(sums, i);
}

static void sums_merge_part(void *into, const void *from, size_t part, size_t n_parts)
{
	struct stack_sums *sums = into;

	hot_class.merge_part(sums->hot, ((const struct stack_sums *)from)->hot, part, n_parts);
}

const struct analysis_class stack_sums_class = {
	.new = sums_new,
	.free = sums_free,
	.wants_chains = sums_want_chains,
	.consume = sums_consume,
	.let_go = sums_let_go,
	.finish = sums_finish,
	.merge = sums_merge,
	.merge_part = sums_merge_part,
};

int stack_sums_finish(struct stack_sums *sums, struct err *err)
{
	const struct hot *hot = sums->hot;

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		uint64_t source = hot_key_word(hot, i, DIM_SOURCE);

		tuples_add(&sums->sources, &source);
	}
	if (sums->rc < 0)
		*err = sums->err;
	return sums->rc;
}

/* Reads a group that write_group() wrote; returns where the next one begins. */
static uint64_t read_written(const struct mapped *file, uint64_t at, struct stack_group *out)
{
	const uint8_t *bytes = file->bytes + at;
	size_t n;

	for (int i = 0; i < N_DIMENSIONS; i++)
		out->key[i] = sort_value_get(&bytes);
	n = (size_t)sort_value_get(&bytes);
	out->chain.n = 0;
	for (size_t i = 0; i < n; i++)
		*vec_add(&out->chain) = (uint32_t)sort_value_get(&bytes);
	memcpy(&out->cost, bytes, sizeof(out->cost));
	return (uint64_t)(bytes + sizeof(out->cost) - file->bytes);
}

bool stack_sums_next(const struct stack_sums *sums, struct stack_sums_position *at,
		     struct stack_group *out)
{
	const struct hot *hot = sums->hot;

	while (at->file < sums->files.n) {
		const struct mapped *file = &sums->files.items[at->file];
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
	at->group = hot_next(hot, at->group);
	if (at->group >= hot_end(hot))
		return false;
	read_group(hot, &hot->session->frames, at->group++, out);
	return true;
}

void stack_group_release(struct stack_group *g)
{
	vec_release(&g->chain);
}

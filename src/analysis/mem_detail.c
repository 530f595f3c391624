/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass of mem.h: distributions of the rows that are shown. */
#include <stdlib.h>
#include <string.h>

#include "analysis/mem.h"
#include "analysis/scan.h"
#include "base/alloc.h"

static void *detail_new(const struct session *session, const void *options)
{
	struct mem_detail *d = mem_zalloc(1, sizeof(*d));

	(void)session;
	d->focus = options;
	d->rows = mem_zalloc(d->focus->n_rows + 1, sizeof(*d->rows));
	tuples_init(&d->keys, d->focus->mem->keys.width);
	return d;
}

static void detail_free(void *partial)
{
	struct mem_detail *d = partial;

	if (d == NULL)
		return;
	for (uint32_t i = 0; i < d->focus->n_rows; i++)
		mem_histograms_release(&d->rows[i]);
	free(d->rows);
	tuples_release(&d->keys);
	vec_release(&d->row_of_key);
	free(d);
}

static void detail_attach(void *partial, const struct tuples *places)
{
	struct mem_detail *d = partial;

	d->places = places;
}

/* The row of a key with the worker's number of the place. */
static uint32_t find_row(const struct mem_detail *d, const uint64_t *key)
{
	const struct mem *mem = d->focus->mem;
	uint64_t known[1 + HOT_N_DIMENSIONS];
	uint32_t group;

	memcpy(known, key, mem->keys.width * sizeof(*known));
	for (size_t i = 0; i < mem->n_dimensions; i++) {
		uint32_t place;

		if (mem->dimensions[i] != DIM_PLACE)
			continue;
		place = tuples_find(d->focus->places, tuples_get(d->places, (uint32_t)key[1 + i]));
		if (place == TUPLES_NONE)
			return UINT32_MAX;
		known[1 + i] = place;
	}
	group = tuples_find(&mem->keys, known);
	return group == TUPLES_NONE ? UINT32_MAX : d->focus->rows[group];
}

static uint32_t row_of(struct mem_detail *d, const uint64_t *key)
{
	uint32_t number = tuples_add(&d->keys, key);

	if (number == d->row_of_key.n)
		*vec_add(&d->row_of_key) = find_row(d, key);
	return d->row_of_key.items[number];
}

static void detail_consume(void *partial, const struct batch *b)
{
	struct mem_detail *d = partial;
	const struct mem *mem = d->focus->mem;
	uint16_t rows[BATCH_ROWS];
	uint8_t kinds[BATCH_ROWS];
	size_t n = mem_rows_of(b, rows, kinds);

	for (size_t i = 0; i < n; i++) {
		uint64_t key[1 + HOT_N_DIMENSIONS] = { kinds[i] };
		struct latencies l;
		uint32_t row;

		for (size_t k = 0; k < mem->n_dimensions; k++)
			key[1 + k] = hot_record_word(mem->session, b, rows[i], mem->dimensions[k]);
		row = row_of(d, key);
		if (row == UINT32_MAX)
			continue;
		l = latencies_of(b, rows[i]);
		mem_histograms_add(&d->rows[row], &l);
	}
}

static void detail_merge(void *into, const void *from, const struct id_map *map)
{
	struct mem_detail *d = into;
	const struct mem_detail *part = from;

	(void)map;
	for (uint32_t i = 0; i < d->focus->n_rows; i++)
		mem_histograms_merge(&d->rows[i], &part->rows[i]);
}

const struct analysis_class mem_detail_class = {
	.new = detail_new,
	.free = detail_free,
	.attach = detail_attach,
	.consume = detail_consume,
	.merge = detail_merge,
};

struct mem_detail *mem_detail_scan(struct session *s, const struct select *select,
				   const struct mem_focus *focus)
{
	struct analysis detail = { .class = &mem_detail_class, .options = focus };
	struct mem_focus moved = *focus;
	struct tuples places = s->places, frames = s->frames;
	struct mem_detail *result;

	/* A scan numbers places anew: the numbers of the first one are put aside. */
	moved.places = &places;
	detail.options = &moved;
	tuples_init(&s->places, places.width);
	tuples_init(&s->frames, frames.width);
	scan(s, select, &detail, 1);
	tuples_release(&s->places);
	tuples_release(&s->frames);
	s->places = places;
	s->frames = frames;
	result = detail.result;
	result->focus = focus;
	return result;
}

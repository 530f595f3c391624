/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass of mem.h: distributions of the rows that are shown. */
#include <stdlib.h>

#include "access/samples.h"
#include "base/alloc.h"
#include "mem/mem.h"
#include "scan/scan.h"

static void *detail_new(const struct session *session, const void *options)
{
	struct mem_detail *d = mem_zalloc(1, sizeof(*d));

	(void)session;
	d->focus = options;
	d->rows = mem_zalloc(d->focus->n_rows + 1, sizeof(*d->rows));
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
	free(d);
}

static void add_record(struct mem_histograms *h, const struct mem *m, const struct batch *b,
		       size_t row)
{
	if (m->is_sampled) {
		struct sample_latencies l = sample_latencies_of(&m->sampling, b, row);

		mem_histograms_add_sample(h, &l);
	} else {
		struct latencies l = latencies_of(b, row);

		mem_histograms_add(h, &l);
	}
}

static void detail_consume(void *partial, const struct batch *b)
{
	struct mem_detail *d = partial;
	uint16_t rows[BATCH_ROWS];
	uint8_t kinds[BATCH_ROWS];
	size_t n = mem_rows_of(d->focus->mem, b, rows, kinds);

	for (size_t i = 0; i < n; i++) {
		uint32_t group = mem_find(d->focus->mem, (enum memory_kind)kinds[i], b, rows[i]);
		uint32_t row = group == UINT32_MAX ? UINT32_MAX : d->focus->rows[group];
		if (row != UINT32_MAX)
			add_record(&d->rows[row], d->focus->mem, b, rows[i]);
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

static unsigned detail_wants_chains(const void *options)
{
	const struct mem_focus *focus = options;

	return mem_wants_chains(focus->mem->options);
}

static bool detail_let_go(void *partial, const struct tuples *frames, bool must)
{
	(void)partial;
	(void)frames;
	(void)must;
	return true;
}

const struct analysis_class mem_detail_class = {
	.new = detail_new,
	.free = detail_free,
	.wants_chains = detail_wants_chains,
	.let_go = detail_let_go,
	.consume = detail_consume,
	.merge = detail_merge,
};

struct mem_detail *mem_detail_scan(struct session *s, const struct select *select,
				   const struct mem_focus *focus)
{
	const struct scan_wish wish = {
		.keeps_places = true,
		.only_memory = mem_wants_chains(focus->mem->options) == 0,
	};
	struct analysis detail = { .class = &mem_detail_class, .options = focus };

	scan_part(s, select, &wish, &detail, 1);
	return detail.result;
}

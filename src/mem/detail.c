/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass of mem/rows.h: distributions of the rows that are shown. */
#include <stdlib.h>

#include "access/samples.h"
#include "base/alloc.h"
#include "mem/rows.h"
#include "scan/scan.h"

static void *detail_new(const struct session *session, const void *options)
{
	struct mem_detail *d = mem_zalloc(1, sizeof(*d));

	(void)session;
	d->focus = options;
	d->list = mem_zalloc(d->focus->n + 1, sizeof(*d->list));
	return d;
}

static void detail_free(void *partial)
{
	struct mem_detail *d = partial;

	if (d == NULL)
		return;
	for (uint32_t i = 0; i < d->focus->n; i++)
		mem_histograms_release(&d->list[i]);
	free(d->list);
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

		if (m->options->only_total)
			histogram_add(&h->of[LATENCY_TOTAL], l.cycles[LATENCY_TOTAL],
				      (enum latency_state)l.state[LATENCY_TOTAL]);
		else
			mem_histograms_add(h, &l);
	}
}

static void detail_consume(void *partial, const struct batch *b)
{
	struct mem_detail *d = partial;
	uint16_t rows[BATCH_ROWS];
	uint8_t kinds[BATCH_ROWS];
	const struct mem_focus *focus = d->focus;
	size_t n = mem_rows_of(focus->rows->mem, b, rows, kinds);

	for (size_t i = 0; i < n; i++) {
		uint32_t row = mem_rows_find(focus->rows, (enum memory_kind)kinds[i], b, rows[i]);
		uint32_t place = row == TUPLES_NONE ? UINT32_MAX : focus->place_in_focus[row];

		if (place != UINT32_MAX)
			add_record(&d->list[place], focus->rows->mem, b, rows[i]);
	}
}

static void detail_merge(void *into, const void *from, const struct id_map *map)
{
	struct mem_detail *d = into;
	const struct mem_detail *part = from;

	(void)map;
	for (uint32_t i = 0; i < d->focus->n; i++)
		mem_histograms_merge(&d->list[i], &part->list[i]);
}

static unsigned detail_wants_chains(const void *options)
{
	const struct mem_focus *focus = options;

	return mem_wants_chains(focus->rows->mem->options);
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
		.only_memory = mem_wants_chains(focus->rows->mem->options) == 0,
		.without_addresses = mem_wants_chains(focus->rows->mem->options) == 0,
	};
	struct analysis detail = { .class = &mem_detail_class, .options = focus };

	scan_part(s, select, &wish, &detail, 1);
	return detail.result;
}

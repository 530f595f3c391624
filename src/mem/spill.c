/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of mem.h in a temporary file: what a worker had no memory for.
 */
#include <assert.h>
#include <string.h>

#include "base/pool.h"
#include "base/sorter.h"
#include "mem/mem.h"
#include "session/session.h"

enum { MOST_BYTES = 8 << 20, MOST_BYTES_OF_ALL = 24 << 20, PIECE_BYTES = 64 << 10 };

enum { SUM_WORDS = 3, COST_WORDS = 4 + (N_ALL_LATENCIES + 1) * SUM_WORDS };

size_t mem_groups_bytes(const struct session *s)
{
	size_t most = MOST_BYTES_OF_ALL / pool_size(s->pool);

	return most < MOST_BYTES ? most : MOST_BYTES;
}

/* Exchanges a sum with its words. */
static void put_sum(uint64_t *words, const struct latency_sum *sum)
{
	words[0] = sum->cycles;
	words[1] = sum->n;
	words[2] = sum->n_full;
}

static struct latency_sum get_sum(const uint64_t *words)
{
	return (struct latency_sum){ words[0], (uint32_t)words[1], (uint32_t)words[2] };
}

static void put_cost(struct text *out, const struct mem_cost *c)
{
	uint64_t words[COST_WORDS] = { c->n, c->full_cycles, c->n_walks, c->n_translated };

	put_sum(words + 4, &c->walk);
	for (int i = 0; i < N_ALL_LATENCIES; i++)
		put_sum(words + 4 + (i + 1) * SUM_WORDS, &c->sums[i]);
	sort_value_put_words(out, words, COST_WORDS);
}

static void get_cost(const uint8_t **bytes, struct mem_cost *out)
{
	uint64_t words[COST_WORDS];

	sort_value_get_words(bytes, words, COST_WORDS);
	*out = (struct mem_cost){
		.n = words[0],
		.full_cycles = words[1],
		.n_walks = words[2],
		.n_translated = words[3],
		.walk = get_sum(words + 4),
	};
	for (int i = 0; i < N_ALL_LATENCIES; i++)
		out->sums[i] = get_sum(words + 4 + (i + 1) * SUM_WORDS);
}

/* What is the same for all groups of a struct mem comes first, as it is in memory. */
struct fixed_part {
	struct mem_sums sums;
	uint32_t place;
	uint16_t kind, has_wide;
	uint64_t operations;
};

/* It is written as it is in memory: without bytes that nobody set. */
static_assert(sizeof(struct fixed_part) == sizeof(struct mem_sums) + 16, "has padding");

static void write_group(const struct mem *m, struct text *out, const struct mem_group *g)
{
	struct fixed_part fixed = { g->sums, (uint32_t)g->key[DIM_PLACE], (uint16_t)g->kind,
				    g->has_wide, g->operations };

	text_add(out, (const char *)&fixed, sizeof(fixed));
	for (size_t i = 0; i < m->n_dimensions; i++)
		text_add(out, (const char *)&g->key[m->dimensions[i]], sizeof(*g->key));
	if (g->has_wide)
		put_cost(out, &g->wide);
}

static void read_group(const struct mem *m, const uint8_t **bytes, struct mem_group *out)
{
	struct fixed_part fixed;

	memcpy(&fixed, *bytes, sizeof(fixed));
	*bytes += sizeof(fixed);
	out->kind = (enum memory_kind)fixed.kind;
	memset(out->key, 0, sizeof(out->key));
	out->key[DIM_EVENT] = capture_n_events(m->session->capture);
	out->key[DIM_PLACE] = fixed.place;
	for (size_t i = 0; i < m->n_dimensions; i++, *bytes += sizeof(*out->key))
		memcpy(&out->key[m->dimensions[i]], *bytes, sizeof(*out->key));
	out->sums = fixed.sums;
	out->operations = fixed.operations;
	out->has_wide = fixed.has_wide;
	if (out->has_wide)
		get_cost(bytes, &out->wide);
	out->histograms = NULL;
}

static void spill_all(struct mem *m)
{
	struct mem_group g;

	for (uint32_t i = 0; i < m->sums.n; i++) {
		mem_group_read(m, i, &g);
		write_group(m, &m->file.written, &g);
		spool_flush(&m->file, PIECE_BYTES);
	}
	mem_groups_reset(m);
}

bool mem_spill(struct mem *m)
{
	if (m->options->with_histograms || m->options->groups_bytes == 0 ||
	    mem_groups_size(m) < m->options->groups_bytes)
		return false;
	spill_all(m);
	return true;
}

void mem_spill_finish(struct mem *m)
{
	if (m->file.file == NULL && m->file.written.n == 0)
		return;
	spill_all(m);
	mem_groups_give_back(m);
	spool_flush(&m->file, 0);
	spool_finish(&m->file);
}

void mem_spill_merge(struct mem *into, const struct mem *from)
{
	spool_merge(&into->file, &from->file);
}

bool mem_next(const struct mem *m, struct mem_position *at, struct mem_group *out)
{
	const uint8_t *bytes;

	if (at->group < m->sums.n) {
		mem_group_read(m, at->group++, out);
		return true;
	}
	bytes = spool_next(&m->file, &at->file);
	if (bytes == NULL)
		return false;
	read_group(m, &bytes, out);
	spool_move(&m->file, &at->file, bytes);
	return true;
}

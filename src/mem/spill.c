/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of mem.h in a temporary file: what a worker had no memory for. What is sent there together is in order of its
 * partition, so a reader of one finds all of it in a few stretches.
 */
#include <assert.h>
#include <string.h>

#include "base/pool.h"
#include "base/sorter.h"
#include "mem/mem.h"
#include "session/session.h"

/* Groups of a partition lie apart. */
enum { FETCH_AHEAD = 8 };

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
	uint8_t kind, states;
	uint16_t has_wide;
	uint64_t operations;
};

/* It is written as it is in memory: without bytes that nobody set. */
static_assert(sizeof(struct fixed_part) == sizeof(struct mem_sums) + 16, "has padding");

static void write_group(const struct mem *m, struct text *out, const struct mem_group *g)
{
	struct fixed_part fixed = {
		.sums = g->sums,
		.place = (uint32_t)g->key[DIM_PLACE],
		.kind = (uint8_t)g->kind,
		.states = (uint8_t)g->states,
		.has_wide = g->has_wide,
		.operations = g->operations,
	};

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
	out->states = fixed.states;
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

static void note_spilled_place(struct mem *m, uint64_t place)
{
	size_t word = place / 64;

	if (word >= m->spilled_places.n) {
		vec_reserve(&m->spilled_places, word + 1 - m->spilled_places.n);
		m->spilled_places.n = word + 1;
	}
	m->spilled_places.items[word] |= UINT64_C(1) << place % 64;
}

static void spill_group(struct mem *m, uint32_t group)
{
	struct mem_group g;

	mem_group_read(m, group, &g);
	write_group(m, &m->file.written, &g);
	spool_flush(&m->file, PIECE_BYTES);
	note_spilled_place(m, g.key[DIM_PLACE]);
	note_spilled_place(m, g.key[DIM_CALLER]);
}

static void spill_all(struct mem *m)
{
	struct mem_spilled *spilled = vec_add(&m->spilled);
	struct mem_partitions p;

	mem_partitions_init(&p, m);
	for (size_t i = 0; i < MEM_PARTITIONS; i++) {
		spilled->starts[i] = m->file.n_in_file + m->file.written.n;
		for (uint32_t at = p.starts[i]; at < p.starts[i + 1]; at++)
			spill_group(m, p.groups[at]);
	}
	spilled->starts[MEM_PARTITIONS] = m->file.n_in_file + m->file.written.n;
	mem_partitions_release(&p);
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
	uint32_t file = (uint32_t)into->file.files.n;

	spool_merge(&into->file, &from->file);
	for (size_t i = 0; i < from->spilled.n; i++) {
		struct mem_spilled *spilled = vec_add(&into->spilled);

		*spilled = from->spilled.items[i];
		spilled->file += file;
	}
	for (size_t place = 0; place < 64 * from->spilled_places.n; place++)
		if (from->spilled_places.items[place / 64] >> place % 64 & 1)
			note_spilled_place(into, place);
}

bool mem_next_of(const struct mem *m, const struct mem_partitions *p, size_t partition,
		 struct mem_partition_position *at, struct mem_group *out)
{
	uint32_t group = p->starts[partition] + at->group;

	if (group < p->starts[partition + 1]) {
		at->group++;
		mem_partitions_fetch(p, m, group + FETCH_AHEAD);
		mem_group_read(m, p->groups[group], out);
		return true;
	}
	for (; m->file.rc == 0 && at->spilled < m->spilled.n; at->spilled++, at->at = 0) {
		const struct mem_spilled *spilled = &m->spilled.items[at->spilled];
		const struct mapped *file = &m->file.files.items[spilled->file];
		uint64_t start = spilled->starts[partition], end = spilled->starts[partition + 1];
		const uint8_t *bytes = file->bytes + start + at->at;

		if (at->at < end - start) {
			read_group(m, &bytes, out);
			at->at = (uint64_t)(bytes - file->bytes) - start;
			return true;
		}
		mapped_drop(file, start, end);
	}
	return false;
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

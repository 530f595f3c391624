/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What mem cannot do without: for each load, store or atomic, the sums of its place by kind and data source, and those of its
 * events by data source, of records, of the three latencies, and of those of records with a page table walk, and the
 * distribution of the total latency of the latter; at the end all places by data source. It knows no threads, modules, names,
 * vectors or callers, takes a full counter for any other, and prints nothing.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/prefetch.h"
#include "limits.h"
#include "spe/packet.h"

enum {
	N_CLASSES = 1024, /* more than any family has */
	N_CYCLES = 4096,
	N_SOURCES = 256,
	PLACE_BITS = 55,
	SOURCE_SHIFT = 56,
};

/* As struct mem_sums of src/mem/mem.h; words[2] 0: free. */
struct sums {
	uint64_t key, words[3];
};

/* Of events and a data source. */
struct class
{
	struct sums sums;
	uint32_t counts[N_CYCLES]; /* by total latency */
};

struct memory_sums {
	struct sums *places; /* by place, kind and data source */
	size_t mask, n;
	uint32_t numbers[N_CLASSES]; /* hash table of classes: number + 1 */
	struct class *classes;
	size_t n_classes;
	uint64_t of_sources[N_SOURCES][3]; /* what all places come to */
};

struct memory_sums *memory_sums_new(size_t n_slots)
{
	struct memory_sums *m = mem_zalloc(1, sizeof(*m));

	m->places = mem_zalloc(n_slots, sizeof(*m->places));
	m->mask = n_slots - 1;
	m->classes = mem_zalloc(N_CLASSES, sizeof(*m->classes));
	return m;
}

void memory_sums_free(struct memory_sums *m)
{
	if (m == NULL)
		return;
	free(m->places);
	free(m->classes);
	free(m);
}

size_t memory_sums_n(const struct memory_sums *m)
{
	return m->n;
}

static void sums_add(struct sums *to, const uint64_t words[3])
{
	for (size_t i = 0; i < 3; i++)
		to->words[i] += words[i];
}

static struct sums *place_at(struct memory_sums *m, uint64_t key)
{
	size_t at = first_slot(key, m->mask);

	while (m->places[at].words[2] != 0 && m->places[at].key != key)
		at = (at + 1) & m->mask;
	m->n += m->places[at].words[2] == 0;
	m->places[at].key = key;
	return &m->places[at];
}

void memory_sums_reach(struct memory_sums *m, size_t n)
{
	struct sums *old = m->places;
	size_t n_slots = m->mask + 1;

	if (2 * (m->n + n) <= n_slots)
		return;
	m->places = mem_zalloc(2 * n_slots, sizeof(*m->places));
	m->mask = 2 * n_slots - 1;
	m->n = 0;
	for (size_t i = 0; i < n_slots; i++)
		if (old[i].words[2] != 0)
			*place_at(m, old[i].key) = old[i];
	free(old);
}

static struct class *class_at(struct memory_sums *m, uint64_t key)
{
	size_t at = first_slot(key, N_CLASSES - 1);

	while (m->numbers[at] != 0 && m->classes[m->numbers[at] - 1].sums.key != key)
		at = (at + 1) & (N_CLASSES - 1);
	if (m->numbers[at] == 0) {
		m->numbers[at] = (uint32_t)++m->n_classes;
		m->classes[m->n_classes - 1].sums.key = key;
	}
	return &m->classes[m->numbers[at] - 1];
}

static uint64_t source_of(const struct batch *b, size_t row)
{
	return b->source[row] % N_SOURCES;
}

/* A place, whether it stores there, and the data source. */
static uint64_t place_key(const struct batch *b, size_t row)
{
	return (b->pc[row] & ((UINT64_C(1) << PLACE_BITS) - 1)) |
	       (uint64_t)(b->op[row] & 1) << PLACE_BITS | source_of(b, row) << SOURCE_SHIFT;
}

static bool is_memory(const struct batch *b, size_t row)
{
	return b->kind == BATCH_SPE && b->op_class[row] == SPE_OP_LDST;
}

static void add_row(struct memory_sums *m, const struct batch *b, size_t row)
{
	uint64_t is_walk = b->events[row] >> SPE_EV_TLB_WALK & 1;
	const uint64_t words[3] = {
		b->total[row] | (uint64_t)b->issue[row] << 32,
		b->xlat[row] | (b->xlat[row] & -is_walk) << 32,
		1 | is_walk << 32,
	};
	struct class *class = class_at(m, b->events[row] << 9 | (uint64_t)(b->op[row] & 1) << 8 |
						  source_of(b, row));

	sums_add(place_at(m, place_key(b, row)), words);
	sums_add(&class->sums, words);
	class->counts[b->total[row] % N_CYCLES]++;
}

void memory_sums_add(struct memory_sums *m, const struct batch *b)
{
	for (size_t from = 0; from < b->n; from += ROWS_AT_ONCE) {
		size_t to = b->n - from < ROWS_AT_ONCE ? b->n : from + ROWS_AT_ONCE;

		for (size_t row = from; row < to; row++)
			prefetch_to_write(&m->places[first_slot(place_key(b, row), m->mask)]);
		for (size_t row = from; row < to; row++)
			if (is_memory(b, row))
				add_row(m, b, row);
	}
}

void memory_sums_finish(struct memory_sums *m)
{
	for (size_t i = 0; i <= m->mask; i++)
		for (size_t k = 0; k < 3 && m->places[i].words[2] != 0; k++)
			m->of_sources[m->places[i].key >> SOURCE_SHIFT][k] += m->places[i].words[k];
}

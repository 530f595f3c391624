/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/mem.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "spe/packet.h"

static const char *const kind_names[] = {
	[MEM_LOAD] = "load",
	[MEM_STORE] = "store",
	[MEM_ATOMIC] = "atomic",
};

const struct mem_cost mem_cost_none = { .first_ns = UINT64_MAX };

const char *mem_kind_name(enum mem_kind kind)
{
	return kind_names[kind];
}

/* The payload of a load or store (docs/reference/spe-packets.md, section 6.2). */
static uint8_t kind_of_payload(uint8_t op)
{
	enum { STORE = 0x01, AT = 0x04, EXTENDED = 0x02, EXTENDED_MASK = 0xe2 };

	if ((op & EXTENDED_MASK) == EXTENDED && (op & AT))
		return MEM_ATOMIC;
	return op & STORE ? MEM_STORE : MEM_LOAD;
}

enum mem_kind mem_kind_of(uint8_t op_class, uint8_t op)
{
	return op_class == SPE_OP_LDST ? (enum mem_kind)kind_of_payload(op) : MEM_NONE;
}

size_t mem_rows_of(const struct batch *b, uint16_t rows[BATCH_ROWS], uint8_t kinds[BATCH_ROWS])
{
	size_t n = 0;

	if (b->kind != BATCH_SPE)
		return 0;
	for (size_t row = 0; row < b->n; row++) {
		rows[n] = (uint16_t)row;
		kinds[n] = kind_of_payload(b->op[row]);
		n += (b->has[row] & HAS_OP) && b->op_class[row] == SPE_OP_LDST;
	}
	return n;
}

static void sum_add(struct latency_sum *to, const struct latency_sum *from)
{
	to->n += from->n;
	to->cycles += from->cycles;
	to->n_full += from->n_full;
}

void mem_cost_add(struct mem_cost *to, const struct mem_cost *from)
{
	to->n += from->n;
	to->operations += from->operations;
	for (int i = 0; i < N_LATENCIES; i++)
		sum_add(&to->sums[i], &from->sums[i]);
	to->full_cycles += from->full_cycles;
	to->n_walks += from->n_walks;
	sum_add(&to->walk, &from->walk);
	to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
	to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
}

uint64_t mem_cost_length_ns(const struct mem_cost *c)
{
	return c->last_ns > c->first_ns ? c->last_ns - c->first_ns : 0;
}

void mem_histograms_add(struct mem_histograms *h, const struct latencies *l)
{
	for (int i = 0; i < N_LATENCIES; i++)
		histogram_add(&h->of[i], l->cycles[i], (enum latency_state)l->state[i]);
}

void mem_histograms_merge(struct mem_histograms *into, const struct mem_histograms *from)
{
	for (int i = 0; i < N_LATENCIES; i++)
		histogram_merge(&into->of[i], &from->of[i]);
}

void mem_histograms_release(struct mem_histograms *h)
{
	for (int i = 0; i < N_LATENCIES; i++)
		histogram_release(&h->of[i]);
}

static void *set_new(const struct session *session, const void *options)
{
	const struct mem_set_options *o = options;
	struct mem_set *set = mem_zalloc(1, sizeof(*set));

	set->n = o->n;
	set->list = mem_zalloc(o->n, sizeof(*set->list));
	for (size_t i = 0; i < o->n; i++)
		mem_init(&set->list[i], session, &o->list[i]);
	return set;
}

static void set_free(void *partial)
{
	struct mem_set *set = partial;

	if (set == NULL)
		return;
	for (size_t i = 0; i < set->n; i++)
		mem_release(&set->list[i]);
	free(set->list);
	free(set);
}

static void consume_some(struct mem *m, const struct batch *b, const uint16_t *rows,
			 const uint8_t *kinds, size_t n, const struct latencies *latencies)
{
	uint32_t groups[MEM_ROWS_AT_ONCE];

	mem_groups_of(m, b, rows, kinds, n, groups);
	for (size_t i = 0; i < n; i++) {
		const char *sums = (const char *)&m->sums.items[groups[i]];

		__builtin_prefetch(sums, 1);
		__builtin_prefetch(sums + sizeof(struct mem_sums) - 1, 1);
	}
	for (size_t i = 0; i < n; i++)
		mem_add_record(m, groups[i], b, rows[i], &latencies[i]);
}

static void set_consume(void *partial, const struct batch *b)
{
	struct mem_set *set = partial;
	struct latencies latencies[MEM_ROWS_AT_ONCE];
	uint16_t rows[BATCH_ROWS];
	uint8_t kinds[BATCH_ROWS];
	size_t n = mem_rows_of(b, rows, kinds);

	for (size_t from = 0; from < n; from += MEM_ROWS_AT_ONCE) {
		size_t some = n - from < MEM_ROWS_AT_ONCE ? n - from : MEM_ROWS_AT_ONCE;

		for (size_t i = 0; i < some; i++)
			latencies[i] = latencies_of(b, rows[from + i]);
		for (size_t i = 0; i < set->n; i++)
			consume_some(&set->list[i], b, rows + from, kinds + from, some, latencies);
	}
}

static void set_merge(void *into, const void *from, const struct id_map *map)
{
	struct mem_set *set = into;
	const struct mem_set *part = from;

	(void)map;
	for (size_t i = 0; i < set->n; i++)
		mem_add_groups(&set->list[i], &part->list[i]);
}

const struct analysis_class mem_set_class = {
	.new = set_new,
	.free = set_free,
	.consume = set_consume,
	.merge = set_merge,
};

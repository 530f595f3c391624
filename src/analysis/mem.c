/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "spe/packet.h"

enum { LINE = 64, ROWS_AT_ONCE = 64, MAX_WORDS = 1 + HOT_N_DIMENSIONS };

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

static void sum_record(struct latency_sum *sum, uint16_t cycles, uint8_t state)
{
	bool is_usable = state == LATENCY_USABLE;

	sum->n += is_usable;
	sum->cycles += is_usable ? cycles : 0u;
	sum->n_full += state == LATENCY_FULL;
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

static void cost_record(struct mem_cost *c, const struct session *s, const struct batch *b,
			size_t row, const struct latencies *l)
{
	uint32_t has = b->has[row];
	uint64_t events = has & HAS_EVENTS ? b->events[row] : 0;

	c->n++;
	c->operations += spe_interval(s, has & HAS_CPU ? b->cpu[row] : UINT32_MAX)->mean;
	for (int i = 0; i < N_LATENCIES; i++)
		sum_record(&c->sums[i], l->cycles[i], l->state[i]);
	if (l->state[LATENCY_TOTAL] == LATENCY_FULL)
		c->full_cycles += l->cycles[LATENCY_TOTAL];
	if (events >> SPE_EV_TLB_WALK & 1) {
		c->n_walks++;
		sum_record(&c->walk, l->cycles[LATENCY_XLAT], l->state[LATENCY_XLAT]);
	}
	if (has & HAS_TIME) {
		uint64_t time = b->time_ns[row];

		c->first_ns = time < c->first_ns ? time : c->first_ns;
		c->last_ns = time > c->last_ns ? time : c->last_ns;
	}
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

static void *mem_new(const struct session *session, const void *options)
{
	struct mem *m = mem_zalloc(1, sizeof(*m));

	m->session = session;
	m->options = options;
	for (int i = 0; i < HOT_N_DIMENSIONS; i++)
		if (m->options->dimensions >> i & 1)
			m->dimensions[m->n_dimensions++] = (enum hot_dimension)i;
	tuples_init(&m->keys, 1 + m->n_dimensions);
	return m;
}

static void mem_free(void *partial)
{
	struct mem *m = partial;

	if (m == NULL)
		return;
	for (size_t i = 0; i < m->histograms.n; i++)
		mem_histograms_release(&m->histograms.items[i]);
	vec_release(&m->histograms);
	vec_release(&m->costs);
	tuples_release(&m->keys);
	free(m);
}

enum mem_kind mem_key(const struct mem *m, uint32_t group, uint64_t key[HOT_N_DIMENSIONS])
{
	const uint64_t *words = tuples_get(&m->keys, group);

	for (int i = 0; i < HOT_N_DIMENSIONS; i++)
		key[i] = 0;
	key[DIM_EVENT] = capture_n_events(m->session->capture);
	for (size_t i = 0; i < m->n_dimensions; i++)
		key[m->dimensions[i]] = words[1 + i];
	return (enum mem_kind)words[0];
}

/* Sums of new groups. */
static void fit(struct mem *m)
{
	while (m->costs.n < m->keys.n)
		*vec_add(&m->costs) = mem_cost_none;
	while (m->options->with_histograms && m->histograms.n < m->keys.n)
		vec_add(&m->histograms);
}

/* The keys of some rows, one after the other. */
static void make_keys(const struct mem *m, const struct batch *b, const uint16_t *rows,
		      const uint8_t *kinds, size_t n, uint64_t *keys)
{
	size_t width = 1 + m->n_dimensions;

	for (size_t k = 0; k < n; k++)
		keys[k * width] = kinds[k];
	for (size_t i = 0; i < m->n_dimensions; i++)
		for (size_t k = 0; k < n; k++)
			keys[k * width + 1 + i] =
				hot_record_word(m->session, b, rows[k], m->dimensions[i]);
}

/* The groups of some keys; where few things are told apart, one is often like the one before. */
static void find_groups(struct mem *m, const uint64_t *keys, size_t n, uint32_t *groups)
{
	enum { FEW = 2 };
	size_t width = 1 + m->n_dimensions;

	if (width > FEW) {
		tuples_add_all(&m->keys, keys, n, groups);
		return;
	}
	for (size_t k = 0; k < n; k++) {
		const uint64_t *key = keys + k * width;

		if (k > 0 && memcmp(key, key - width, width * sizeof(*key)) == 0)
			groups[k] = groups[k - 1];
		else
			groups[k] = tuples_add(&m->keys, key);
	}
}

static void consume_some(struct mem *m, const struct batch *b, const uint16_t *rows,
			 const uint8_t *kinds, size_t n)
{
	uint64_t keys[ROWS_AT_ONCE * MAX_WORDS];
	uint32_t groups[ROWS_AT_ONCE];

	make_keys(m, b, rows, kinds, n, keys);
	find_groups(m, keys, n, groups);
	fit(m);
	for (size_t i = 0; i < n; i++) {
		const char *cost = (const char *)&m->costs.items[groups[i]];

		__builtin_prefetch(cost, 1);
		__builtin_prefetch(cost + LINE, 1);
		__builtin_prefetch(cost + 2 * LINE, 1);
	}
	for (size_t i = 0; i < n; i++) {
		struct latencies l = latencies_of(b, rows[i]);

		cost_record(&m->costs.items[groups[i]], m->session, b, rows[i], &l);
		if (m->options->with_histograms)
			mem_histograms_add(&m->histograms.items[groups[i]], &l);
	}
}

static void mem_consume(void *partial, const struct batch *b)
{
	uint16_t rows[BATCH_ROWS];
	uint8_t kinds[BATCH_ROWS];
	size_t n = mem_rows_of(b, rows, kinds);

	for (size_t i = 0; i < n; i += ROWS_AT_ONCE)
		consume_some(partial, b, rows + i, kinds + i,
			     n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE);
}

static void mem_merge(void *into, const void *from, const struct id_map *map)
{
	struct mem *m = into;
	const struct mem *part = from;

	(void)map;
	for (uint32_t i = 0; i < part->keys.n; i++) {
		uint32_t group = tuples_add(&m->keys, tuples_get(&part->keys, i));

		fit(m);
		mem_cost_add(&m->costs.items[group], &part->costs.items[i]);
		if (m->options->with_histograms)
			mem_histograms_merge(&m->histograms.items[group],
					     &part->histograms.items[i]);
	}
}

const struct analysis_class mem_class = {
	.new = mem_new,
	.free = mem_free,
	.consume = mem_consume,
	.merge = mem_merge,
};

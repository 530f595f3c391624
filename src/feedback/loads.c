/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/loads.h"

#include <stdlib.h>

#include "access/data_src.h"
#include "base/alloc.h"

static void *sampled_loads_new(const struct session *session, const void *options)
{
	struct sampled_loads *l = mem_zalloc(1, sizeof(*l));

	(void)options;
	l->sampling = access_sampling_of(session);
	tuples_init(&l->keys, SAMPLED_LOAD_WORDS);
	return l;
}

static void sampled_loads_free(void *partial)
{
	struct sampled_loads *l = partial;

	if (l == NULL)
		return;
	tuples_release(&l->keys);
	vec_release(&l->sums);
	free(l);
}

static struct load_sum *sum_of(struct sampled_loads *l, const uint64_t *key)
{
	uint32_t number = tuples_add(&l->keys, key);

	if (number == l->sums.n)
		vec_add(&l->sums);
	return &l->sums.items[number];
}

static void add_pair(struct load_sum *s, uint64_t address, uint64_t time_ns)
{
	uint64_t ns = time_ns > s->time_ns ? time_ns - s->time_ns : 0;

	addr_pattern_add_pair(&s->walk, s->address, address);
	if (address > s->address) {
		s->up_bytes += address - s->address;
		s->up_ns += ns;
	} else if (address < s->address) {
		s->down_bytes += s->address - address;
		s->down_ns += ns;
	}
}

static void add_miss(struct sampled_loads *l, struct load_sum *s, const struct batch *b, size_t row)
{
	struct sample_latencies latencies = sample_latencies_of(&l->sampling, b, row);

	s->n_missed++;
	if (latencies.state[LATENCY_TOTAL] == LATENCY_ABSENT)
		return;
	s->n_timed++;
	s->n_full += latencies.state[LATENCY_TOTAL] == LATENCY_FULL;
	s->cycles += latencies.cycles[LATENCY_TOTAL];
}

static void add_load(struct sampled_loads *l, const struct batch *b, size_t row)
{
	const uint64_t key[] = {
		[SAMPLED_LOAD_PLACE] = b->place[row],
		[SAMPLED_LOAD_PROCESS] = b->has[row] & HAS_PROCESS ? b->process[row] : UINT32_MAX,
		[SAMPLED_LOAD_TID] = b->has[row] & HAS_TID ? b->tid[row] : UINT32_MAX,
	};
	struct load_sum *s = sum_of(l, key);
	enum source_level level =
		b->has[row] & HAS_DATA_SRC ? data_src_level(b->data_src[row]) : SOURCE_UNKNOWN;

	addr_pattern_add(&s->walk, b->va[row]);
	if (s->batch == l->batch)
		add_pair(s, b->va[row], b->time_ns[row]);
	s->address = b->va[row];
	s->time_ns = b->time_ns[row];
	s->batch = l->batch;
	if (level != SOURCE_UNKNOWN && level != SOURCE_L1)
		add_miss(l, s, b, row);
	l->n++;
}

static void sampled_loads_consume(void *partial, const struct batch *b)
{
	const uint32_t needed = HAS_PLACE | HAS_VA | HAS_TIME;
	struct sampled_loads *l = partial;

	if (b->kind != BATCH_SAMPLES)
		return;
	l->batch++;
	for (size_t row = 0; row < b->n; row++)
		if ((b->has[row] & needed) == needed && b->va[row] != 0 &&
		    (l->sampling.event < 0 || b->event[row] == l->sampling.event) &&
		    sample_memory_kind(b, row) == MEMORY_LOAD)
			add_load(l, b, row);
}

/* All but the walk. */
static void add_sum(struct load_sum *to, const struct load_sum *from)
{
	to->n_missed += from->n_missed;
	to->n_timed += from->n_timed;
	to->n_full += from->n_full;
	to->cycles += from->cycles;
	to->up_bytes += from->up_bytes;
	to->up_ns += from->up_ns;
	to->down_bytes += from->down_bytes;
	to->down_ns += from->down_ns;
}

void load_sum_merge_other(struct load_sum *to, const struct load_sum *from)
{
	addr_pattern_merge_other(&to->walk, &from->walk);
	add_sum(to, from);
}

static void sampled_loads_merge(void *into, const void *from, const struct id_map *map)
{
	struct sampled_loads *l = into;
	const struct sampled_loads *part = from;

	(void)map; /* places have the same numbers everywhere */
	for (uint32_t i = 0; i < part->keys.n; i++) {
		struct load_sum *to = sum_of(l, tuples_get(&part->keys, i));

		addr_pattern_merge(&to->walk, &part->sums.items[i].walk);
		add_sum(to, &part->sums.items[i]);
	}
	l->n += part->n;
}

const struct analysis_class sampled_loads_class = {
	.new = sampled_loads_new,
	.free = sampled_loads_free,
	.consume = sampled_loads_consume,
	.merge = sampled_loads_merge,
};

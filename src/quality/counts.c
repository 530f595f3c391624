/* SPDX-License-Identifier: Apache-2.0 */
/* What records have and lack, by CPU and over time. */
#include <stdlib.h>

#include "access/kind.h"
#include "base/alloc.h"
#include "base/widen.h"
#include "estimate/latency.h"
#include "quality/parts.h"
#include "spe/packet.h"

static void *counts_new(const struct session *session, const void *options)
{
	struct quality_counts *q = mem_zalloc(1, sizeof(*q));

	(void)options;
	q->session = session;
	q->times_samples = capture_totals(session->capture)->n_auxtrace == 0;
	tuples_init(&q->cpus, 1);
	q->slices = session->slices;
	return q;
}

static void counts_free(void *partial)
{
	struct quality_counts *q = partial;

	if (q == NULL)
		return;
	tuples_release(&q->cpus);
	vec_release(&q->by_cpu);
	free(q);
}

static struct quality_cpu *quality_counts_cpu_of(struct quality_counts *q, uint64_t cpu)
{
	uint32_t number = tuples_add(&q->cpus, &cpu);

	if (number == q->by_cpu.n)
		vec_add(&q->by_cpu)->first_ns = UINT64_MAX;
	return &q->by_cpu.items[number];
}

static void count_latency(uint64_t *with, uint64_t *full, bool has, uint16_t cycles)
{
	*with += has;
	*full += has && latency_is_full(cycles);
}

static void count_record(struct quality_counts *q, const struct batch *b, size_t row)
{
	uint32_t has = b->has[row];
	bool is_memory = (has & HAS_OP) && b->op_class[row] == SPE_OP_LDST;

	q->n++;
	q->n_memory += is_memory;
	q->without_context += !(has & HAS_CONTEXT);
	q->without_pc += !(has & HAS_PC);
	q->without_time += !(has & HAS_TIME);
	q->without_events += !(has & HAS_EVENTS);
	q->without_address += is_memory && !(has & HAS_VA);
	if (has & HAS_TOTAL) {
		q->cycles += b->total[row];
		q->full_cycles += latency_is_full(b->total[row]) ? b->total[row] : 0u;
	}
	count_latency(&q->with_total, &q->full_total, has & HAS_TOTAL, b->total[row]);
	count_latency(&q->with_issue, &q->full_issue, has & HAS_ISSUE, b->issue[row]);
	count_latency(&q->with_xlat, &q->full_xlat, has & HAS_XLAT, b->xlat[row]);
}

static void count_time(struct quality_counts *q, struct quality_cpu *c, uint64_t time_ns)
{
	widen_times(&c->first_ns, &c->last_ns, time_ns, time_ns);
	if (q->slices.n > 0)
		c->slices[slices_find(&q->slices, time_ns)]++;
}

static void counts_consume(void *partial, const struct batch *b)
{
	struct quality_counts *q = partial;
	struct quality_cpu *c = NULL;
	uint64_t last = 0;

	for (size_t row = 0; row < b->n; row++) {
		uint64_t cpu = b->has[row] & HAS_CPU ? b->cpu[row] : UINT64_MAX;

		if (c == NULL || cpu != last)
			c = quality_counts_cpu_of(q, cpu);
		last = cpu;
		if (b->kind != BATCH_SPE) {
			q->n_samples++;
			c->n_samples++;
			if (q->times_samples && b->has[row] & HAS_TIME)
				count_time(q, c, b->time_ns[row]);
			continue;
		}
		c->n++;
		count_record(q, b, row);
		if (b->has[row] & HAS_TIME)
			count_time(q, c, b->time_ns[row]);
	}
}

static void add_cpu(struct quality_cpu *to, const struct quality_cpu *from)
{
	to->n += from->n;
	to->n_samples += from->n_samples;
	widen_times(&to->first_ns, &to->last_ns, from->first_ns, from->last_ns);
	for (int i = 0; i < SLICES_MAX; i++)
		to->slices[i] += from->slices[i];
}

static void counts_merge(void *into, const void *from, const struct id_map *map)
{
	struct quality_counts *q = into;
	const struct quality_counts *part = from;

	(void)map;
	for (uint32_t i = 0; i < part->cpus.n; i++)
		add_cpu(quality_counts_cpu_of(q, tuples_get(&part->cpus, i)[0]),
			&part->by_cpu.items[i]);
	q->n += part->n;
	q->n_samples += part->n_samples;
	q->n_memory += part->n_memory;
	q->without_context += part->without_context;
	q->without_pc += part->without_pc;
	q->without_time += part->without_time;
	q->without_address += part->without_address;
	q->without_events += part->without_events;
	q->with_total += part->with_total;
	q->full_total += part->full_total;
	q->with_issue += part->with_issue;
	q->full_issue += part->full_issue;
	q->with_xlat += part->with_xlat;
	q->full_xlat += part->full_xlat;
	q->cycles += part->cycles;
	q->full_cycles += part->full_cycles;
}

const struct analysis_class quality_class = {
	.new = counts_new,
	.free = counts_free,
	.consume = counts_consume,
	.merge = counts_merge,
};

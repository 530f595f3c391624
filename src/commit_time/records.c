/* SPDX-License-Identifier: Apache-2.0 */
/* The two scans: what records say of instructions, and the time between records. */
#include <stdlib.h>

#include "access/kind.h"
#include "base/alloc.h"
#include "commit_time/inside.h"
#include "estimate/latency.h"
#include "spe/names.h"
#include "spe/packet.h"

static void *commit_records_new(const struct session *session, const void *options)
{
	struct commit_records *r = mem_zalloc(1, sizeof(*r));

	(void)session;
	(void)options;
	tuples_init(&r->targets, 2);
	return r;
}

static void commit_records_free(void *partial)
{
	struct commit_records *r = partial;

	if (r == NULL)
		return;
	vec_release(&r->places);
	tuples_release(&r->targets);
	vec_release(&r->n_targets);
	free(r);
}

static struct record_sums *sums_of(struct commit_records *r, uint32_t place)
{
	if (place >= r->places.n) {
		size_t more = place + 1 - r->places.n;

		vec_reserve(&r->places, more);
		r->places.n += more;
	}
	return &r->places.items[place];
}

static void add_target(struct commit_records *r, uint32_t place, uint64_t distance, uint32_t n)
{
	const uint64_t key[] = { place, distance };
	uint32_t number = tuples_add(&r->targets, key);

	if (number == r->n_targets.n)
		vec_add(&r->n_targets);
	r->n_targets.items[number] += n;
}

static void add_branch(struct commit_records *r, const struct batch *b, size_t row, uint64_t events)
{
	enum { WORD = 4 };
	bool is_taken = spe_branch_is_taken(b->op[row], events);

	if (is_taken && !(b->has[row] & HAS_TARGET))
		return;
	add_target(r, b->place[row], is_taken ? b->target[row] - b->pc[row] : WORD, 1);
}

static void record_sums_add_latency(struct record_sums *sums, uint64_t events, uint32_t cycles)
{
	if (!(events >> SPE_EV_L1D_REFILL & 1)) {
		sums->n_hits++;
		sums->hit_cycles += cycles;
		return;
	}
	sums->n_misses++;
	sums->n_far += events >> SPE_EV_LLC_MISS & 1;
	sums->miss_cycles += cycles;
}

static void commit_records_consume(void *partial, const struct batch *b)
{
	struct commit_records *r = partial;

	for (size_t row = 0; row < b->n && b->kind == BATCH_SPE; row++) {
		uint32_t has = b->has[row];
		uint64_t events = batch_events(b, row);
		struct latencies l = latencies_of(b, row);
		struct record_sums *sums;

		if (!(has & HAS_PLACE))
			continue;
		sums = sums_of(r, b->place[row]);
		sums->n++;
		sums->n_mispredicted += events >> SPE_EV_MISPREDICTED & 1;
		sums->n_loads +=
			has & HAS_OP && memory_kind_of(b->op_class[row], b->op[row]) == MEMORY_LOAD;
		if (l.state[LATENCY_ACCESS] == LATENCY_USABLE)
			record_sums_add_latency(sums, events, l.cycles[LATENCY_ACCESS]);
		if (has & HAS_OP && b->op_class[row] == SPE_OP_BRANCH && has & HAS_EVENTS)
			add_branch(r, b, row, events);
	}
}

static void commit_records_merge(void *into, const void *from, const struct id_map *map)
{
	struct commit_records *r = into;
	const struct commit_records *part = from;

	(void)map; /* places have the same numbers everywhere */
	for (size_t i = 0; i < part->places.n; i++) {
		const struct record_sums *its = &part->places.items[i];
		struct record_sums *to = sums_of(r, (uint32_t)i);

		to->n += its->n;
		to->n_loads += its->n_loads;
		to->n_mispredicted += its->n_mispredicted;
		to->n_far += its->n_far;
		to->n_hits += its->n_hits;
		to->n_misses += its->n_misses;
		to->hit_cycles += its->hit_cycles;
		to->miss_cycles += its->miss_cycles;
	}
	for (uint32_t i = 0; i < part->targets.n; i++) {
		const uint64_t *key = tuples_get(&part->targets, i);

		add_target(r, (uint32_t)key[0], key[1], part->n_targets.items[i]);
	}
}

const struct analysis_class commit_records_class = {
	.new = commit_records_new,
	.free = commit_records_free,
	.consume = commit_records_consume,
	.merge = commit_records_merge,
};

static void *commit_pairs_new(const struct session *session, const void *options)
{
	struct commit_pairs *p = mem_zalloc(1, sizeof(*p));

	(void)session;
	p->all = options;
	p->ns = mem_zalloc(MOST_FUNCTIONS, sizeof(*p->ns));
	p->n = mem_zalloc(MOST_FUNCTIONS, sizeof(*p->n));
	return p;
}

static void commit_pairs_free(void *partial)
{
	struct commit_pairs *p = partial;

	if (p == NULL)
		return;
	free(p->ns);
	free(p->n);
	free(p);
}

static unsigned function_at(const struct commit_pairs *p, const struct batch *b, size_t row)
{
	return b->has[row] & HAS_PLACE && b->place[row] < p->all->n_places
		       ? p->all->function_of[b->place[row]]
		       : OTHER_FUNCTIONS;
}

/* Pairs of records in two batches are left out: so it does not matter who decodes which. */
static void commit_pairs_consume(void *partial, const struct batch *b)
{
	struct commit_pairs *p = partial;

	for (size_t row = 1; row < b->n && b->kind == BATCH_SPE; row++) {
		unsigned before = function_at(p, b, row - 1), after = function_at(p, b, row);
		uint64_t ns = b->time_ns[row] - b->time_ns[row - 1];

		if (!spe_record_follows(p->all->session, b, row) ||
		    (ns > p->all->longest_ns[before] && ns > p->all->longest_ns[after]))
			continue;
		p->ns[before][after] += ns;
		p->n[before][after]++;
	}
}

static void commit_pairs_merge(void *into, const void *from, const struct id_map *map)
{
	struct commit_pairs *p = into;
	const struct commit_pairs *part = from;

	(void)map;
	for (int i = 0; i < MOST_FUNCTIONS; i++) {
		for (int k = 0; k < MOST_FUNCTIONS; k++) {
			p->ns[i][k] += part->ns[i][k];
			p->n[i][k] += part->n[i][k];
		}
	}
}

const struct analysis_class commit_pairs_class = {
	.new = commit_pairs_new,
	.free = commit_pairs_free,
	.consume = commit_pairs_consume,
	.merge = commit_pairs_merge,
};

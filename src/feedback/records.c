/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/records.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "process/attribution.h"
#include "process/place_cache.h"
#include "spe/names.h"

static void *flow_records_new(const struct session *session, const void *options)
{
	struct flow_records *r = mem_zalloc(1, sizeof(*r));

	(void)options;
	r->session = session;
	r->cache = mem_zalloc(1, sizeof(*r->cache));
	place_cache_init(r->cache, session->timeline, session->places);
	tuples_init(&r->keys, FLOW_RECORD_WORDS);
	return r;
}

static void flow_records_free(void *partial)
{
	struct flow_records *r = partial;

	if (r == NULL)
		return;
	place_cache_release(r->cache);
	free(r->cache);
	tuples_release(&r->keys);
	vec_release(&r->sums);
	free(r);
}

/* Operations that a record of this row stands for; 1 if that is not known. */
static uint64_t record_operations(const struct flow_records *r, const struct batch *b, size_t row)
{
	uint32_t cpu = b->has[row] & HAS_CPU ? b->cpu[row] : UINT32_MAX;
	uint64_t mean = spe_interval(r->session, cpu)->mean;

	return mean > 0 ? mean : 1;
}

static uint32_t find_target(struct flow_records *r, const struct batch *b, size_t row,
			    uint64_t address)
{
	uint64_t time_ns =
		attribution_row_time(timeline_is_by_position(r->session->timeline), b, row);

	return place_cache_find(r->cache, attribution_whose_address(b, row, address), address,
				time_ns);
}

static struct flow_record_sum *add_key(struct flow_records *r, const uint64_t *key)
{
	uint32_t number = tuples_add(&r->keys, key);

	if (number == r->sums.n)
		vec_add(&r->sums);
	return &r->sums.items[number];
}

static void add_record(struct flow_records *r, const struct batch *b, size_t row)
{
	uint32_t has = b->has[row];
	uint64_t events = has & HAS_EVENTS ? b->events[row] : 0;
	bool is_branch = has & HAS_OP && b->op_class[row] == SPE_OP_BRANCH;
	uint64_t operations = record_operations(r, b, row);
	uint64_t key[FLOW_RECORD_WORDS] = { [FLOW_RECORD_PLACE] = b->place[row] };
	struct flow_record_sum *sum;

	if (is_branch)
		key[FLOW_RECORD_KIND] =
			spe_branch_is_taken(b->op[row], events) ? RECORD_TAKEN : RECORD_NOT_TAKEN;
	if (key[FLOW_RECORD_KIND] == RECORD_TAKEN && has & HAS_TARGET)
		key[FLOW_RECORD_TARGET] = find_target(r, b, row, b->target[row]);
	if (has & HAS_PREV_TARGET)
		key[FLOW_RECORD_PREVIOUS] = find_target(r, b, row, b->prev_target[row]);
	sum = add_key(r, key);
	sum->n++;
	sum->n_mispredicted += is_branch && events >> SPE_EV_MISPREDICTED & 1;
	sum->operations += operations;
	r->n++;
	r->n_branches += is_branch;
	r->n_previous += (has & HAS_PREV_TARGET) != 0;
	r->operations += operations;
}

static void flow_records_consume(void *partial, const struct batch *b)
{
	struct flow_records *r = partial;

	if (b->kind != BATCH_SPE)
		return;
	for (size_t row = 0; row < b->n; row++) {
		bool is_retired =
			!(b->has[row] & HAS_EVENTS) || b->events[row] >> SPE_EV_RETIRED & 1;

		if (!is_retired)
			r->n_not_retired++;
		else if (b->has[row] & HAS_PLACE)
			add_record(r, b, row);
	}
}

static void flow_records_merge(void *into, const void *from, const struct id_map *map)
{
	struct flow_records *r = into;
	const struct flow_records *part = from;

	(void)map; /* places have the same numbers everywhere */
	for (uint32_t i = 0; i < part->keys.n; i++) {
		struct flow_record_sum *sum = add_key(r, tuples_get(&part->keys, i));

		sum->n += part->sums.items[i].n;
		sum->n_mispredicted += part->sums.items[i].n_mispredicted;
		sum->operations += part->sums.items[i].operations;
	}
	r->n += part->n;
	r->n_branches += part->n_branches;
	r->n_previous += part->n_previous;
	r->operations += part->operations;
	r->n_not_retired += part->n_not_retired;
}

const struct analysis_class flow_record_class = {
	.new = flow_records_new,
	.free = flow_records_free,
	.consume = flow_records_consume,
	.merge = flow_records_merge,
};

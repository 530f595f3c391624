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

	r->session = session;
	r->cache = mem_zalloc(1, sizeof(*r->cache));
	place_cache_init(r->cache, session->timeline, session->places);
	record_sums_init(&r->sums, *(const size_t *)options, pool_size(session->pool));
	return r;
}

static void flow_records_free(void *partial)
{
	struct flow_records *r = partial;

	if (r == NULL)
		return;
	place_cache_release(r->cache);
	free(r->cache);
	record_sums_release(&r->sums);
	free(r);
}

/* Operations that a record of this row stands for; 1 if that is not known. */
static uint64_t record_operations(const struct flow_records *r, const struct batch *b, size_t row)
{
	uint32_t cpu = batch_cpu(b, row);
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

static void add_record(struct flow_records *r, const struct batch *b, size_t row)
{
	uint32_t has = b->has[row];
	uint64_t events = batch_events(b, row);
	bool is_branch = has & HAS_OP && b->op_class[row] == SPE_OP_BRANCH;
	uint64_t key[FLOW_RECORD_WORDS] = { [FLOW_RECORD_PLACE] = b->place[row] };
	const struct flow_record_sum one = {
		.n = 1,
		.n_mispredicted = is_branch && events >> SPE_EV_MISPREDICTED & 1,
		.operations = record_operations(r, b, row),
	};

	if (is_branch)
		key[FLOW_RECORD_KIND] =
			spe_branch_is_taken(b->op[row], events) ? RECORD_TAKEN : RECORD_NOT_TAKEN;
	if (key[FLOW_RECORD_KIND] == RECORD_TAKEN && has & HAS_TARGET)
		key[FLOW_RECORD_TARGET] = find_target(r, b, row, b->target[row]);
	if (has & HAS_PREV_TARGET)
		key[FLOW_RECORD_PREVIOUS] = find_target(r, b, row, b->prev_target[row]);
	record_sums_add(&r->sums, key, &one);
	r->n++;
	r->n_branches += is_branch;
	r->n_previous += (has & HAS_PREV_TARGET) != 0;
	r->operations += one.operations;
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

static void flow_records_finish(void *partial)
{
	struct flow_records *r = partial;

	record_sums_finish(&r->sums);
}

static void flow_records_merge(void *into, const void *from, const struct id_map *map)
{
	struct flow_records *r = into;
	const struct flow_records *part = from;

	(void)map; /* places have the same numbers everywhere */
	record_sums_merge(&r->sums, &part->sums);
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
	.finish = flow_records_finish,
	.merge = flow_records_merge,
};

static void *place_samples_new(const struct session *session, const void *options)
{
	const struct place_samples_options *o = options;
	struct place_samples *s = mem_zalloc(1, sizeof(*s));

	s->event = o->event;
	record_sums_init(&s->sums, o->memory_bytes, pool_size(session->pool));
	return s;
}

static void place_samples_free(void *partial)
{
	struct place_samples *s = partial;

	if (s == NULL)
		return;
	record_sums_release(&s->sums);
	free(s);
}

static void place_samples_consume(void *partial, const struct batch *b)
{
	struct place_samples *s = partial;

	for (size_t row = 0; b->kind == BATCH_SAMPLES && row < b->n; row++) {
		const uint64_t key[FLOW_RECORD_WORDS] = { [FLOW_RECORD_PLACE] = b->place[row] };
		const struct flow_record_sum one = {
			.n = 1,
			.operations = batch_period(b, row),
		};

		if (b->event[row] != s->event || !(b->has[row] & HAS_PLACE))
			continue;
		record_sums_add(&s->sums, key, &one);
		s->n++;
	}
}

static void place_samples_finish(void *partial)
{
	struct place_samples *s = partial;

	record_sums_finish(&s->sums);
}

static void place_samples_merge(void *into, const void *from, const struct id_map *map)
{
	const struct place_samples *part = from;
	struct place_samples *s = into;

	(void)map; /* places have the same numbers everywhere */
	record_sums_merge(&s->sums, &part->sums);
	s->n += part->n;
}

const struct analysis_class place_samples_class = {
	.new = place_samples_new,
	.free = place_samples_free,
	.consume = place_samples_consume,
	.finish = place_samples_finish,
	.merge = place_samples_merge,
};

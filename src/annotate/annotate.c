/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the records of one function, by instruction. */
#include "annotate/annotate.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "hot/branches.h"
#include "hot/sums/sums.h"
#include "keys/dimension.h"
#include "spe/names.h"
#include "spe/packet.h"

enum { KEY_OFFSET, KEY_WHAT, KEY_VALUE, N_KEY };

static void *annotate_new(const struct session *session, const void *options)
{
	struct annotate *a = mem_zalloc(1, sizeof(*a));

	a->session = session;
	a->region = options;
	tuples_init(&a->keys, N_KEY);
	return a;
}

static void annotate_free(void *partial)
{
	struct annotate *a = partial;

	if (a == NULL)
		return;
	tuples_release(&a->keys);
	vec_release(&a->counts);
	free(a);
}

static void annotate_count(struct annotate *a, uint64_t offset, enum annotate_what what,
			   uint64_t value, uint64_t n)
{
	const uint64_t key[N_KEY] = { offset, what, value };
	uint32_t number = tuples_add(&a->keys, key);

	if (number == a->counts.n)
		vec_add(&a->counts);
	a->counts.items[number] += n;
}

static void count_spe(struct annotate *a, const struct batch *b, size_t row, uint64_t offset)
{
	uint32_t has = b->has[row];
	uint64_t events = batch_events(b, row);

	annotate_count(a, offset, COUNT_RECORDS, 0, 1);
	annotate_count(a, offset, COUNT_PLACE, b->place[row], 1);
	for (uint64_t bits = events; bits != 0; bits &= bits - 1)
		annotate_count(a, offset, COUNT_EVENT, (uint64_t)__builtin_ctzll(bits), 1);
	if (has & HAS_TOTAL)
		annotate_count(a, offset, COUNT_TOTAL, b->total[row], 1);
	if (has & HAS_ISSUE)
		annotate_count(a, offset, COUNT_ISSUE, b->issue[row], 1);
	if (has & HAS_XLAT)
		annotate_count(a, offset, COUNT_XLAT, b->xlat[row], 1);
	if (has & HAS_SOURCE)
		annotate_count(a, offset, COUNT_SOURCE,
			       record_dimension(a->session, b, row, DIM_SOURCE), 1);
	if (has & HAS_OP && has & HAS_EVENTS && b->op_class[row] == SPE_OP_BRANCH)
		annotate_count(a, offset, COUNT_BRANCH, spe_branch_is_taken(b->op[row], events), 1);
}

static void count_entry(struct annotate *a, const struct batch *b, size_t row, uint64_t offset)
{
	bool is_known = b->has[row] & HAS_EVENTS;

	annotate_count(a, offset, COUNT_ENTRY, is_known, 1);
	if (is_known && b->events[row] >> SPE_EV_MISPREDICTED & 1)
		annotate_count(a, offset, COUNT_EVENT, SPE_EV_MISPREDICTED, 1);
}

static void annotate_consume(void *partial, const struct batch *b)
{
	struct annotate *a = partial;
	const struct annotate_region *r = a->region;
	const struct slices *slices = &a->session->slices;

	for (size_t row = 0; row < b->n; row++) {
		struct place place = session_place(a->session, b->place[row]);

		if (!(b->has[row] & HAS_PC) || place.module.v != r->module.v ||
		    place.offset < r->from || place.offset >= r->to)
			continue;
		if (b->kind == BATCH_BRANCHES) {
			count_entry(a, b, row, place.offset);
			continue;
		}
		if (slices->n > 0 && b->has[row] & HAS_TIME)
			annotate_count(a, place.offset, COUNT_SLICE,
				       slices_find(slices, b->time_ns[row]), 1);
		if (b->kind == BATCH_SPE) {
			count_spe(a, b, row, place.offset);
			continue;
		}
		annotate_count(a, place.offset, COUNT_SAMPLES, b->event[row], 1);
		annotate_count(a, place.offset, COUNT_PERIOD, b->event[row], batch_period(b, row));
	}
}

static void annotate_merge(void *into, const void *from, const struct id_map *map)
{
	const struct annotate *part = from;

	(void)map; /* offsets are the same everywhere */
	for (uint32_t i = 0; i < part->keys.n; i++) {
		const uint64_t *key = tuples_get(&part->keys, i);

		annotate_count(into, key[KEY_OFFSET], (enum annotate_what)key[KEY_WHAT],
			       key[KEY_VALUE], part->counts.items[i]);
	}
}

struct annotate *annotate_of_hot(const struct hot *hot, const struct annotate_region *r)
{
	struct annotate *a = annotate_new(hot->session, r);

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		const struct hot_cost cost = hot_cost(hot, i);
		uint64_t key[N_DIMENSIONS];
		struct place place;
		size_t sampled;

		hot_key(hot, i, key);
		place = session_place(a->session, (uint32_t)key[DIM_PLACE]);
		if (place.module.v != r->module.v || place.offset < r->from ||
		    place.offset >= r->to || hot_is_branches(hot, key[DIM_EVENT], &sampled))
			continue;
		if (hot_is_spe(hot, key[DIM_EVENT])) {
			annotate_count(a, place.offset, COUNT_RECORDS, 0, cost.n);
			continue;
		}
		annotate_count(a, place.offset, COUNT_SAMPLES, key[DIM_EVENT], cost.n);
		annotate_count(a, place.offset, COUNT_PERIOD, key[DIM_EVENT], cost.period);
	}
	return a;
}

struct scan_wish annotate_wish(const struct session *s)
{
	return (struct scan_wish){
		.with_branches = session_has_branches(s) && !capture_spe(s->capture)->is_present,
	};
}

const struct analysis_class annotate_class = {
	.new = annotate_new,
	.free = annotate_free,
	.consume = annotate_consume,
	.merge = annotate_merge,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of the answer a record belongs to, and when streams of records were interrupted. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "hot/elapsed/inside.h"
#include "hot/sums/group.h"

static void elapsed_add_raw(struct elapsed_plan *p, const uint64_t *raw, uint32_t row)
{
	uint64_t key[N_DIMENSIONS];
	uint32_t number;

	if (p->is_by_place) {
		while (p->row_of_place.n <= raw[DIM_PLACE])
			*vec_add(&p->row_of_place) = ELAPSED_NO_ROW;
		p->row_of_place.items[raw[DIM_PLACE]] = row;
		return;
	}
	for (size_t i = 0; i < p->n_dimensions; i++)
		key[i] = raw[p->dimensions[i]];
	number = tuples_add(&p->raws, key);
	if (number == p->row_of_raw.n)
		*vec_add(&p->row_of_raw) = row;
}

static void elapsed_plan_add_rows(struct elapsed_plan *p, const struct hot *hot,
				  const struct hot_grouping *g)
{
	uint32_t row = 0;

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		uint64_t raw[N_DIMENSIONS], words[HOT_GROUP_WORDS];

		hot_key(hot, i, raw);
		if (!hot_is_spe(hot, raw[DIM_EVENT]))
			continue;
		hot_words(g, raw, words);
		hot_words_of_outer(g, words); /* code that takes turns with it too fast */
		row = tuples_add_again(&p->rows, words, row);
		elapsed_add_raw(p, raw, row);
	}
}

static void add_stop(struct elapsed_plan *p, uint64_t of, uint64_t time_ns)
{
	*vec_add(&p->stops) = (struct elapsed_stop){ .of = of, .time_ns = time_ns };
}

/* Notes context switches, drained buffers and throttling: streams are interrupted there. */
static void elapsed_visit_record(void *context, const struct record *r, const struct sample_id *id)
{
	struct elapsed_plan *p = context;
	bool is_switch = r->type == RECORD_SWITCH || r->type == RECORD_SWITCH_CPU_WIDE;
	bool is_per_thread = capture_spe(p->session->capture)->is_per_thread;

	if (!is_switch && r->type != RECORD_AUX && r->type != RECORD_THROTTLE)
		return;
	p->has_switches |= is_switch;
	if (!(id->has & HAS_TIME))
		return;
	if (id->has & HAS_CPU && !is_per_thread)
		add_stop(p, id->cpu, id->time_ns);
	if (id->has & HAS_TID && is_per_thread)
		add_stop(p, ELAPSED_THREAD | id->tid, id->time_ns);
}

static int compare_stops(const void *left, const void *right)
{
	const struct elapsed_stop *a = left, *b = right;

	if (a->of != b->of)
		return (a->of > b->of) - (a->of < b->of);
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

struct elapsed_plan *elapsed_plan_new(const struct session *s, const struct hot *hot,
				      const struct names *names, const struct keys *keys)
{
	const struct hot_view view = { .keys = *keys };
	struct hot_grouping g = { .hot = hot, .view = &view, .names = names, .n_words = 1 };
	struct elapsed_plan *p = mem_zalloc(1, sizeof(*p));
	uint32_t dimensions = keys_dimensions(keys) & ~(1u << DIM_EVENT);

	p->session = s;
	p->is_by_place = dimensions == 1u << DIM_PLACE;
	for (size_t i = 0; i < keys->n; i++)
		g.n_words += key_classes[keys->keys[i]].n_words;
	for (int i = 0; i < N_DIMENSIONS; i++)
		if (dimensions >> i & 1)
			p->dimensions[p->n_dimensions++] = (enum dimension)i;
	tuples_init(&p->rows, g.n_words);
	tuples_init(&p->raws, p->n_dimensions);
	elapsed_plan_add_rows(p, hot, &g);
	capture_walk(s->capture, elapsed_visit_record, p);
	if (p->stops.n > 1)
		qsort(p->stops.items, p->stops.n, sizeof(*p->stops.items), compare_stops);
	return p;
}

void elapsed_plan_free(struct elapsed_plan *p)
{
	if (p == NULL)
		return;
	tuples_release(&p->rows);
	tuples_release(&p->raws);
	vec_release(&p->row_of_raw);
	vec_release(&p->row_of_place);
	vec_release(&p->stops);
	free(p);
}

void elapsed_plan_find(const struct elapsed_plan *p, const struct batch *b, uint32_t *out)
{
	uint16_t all[BATCH_ROWS];
	uint64_t words[BATCH_ROWS * N_DIMENSIONS];

	for (size_t row = 0; row < b->n; row++)
		all[row] = (uint16_t)row;
	if (p->is_by_place) {
		records_places(b, all, b->n, out);
		for (size_t row = 0; row < b->n; row++)
			out[row] = out[row] < p->row_of_place.n ? p->row_of_place.items[out[row]]
								: ELAPSED_NO_ROW;
		return;
	}
	for (size_t i = 0; i < p->n_dimensions; i++)
		records_dimension(p->session, b, all, b->n, p->dimensions[i], words + i,
				  p->n_dimensions);
	for (size_t row = 0; row < b->n; row++) {
		uint32_t raw = tuples_find(&p->raws, words + row * p->n_dimensions);

		out[row] = raw == TUPLES_NONE ? ELAPSED_NO_ROW : p->row_of_raw.items[raw];
	}
}

struct elapsed_span elapsed_plan_span(const struct elapsed_plan *p, uint64_t of, uint64_t time_ns)
{
	const struct elapsed_stop wanted = { .of = of, .time_ns = time_ns };
	struct elapsed_span out = { .of = of, .last_ns = UINT64_MAX };
	const struct elapsed_stop *stops = p->stops.items;
	size_t at = bisect(0, p->stops.n, i,
			   compare_stops(&stops[i], &wanted) < 0); /* the first stop from then on */

	if (at > 0 && stops[at - 1].of == of)
		out.first_ns = stops[at - 1].time_ns;
	if (at < p->stops.n && stops[at].of == of)
		out.last_ns = stops[at].time_ns;
	return out;
}

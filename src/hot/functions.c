/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/functions.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "keys/keys.h"

/* Weight of a place by aspect. */
struct aspects {
	uint64_t of[N_ASPECTS];
};

/* State while summing up. */
struct gathering {
	struct hot_functions *out;
	const struct names *names;
	struct tuples keys;		/* event, function, module: numbers of out->list */
	struct tuples places;		/* event, place */
	VEC_OF(struct aspects) aspects; /* by number of the place */
};

bool hot_place_is_before(const struct session *s, uint32_t a, uint32_t b)
{
	struct place x = session_place(s, a), y = session_place(s, b);

	return x.module.v != y.module.v ? x.module.v < y.module.v : x.offset < y.offset;
}

static struct hot_function *function_of(struct gathering *g, const uint64_t *raw)
{
	uint32_t place = (uint32_t)raw[DIM_PLACE];
	const uint64_t key[] = {
		raw[DIM_EVENT],
		g->names->symbols[place].function.v,
		session_place(g->out->hot->session, place).module.v,
	};
	uint32_t number = tuples_add(&g->keys, key);
	struct hot_function *f;

	if (number < g->out->list.n)
		return &g->out->list.items[number];
	f = vec_add(&g->out->list);
	f->event = raw[DIM_EVENT];
	for (int i = 0; i < N_ASPECTS; i++)
		f->places[i] = place;
	return f;
}

/* From remote caches to remote memory: prefetching or a better layout may save it. */
static bool is_far(const struct cpu_source *source)
{
	return source->level >= SOURCE_REMOTE && source->level <= SOURCE_REMOTE_DRAM;
}

static bool is_peer(const struct cpu_source *source)
{
	return source->level == SOURCE_PEER_CORE || source->level == SOURCE_PEER_CLUSTER;
}

static void functions_add_source(struct hot_function *f, uint64_t word, const struct hot_cost *c)
{
	const struct cpu_source *source = key_source(word);

	if (source == NULL)
		return;
	f->n_sourced += c->n;
	f->sourced_cycles += c->cycles;
	if (is_far(source)) {
		f->n_far += c->n;
		f->far_cycles += c->cycles;
	} else if (is_peer(source)) {
		f->n_peer += c->n;
		f->peer_cycles += c->cycles;
	}
}

/* A place has a group for each process and source: sum them up, to compare whole places. */
static void hot_functions_add_place(struct gathering *g, const uint64_t *raw, uint64_t weight,
				    const struct hot_cost *c)
{
	const uint64_t key[] = { raw[DIM_EVENT], raw[DIM_PLACE] };
	const struct cpu_source *source = key_source(raw[DIM_SOURCE]);
	uint32_t number = tuples_add(&g->places, key);
	uint64_t *of;

	if (number == g->aspects.n)
		vec_add(&g->aspects);
	of = g->aspects.items[number].of;
	of[ASPECT_WEIGHT] += weight;
	of[ASPECT_FAR] += source != NULL && is_far(source) ? c->cycles : 0;
	of[ASPECT_PEER] += source != NULL && is_peer(source) ? c->cycles : 0;
	of[ASPECT_WALKS] += c->n_walks;
	of[ASPECT_MISPREDICTED] += c->n_mispredicted;
}

static void hot_functions_add_group(struct gathering *g, uint32_t group)
{
	const struct hot *hot = g->out->hot;
	const struct hot_cost *cost = hot_cost(hot, group);
	uint64_t raw[N_DIMENSIONS], weight;
	struct hot_function *f;

	hot_key(hot, group, raw);
	weight = hot_event_weight(hot, raw[DIM_EVENT], cost);
	f = function_of(g, raw);
	f->weight += weight;
	hot_cost_add(&f->cost, cost);
	if (!hot_is_spe(hot, raw[DIM_EVENT]))
		raw[DIM_SOURCE] = DIM_ABSENT; /* samples have a period, not a latency */
	functions_add_source(f, raw[DIM_SOURCE], cost);
	hot_functions_add_place(g, raw, weight, cost);
}

static void compare_place(const struct session *s, struct hot_function *f, uint32_t place,
			  int aspect, uint64_t weight)
{
	if (weight < f->place_weights[aspect])
		return;
	if (weight > f->place_weights[aspect] || hot_place_is_before(s, place, f->places[aspect]))
		f->places[aspect] = place;
	f->place_weights[aspect] = weight;
}

static void functions_find_heaviest(struct gathering *g)
{
	for (uint32_t i = 0; i < g->places.n; i++) {
		const uint64_t *key = tuples_get(&g->places, i);
		const uint64_t raw[N_DIMENSIONS] = { [DIM_EVENT] = key[0], [DIM_PLACE] = key[1] };
		struct hot_function *f = function_of(g, raw);

		for (int aspect = 0; aspect < N_ASPECTS; aspect++)
			compare_place(g->out->hot->session, f, (uint32_t)key[1], aspect,
				      g->aspects.items[i].of[aspect]);
	}
}

void hot_functions_init(struct hot_functions *out, const struct hot *hot, const struct names *names)
{
	struct gathering g = { .out = out, .names = names };

	*out = (struct hot_functions){ .hot = hot, .totals = hot_totals(hot) };
	tuples_init(&g.keys, 3);
	tuples_init(&g.places, 2);
	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1))
		hot_functions_add_group(&g, i);
	functions_find_heaviest(&g);
	tuples_release(&g.keys);
	tuples_release(&g.places);
	vec_release(&g.aspects);
}

void hot_functions_release(struct hot_functions *f)
{
	vec_release(&f->list);
	free(f->totals);
	*f = (struct hot_functions){ 0 };
}

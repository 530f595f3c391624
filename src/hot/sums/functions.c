/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/sums/functions.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/prefetch.h"
#include "keys/keys.h"

/* Groups that are looked up at once, so that cache misses overlap. */
enum { GROUPS_AT_ONCE = 64 };

/* A place with records of an event: its weight by aspect. */
struct weighed_place {
	uint64_t of[N_ASPECTS];
	uint32_t function; /* number of it */
};

/* State while summing up. */
struct gathering {
	struct hot_functions *out;
	const struct names *names;
	struct tuples keys;	    /* event, function, module: numbers of out->list */
	uint32_t last;		    /* … of the place before */
	struct place_groups places; /* of place and event: */
	VEC_OF(struct weighed_place) weighed;
};

bool hot_place_is_before(const struct session *s, uint32_t a, uint32_t b)
{
	struct place x = session_place(s, a), y = session_place(s, b);

	return x.module.v != y.module.v ? x.module.v < y.module.v : x.offset < y.offset;
}

static uint32_t hot_function_number(struct gathering *g, const uint64_t *raw)
{
	uint32_t place = (uint32_t)raw[DIM_PLACE];
	const uint64_t key[] = {
		raw[DIM_EVENT],
		names_know_any(g->names) ? g->names->symbols[place].function.v : 0,
		session_place(g->out->hot->session, place).module.v,
	};
	uint32_t number = g->last = tuples_add_again(&g->keys, key, g->last);
	struct hot_function *f;

	if (number < g->out->list.n)
		return number;
	f = vec_add(&g->out->list);
	f->event = raw[DIM_EVENT];
	for (int i = 0; i < N_ASPECTS; i++)
		f->places[i] = place;
	return number;
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

/* A place has a group for each process and source: summed up, to compare whole places. */
static uint32_t weighed_place_of(struct gathering *g, const uint64_t *raw)
{
	uint32_t number =
		place_groups_add(&g->places, (uint32_t)raw[DIM_PLACE], (uint32_t)raw[DIM_EVENT]);

	if (number == g->weighed.n)
		*vec_add(&g->weighed) =
			(struct weighed_place){ .function = hot_function_number(g, raw) };
	return number;
}

static void hot_functions_add_group(struct gathering *g, uint32_t group, uint64_t *raw,
				    struct weighed_place *place)
{
	const struct hot *hot = g->out->hot;
	const struct hot_cost cost = hot_cost(hot, group);
	struct hot_function *f = &g->out->list.items[place->function];
	uint64_t weight = hot_event_weight(hot, raw[DIM_EVENT], &cost);
	const struct cpu_source *source;

	f->weight += weight;
	hot_cost_add(&f->cost, &cost);
	if (!hot_is_spe(hot, raw[DIM_EVENT]))
		raw[DIM_SOURCE] = DIM_ABSENT; /* samples have a period, not a latency */
	functions_add_source(f, raw[DIM_SOURCE], &cost);
	source = key_source(raw[DIM_SOURCE]);
	place->of[ASPECT_WEIGHT] += weight;
	place->of[ASPECT_FAR] += source != NULL && is_far(source) ? cost.cycles : 0;
	place->of[ASPECT_PEER] += source != NULL && is_peer(source) ? cost.cycles : 0;
	place->of[ASPECT_WALKS] += cost.n_walks;
	place->of[ASPECT_MISPREDICTED] += cost.n_mispredicted;
}

static void add_groups(struct gathering *g, const uint32_t *groups, size_t n)
{
	uint64_t raw[GROUPS_AT_ONCE][N_DIMENSIONS];
	uint32_t places[GROUPS_AT_ONCE] = { 0 }, numbers[GROUPS_AT_ONCE];

	for (size_t i = 0; i < n; i++) {
		hot_key(g->out->hot, groups[i], raw[i]);
		places[i] = (uint32_t)raw[i][DIM_PLACE];
	}
	place_groups_fetch(&g->places, places, n);
	for (size_t i = 0; i < n; i++)
		numbers[i] = weighed_place_of(g, raw[i]);
	for (size_t i = 0; i < n; i++)
		prefetch_to_write(&g->weighed.items[numbers[i]]);
	for (size_t i = 0; i < n; i++)
		hot_functions_add_group(g, groups[i], raw[i], &g->weighed.items[numbers[i]]);
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
	for (uint32_t i = 0; i < g->weighed.n; i++) {
		const struct weighed_place *place = &g->weighed.items[i];
		struct hot_function *f = &g->out->list.items[place->function];

		for (int aspect = 0; aspect < N_ASPECTS; aspect++)
			compare_place(g->out->hot->session, f, g->places.list.items[i].place,
				      aspect, place->of[aspect]);
	}
}

void hot_functions_init(struct hot_functions *out, const struct hot *hot, const struct names *names)
{
	struct gathering g = { .out = out, .names = names };
	uint32_t groups[GROUPS_AT_ONCE];
	size_t n = 0;

	*out = (struct hot_functions){ .hot = hot, .totals = hot_totals(hot) };
	tuples_init(&g.keys, 3);
	place_groups_init(&g.places);
	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		groups[n++] = i;
		if (n < GROUPS_AT_ONCE)
			continue;
		add_groups(&g, groups, n);
		n = 0;
	}
	add_groups(&g, groups, n);
	functions_find_heaviest(&g);
	tuples_release(&g.keys);
	place_groups_release(&g.places);
	vec_release(&g.weighed);
}

void hot_functions_release(struct hot_functions *f)
{
	vec_release(&f->list);
	free(f->totals);
	*f = (struct hot_functions){ 0 };
}

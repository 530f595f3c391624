/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/sums/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/largest.h"

/* Of functions that have a smaller part of all events it is not looked up what they have inlined. */
#define LEAST_SPLIT (((uint64_t)1 << HOT_PART_BITS) / 1000)

/* Of more groups that are wanted it is quicker to put all in order. */
enum { MOST_FIRST = 64 };

/* Of fewer raw groups for each worker it is not worth to group them apart. */
enum { LEAST_RAW = 1024 };

/* For tables of places while files of chains are read, one for each that is read at a time. */
enum { LANES_BYTES = 16 << 20 };

uint64_t hot_weight(const struct hot_grouping *g, uint64_t event, const struct hot_cost *c)
{
	return g->view->by_samples ? c->n : hot_event_weight(g->hot, event, c);
}

uint64_t hot_full_weight(const struct hot_grouping *g, uint64_t event, const struct hot_cost *c)
{
	return !g->view->by_samples && hot_is_spe(g->hot, event) ? c->full : 0;
}

void hot_words(const struct hot_grouping *g, const uint64_t *raw, uint64_t *words)
{
	size_t at = 1;

	words[0] = raw[DIM_EVENT];
	for (size_t i = 0; i < g->view->keys.n; i++) {
		const struct key_class *class = &key_classes[g->view->keys.keys[i]];

		class->make(g->names, raw, words + at);
		at += class->n_words;
	}
}

static uint32_t hot_group_group_of(struct hot_grouping *g, const uint64_t *words)
{
	uint32_t number = g->last = tuples_add_again(&g->keys, words, g->last);

	if (number == g->groups.n) {
		vec_add(&g->groups);
		for (uint32_t i = 0; i < g->hot->session->slices.n; i++)
			vec_add(&g->slices);
	}
	return number;
}

static void add_inclusive_once(struct hot_grouping *g, uint32_t group, uint32_t number,
			       uint64_t weight)
{
	struct hot_group *its = &g->groups.items[group];

	if (its->last_raw != number + 1)
		its->inclusive += weight;
	its->last_raw = number + 1;
}

bool hot_words_of_outer(const struct hot_grouping *g, uint64_t *words)
{
	bool is_inlined = false;

	words++;
	for (size_t i = 0; i < g->view->keys.n; i++) {
		if (g->view->keys.keys[i] == KEY_FUNCTION && words[KEY_INLINED] != 0) {
			words[KEY_INLINED] = 0;
			is_inlined = true;
		}
		words += key_classes[g->view->keys.keys[i]].n_words;
	}
	return is_inlined;
}

/* With chains all keys are of code: then the event and the place say the groups. */
static const struct hot_place_groups *groups_at(struct hot_grouping *g, const uint64_t *raw,
						uint64_t place)
{
	struct hot_place_groups *of = &g->of_places[place];
	uint64_t key[N_DIMENSIONS], words[HOT_GROUP_WORDS];

	if (of->event == raw[DIM_EVENT] + 1)
		return of;
	memcpy(key, raw, sizeof(key));
	key[DIM_PLACE] = place;
	hot_words(g, key, words);
	of->event = (uint32_t)raw[DIM_EVENT] + 1;
	of->group = hot_group_group_of(g, words);
	of->outer = hot_words_of_outer(g, words) ? hot_group_group_of(g, words) : of->group;
	return of;
}

uint32_t hot_group_at_place(struct hot_grouping *g, const uint64_t *raw, uint64_t place)
{
	return groups_at(g, raw, place)->group;
}

bool hot_chain_next(const struct hot *hot, struct hot_chain_position *at, struct chained_group *out)
{
	for (;; at->group++) {
		at->group = hot_next(hot, at->group);
		if (at->group == hot_end(hot))
			return hot_chained_next(hot, &at->chains, out);
		if (!hot_is_folded(hot, at->group))
			break;
	}
	hot_read_chained(hot, at->group++, &hot->session->frames, out);
	return true;
}

/* Adds what a raw group weighs to the group of code at a place, and to those that it is inlined into. */
static void add_inclusive_at(struct hot_grouping *g, uint32_t number, const uint64_t *raw,
			     uint64_t place, uint64_t weight)
{
	const struct hot_place_groups *of = groups_at(g, raw, place);

	add_inclusive_once(g, of->group, number, weight);
	if (of->outer != of->group)
		add_inclusive_once(g, of->outer, number, weight);
}

/* Adds what a chain weighs to each distinct group on it, once. No two chains have the same number. */
static void add_inclusive(struct hot_grouping *g, uint32_t number, const struct chained_group *c)
{
	uint64_t weight = hot_weight(g, c->key[DIM_EVENT], &c->cost);

	add_inclusive_at(g, number, c->key, c->key[DIM_PLACE], weight);
	for (size_t i = 0; i < c->chain.n; i++)
		add_inclusive_at(g, number, c->key, c->chain.items[i], weight);
}

/* Files of chains: each lane reads every n_lanes-th of them, into groups of its own. */
struct chained_job {
	struct hot_grouping *lanes;
	size_t n_lanes, n_files;
};

static void add_files(void *context, size_t lane, unsigned worker)
{
	const struct chained_job *job = context;
	struct hot_grouping *g = &job->lanes[lane];
	struct chained_group chained = { 0 };
	uint32_t number = 0;

	(void)worker;
	for (size_t file = lane; file < job->n_files; file += job->n_lanes) {
		struct spool_position at = { .file = file };

		while (hot_chained_next(g->hot, &at, &chained) && at.file == file)
			add_inclusive(g, number++, &chained);
	}
	chained_group_release(&chained);
}

/* Groups of a part of the sums, to be joined to `g`. */
static void lane_init(struct hot_grouping *lane, const struct hot_grouping *g)
{
	size_t n_events = hot_event_end(g->hot);

	*lane = (struct hot_grouping){
		.hot = g->hot,
		.view = g->view,
		.names = g->names,
		.n_words = g->n_words,
		.each = g->each,
		.has_own_intervals = g->has_own_intervals,
		.weights = mem_zalloc(n_events, sizeof(*lane->weights)),
		.full = mem_zalloc(n_events, sizeof(*lane->full)),
	};
	tuples_init(&lane->keys, g->n_words);
}

static void join_group(struct hot_group *to, const struct hot_group *from)
{
	hot_cost_add(&to->cost, &from->cost);
	to->operations += from->operations;
	to->time += from->time;
	to->inclusive += from->inclusive;
}

/* New groups get numbers in the order of the lane. */
static void join_lane(struct hot_grouping *g, const struct hot_grouping *lane)
{
	size_t n_slices = g->hot->session->slices.n;

	for (uint32_t i = 0; i < lane->groups.n; i++) {
		uint32_t group = hot_group_group_of(g, tuples_get(&lane->keys, i));

		join_group(&g->groups.items[group], &lane->groups.items[i]);
		for (size_t slice = 0; slice < n_slices; slice++)
			g->slices.items[group * n_slices + slice] +=
				lane->slices.items[i * n_slices + slice];
	}
	for (size_t event = 0; event < hot_event_end(g->hot); event++) {
		g->weights[event] += lane->weights[event];
		g->full[event] += lane->full[event];
	}
}

static void add_all_files(struct hot_grouping *g)
{
	size_t n_places = (size_t)place_numbers_n(g->hot->session->places) + 1;
	size_t most = 1 + LANES_BYTES / (n_places * sizeof(*g->of_places));
	struct chained_job job = { .n_files = g->hot->chains.spool.files.n };

	job.n_lanes = most < job.n_files ? most : job.n_files;
	job.lanes = mem_zalloc(job.n_lanes + 1, sizeof(*job.lanes));
	for (size_t i = 0; i < job.n_lanes; i++) {
		struct hot_grouping *lane = &job.lanes[i];

		lane_init(lane, g);
		lane->of_places = mem_zalloc(n_places, sizeof(*lane->of_places));
	}
	pool_run(g->hot->session->pool, job.n_lanes, add_files, &job);
	for (size_t i = 0; i < job.n_lanes; i++) {
		join_lane(g, &job.lanes[i]);
		hot_grouping_release(&job.lanes[i]);
	}
	free(job.lanes);
}

static void add_all_inclusive(struct hot_grouping *g)
{
	const struct hot *hot = g->hot;
	struct chained_group chained = { 0 };

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		if (hot_is_folded(hot, i))
			continue;
		hot_read_chained(hot, i, &hot->session->frames, &chained);
		add_inclusive(g, i, &chained);
	}
	chained_group_release(&chained);
	add_all_files(g);
}

static void hot_group_add_slice(struct hot_grouping *g, uint32_t group, uint64_t slice,
				uint64_t weight)
{
	uint32_t n = g->hot->session->slices.n;

	if (slice < n)
		g->slices.items[(size_t)group * n + slice] += weight;
}

/* Operations that `n` records of a raw group stand for; 0: not SPE. See estimate_dimensions(). */
static uint64_t hot_group_operations(const struct hot_grouping *g, const uint64_t *raw, uint64_t n)
{
	if (!hot_is_spe(g->hot, raw[DIM_EVENT]))
		return 0;
	if (g->has_own_intervals)
		return n * spe_interval(g->hot->session, (uint32_t)raw[DIM_CPU])->mean;
	return n * g->each;
}

/* Groups of places that were found last: most places have the group of one of these. */
struct recent_group {
	uint64_t words[1 + KEY_MAX_WORDS]; /* with one key */
	uint32_t number;		   /* + 1; 0: none */
};

struct recent_groups {
	bool by_module; /* the words of a place are those of its module, which is the slot … */
	struct recent_group *slots; /* … or by some bits of the words: so many */
};

enum { RECENT_LOG = 11 };

/* Are the sums by place all that is asked of a place, but for what one key makes of it? */
static bool has_plain_places(const struct hot_grouping *g)
{
	return g->view->keys.n == 1 && !g->has_chains && !g->has_own_intervals &&
	       g->view->time == NULL && g->hot->session->slices.n == 0;
}

static struct recent_groups recent_groups_of(const struct hot_grouping *g)
{
	enum key key = g->view->keys.keys[0];
	bool by_module = key == KEY_MODULE || (key == KEY_FUNCTION && !names_know_any(g->names));
	size_t n = by_module ? timeline_modules(g->hot->session->timeline)->list.n
			     : (size_t)1 << RECENT_LOG;

	return (struct recent_groups){ by_module, mem_zalloc(n, sizeof(struct recent_group)) };
}

/* `raw`: the event and the place. */
static uint32_t group_of_place(struct hot_grouping *g, const struct recent_groups *recent,
			       const uint64_t *raw)
{
	struct recent_group *slot = NULL;
	uint64_t words[HOT_GROUP_WORDS];

	if (recent->by_module) {
		uint32_t place = (uint32_t)raw[DIM_PLACE];

		slot = &recent->slots[session_place(g->hot->session, place).module.v];
		if (slot->number != 0)
			return slot->number - 1;
	}
	hot_words(g, raw, words);
	if (slot == NULL) {
		uint64_t bits = (words[1] ^ words[2] << (RECENT_LOG / 2)) * 0x9e3779b97f4a7c15u;
		slot = &recent->slots[bits >> (64 - RECENT_LOG)];
		if (slot->number != 0 && tuples_equal(slot->words, words, g->n_words))
			return slot->number - 1;
	}
	slot->number = hot_group_group_of(g, words) + 1;
	memcpy(slot->words, words, g->n_words * sizeof(*words));
	return slot->number - 1;
}

/* As add_raw_groups(), of groups that are places, with has_plain_places(). */
static void add_plain_places(struct hot_grouping *g, uint32_t from, uint32_t to)
{
	const struct place_costs *costs = &g->hot->by_place;
	struct recent_groups recent = recent_groups_of(g);
	uint64_t raw[N_DIMENSIONS] = { [DIM_EVENT] = g->hot->spe_event };
	struct hot_cost total = { 0 }; /* what weights are made of */

	for (uint32_t place = from; place < to; place++) {
		struct hot_group *group;
		struct hot_cost cost;
		uint32_t number;

		if (place_costs_is_empty(costs, place))
			continue;
		cost = place_costs_get(costs, place);
		raw[DIM_PLACE] = place;
		number = group_of_place(g, &recent, raw);
		group = &g->groups.items[number];
		hot_cost_add(&group->cost, &cost);
		group->operations += cost.n * g->each;
		total.n += cost.n;
		total.cycles += cost.cycles;
		total.full += cost.full;
	}
	g->weights[g->hot->spe_event] += hot_weight(g, g->hot->spe_event, &total);
	g->full[g->hot->spe_event] += hot_full_weight(g, g->hot->spe_event, &total);
	free(recent.slots);
}

static void add_raw_groups(struct hot_grouping *g, uint32_t from, uint32_t to)
{
	const struct hot *hot = g->hot;
	uint32_t end = to < hot_n_by_place(hot) ? to : hot_n_by_place(hot);

	if (from < end && end - from > LEAST_RAW && has_plain_places(g)) {
		add_plain_places(g, from, end);
		from = end;
	}
	for (uint32_t i = hot_next(hot, from); i < to; i = hot_next(hot, i + 1)) {
		const struct hot_cost cost = hot_cost(hot, i);
		uint64_t raw[N_DIMENSIONS], words[HOT_GROUP_WORDS], weight;
		struct hot_group *group;
		uint32_t number;

		hot_key(hot, i, raw);
		weight = hot_weight(g, raw[DIM_EVENT], &cost);
		if (g->has_chains) {
			number = hot_group_at_place(g, raw, raw[DIM_PLACE]);
		} else {
			hot_words(g, raw, words);
			number = hot_group_group_of(g, words);
		}
		group = &g->groups.items[number];
		hot_cost_add(&group->cost, &cost);
		group->operations += hot_group_operations(g, raw, cost.n);
		if (g->view->time != NULL && hot_is_spe(hot, raw[DIM_EVENT]))
			group->time +=
				commit_time_share(g->view->time, (uint32_t)raw[DIM_PLACE], cost.n);
		g->weights[raw[DIM_EVENT]] += weight;
		g->full[raw[DIM_EVENT]] += hot_full_weight(g, raw[DIM_EVENT], &cost);
		hot_group_add_slice(g, number, raw[DIM_SLICE], weight);
	}
}

/* The first lane groups into `g` itself. */
struct raw_job {
	struct hot_grouping *g, *others;
	size_t n_lanes;
};

static void group_lane(void *context, size_t lane, unsigned worker)
{
	const struct raw_job *job = context;
	uint64_t end = hot_end(job->g->hot);

	(void)worker;
	add_raw_groups(lane == 0 ? job->g : &job->others[lane - 1],
		       (uint32_t)(end * lane / job->n_lanes),
		       (uint32_t)(end * (lane + 1) / job->n_lanes));
}

/* Where each place is a group, to join lanes would take as long as to group. */
static size_t count_lanes(const struct hot_grouping *g)
{
	size_t most = 1 + hot_end(g->hot) / LEAST_RAW, n = pool_size(g->hot->session->pool);

	if (g->has_chains || keys_tell_places(&g->view->keys))
		return 1;
	return n < most ? n : most;
}

/* Lanes are joined in order, so groups have the same numbers for any number of them. */
static void group_all(struct hot_grouping *g)
{
	struct raw_job job = { .g = g, .n_lanes = count_lanes(g) };

	job.others = mem_zalloc(job.n_lanes, sizeof(*job.others));
	for (size_t i = 1; i < job.n_lanes; i++)
		lane_init(&job.others[i - 1], g);
	pool_run(g->hot->session->pool, job.n_lanes, group_lane, &job);
	for (size_t i = 1; i < job.n_lanes; i++) {
		join_lane(g, &job.others[i - 1]);
		hot_grouping_release(&job.others[i - 1]);
	}
	free(job.others);
	if (g->has_chains)
		add_all_inclusive(g);
}

/* Are records all of SPE? */
static bool are_all_spe(const struct hot *hot)
{
	for (uint32_t i = 0; i < hot_n_rests(hot); i++) {
		const struct hot_cost *cost = hot_rest_cost(hot, i);

		if ((cost->n > 0 || cost->n_branches > 0) &&
		    !hot_is_spe(hot, hot_rest_word(hot, i, DIM_EVENT)))
			return false;
	}
	return true;
}

/* Is each place a group, and do weights alone tell which ones come first? */
static bool can_leave_out(const struct hot_grouping *g)
{
	const struct hot_view *view = g->view;

	return view->keys.n == 1 && keys_tell_places(&view->keys) && !g->has_chains &&
	       view->top > 0 && view->top <= MOST_FIRST && view->sort == NULL &&
	       view->time == NULL && g->hot->session->slices.n == 0 && are_all_spe(g->hot);
}

/* What a place has in raw groups that are not in hot->by_place. */
struct other_groups {
	uint64_t weight;
	bool has_any;
};

/* By place; NULL: no place has any. To be freed. */
static struct other_groups *weigh_others(const struct hot_grouping *g)
{
	const struct hot *hot = g->hot;
	struct other_groups *others = NULL;

	if (hot->costs.n > 0)
		others = mem_zalloc((size_t)place_numbers_n(hot->session->places) + 1,
				    sizeof(*others));
	for (uint32_t i = hot_next(hot, hot_n_by_place(hot)); i < hot_end(hot);
	     i = hot_next(hot, i + 1)) {
		struct other_groups *of = &others[hot_key_word(hot, i, DIM_PLACE)];
		const struct hot_cost cost = hot_cost(hot, i);

		of->weight += hot_weight(g, hot->spe_event, &cost);
		of->has_any = true;
	}
	return others;
}

/* What a place weighs in all raw groups. */
static inline uint64_t weigh_place(const struct hot_grouping *g, const struct other_groups *others,
				   uint32_t place)
{
	const struct hot *hot = g->hot;
	uint64_t weight = others != NULL ? others[place].weight : 0;

	if (place >= hot_n_by_place(hot))
		return weight;
	return weight + (g->view->by_samples ? hot_cost(hot, place).n
					     : place_costs_cycles(&hot->by_place, place));
}

/* Places that may be among the first of a part of all. */
struct first_part {
	uint64_t largest[MOST_FIRST];
	VEC_OF(uint32_t) places; /* in order */
	size_t n;		 /* places with records */
};

struct first_job {
	const struct hot_grouping *g;
	const struct other_groups *others;
	struct first_part *parts;
	size_t n_parts;
};

static void find_first(void *context, size_t i, unsigned worker)
{
	const struct first_job *job = context;
	const struct hot_grouping *g = job->g;
	struct first_part *part = &job->parts[i];
	uint64_t n_places = place_numbers_n(g->hot->session->places);
	uint32_t end = (uint32_t)(n_places * (i + 1) / job->n_parts),
		 n_own = hot_n_by_place(g->hot);

	(void)worker;
	for (uint32_t place = (uint32_t)(n_places * i / job->n_parts); place < end; place++) {
		uint64_t weight = weigh_place(g, job->others, place);
		bool has_own = place < n_own && !place_costs_is_empty(&g->hot->by_place, place);
		bool has_any = has_own || (job->others != NULL && job->others[place].has_any);

		part->n += has_any;
		if (!has_any || weight < part->largest[g->view->top - 1])
			continue;
		largest_enter(part->largest, g->view->top, weight);
		*vec_add(&part->places) = place;
	}
}

/* What a place weighs that is the last of those that are shown, or less if there are fewer. */
static uint64_t least_of_first(const struct first_job *job)
{
	uint64_t largest[MOST_FIRST] = { 0 };
	size_t top = job->g->view->top;

	for (size_t i = 0; i < job->n_parts; i++)
		for (size_t k = 0; k < top; k++)
			largest_enter(largest, top, job->parts[i].largest[k]);
	return largest[top - 1];
}

/* Adds the places of a part that weigh so much. */
static void group_part(struct hot_grouping *g, const struct first_job *job, struct first_part *part,
		       uint64_t least)
{
	g->n_left_out += part->n;
	for (size_t i = 0; i < part->places.n; i++) {
		uint32_t place = part->places.items[i];

		if (weigh_place(g, job->others, place) < least)
			continue;
		g->n_left_out--;
		if (place < hot_n_by_place(g->hot) && !hot_is_empty(g->hot, place))
			add_raw_groups(g, place, place + 1);
	}
	vec_release(&part->places);
}

static void group_first(struct hot_grouping *g)
{
	const struct hot *hot = g->hot;
	uint32_t n_own = hot_n_by_place(hot);
	uint64_t event = hot->spe_event, least;
	struct other_groups *others = weigh_others(g);
	struct hot_cost *totals = hot_totals(hot);
	struct first_job job = { .g = g,
				 .others = others,
				 .n_parts = pool_size(hot->session->pool) };

	job.parts = mem_zalloc(job.n_parts, sizeof(*job.parts));
	pool_run(hot->session->pool, job.n_parts, find_first, &job);
	least = least_of_first(&job);
	for (size_t i = 0; i < job.n_parts; i++)
		group_part(g, &job, &job.parts[i], least);
	free(job.parts);
	for (uint32_t i = hot_next(hot, n_own); i < hot_end(hot); i = hot_next(hot, i + 1))
		if (weigh_place(g, others, (uint32_t)hot_key_word(hot, i, DIM_PLACE)) >= least)
			add_raw_groups(g, i, i + 1);
	g->weights[event] = hot_weight(g, event, &totals[event]);
	g->full[event] = hot_full_weight(g, event, &totals[event]);
	free(totals);
	free(others);
}

bool hot_has_chains(const struct hot *hot)
{
	for (uint32_t i = 0; i < hot_n_rests(hot); i++) {
		const struct hot_cost *cost = hot_rest_cost(hot, i);

		if ((cost->n > 0 || cost->n_branches > 0) && hot_rest_word(hot, i, DIM_FRAME) != 0)
			return true;
	}
	return false;
}

/*
 * Marks the places of a call chain as wanted. Chains share their outer frames: stops at known ones.
 */
static void want_frames(const struct session *s, uint64_t frame, bool *is_done, bool *wanted)
{
	for (; frame != 0 && !is_done[frame]; frame = tuples_get(&s->frames, (uint32_t)frame)[0]) {
		is_done[frame] = true;
		wanted[tuples_get(&s->frames, (uint32_t)frame)[1]] = true;
	}
}

void hot_names(struct session *s, const struct hot *hot, const struct keys *keys, struct names *out)
{
	enum symbols_depth depth = SYMBOLS_FUNCTIONS;
	bool *wanted = mem_zalloc(place_numbers_n(s->places) + 1, sizeof(*wanted));
	bool *is_done = mem_zalloc(s->frames.n + 1, sizeof(*is_done));
	bool needs_names = false;

	for (size_t i = 0; i < keys->n; i++) {
		const struct key_class *class = &key_classes[keys->keys[i]];

		needs_names |= class->needs_names;
		if (class->needs_lines)
			depth = SYMBOLS_LINES;
	}
	for (uint32_t place = 0; place < hot_n_by_place(hot) && needs_names; place++)
		wanted[place] = !hot_is_empty(hot, place);
	for (uint32_t i = hot_next(hot, hot_n_by_place(hot)); i < hot_end(hot);
	     i = hot_next(hot, i + 1)) {
		if (!needs_names)
			break;
		wanted[hot_key_word(hot, i, DIM_PLACE)] = true;
		want_frames(s, hot_key_word(hot, i, DIM_FRAME), is_done, wanted);
	}
	for (size_t i = 0; i < hot->chains.places.n && needs_names; i++)
		wanted[i] |= hot->chains.places.items[i];
	names_init(out, s, wanted, depth);
	free(is_done);
	free(wanted);
}

/* By event: what a unit of weight is of its whole weight, in 2^HOT_PART_BITS. Free with free(). */
static double *parts_of_events(const struct hot *hot)
{
	double *parts = mem_zalloc(hot_event_end(hot), sizeof(*parts));
	struct hot_cost *totals = hot_totals(hot);

	for (uint64_t event = 0; event < hot_event_end(hot); event++) {
		double whole = (double)hot_event_weight(hot, event, &totals[event]);

		parts[event] = whole == 0 ? 0 : ldexp(1, HOT_PART_BITS) / whole;
	}
	free(totals);
	return parts;
}

uint32_t hot_function_end(const struct names *names)
{
	uint32_t end = 0;

	for (uint32_t place = 0; place < names->n; place++)
		end = names->symbols[place].function.v >= end ? names->symbols[place].function.v + 1
							      : end;
	return end;
}

void hot_inline_parts(struct names *names, const uint64_t *parts)
{
	bool *wanted = mem_zalloc(names->n + 1, sizeof(*wanted)), has_any = false;

	for (uint32_t place = 0; place < names->n; place++) {
		uint32_t function = names->symbols[place].function.v;

		wanted[place] = function != 0 && parts[function] >= LEAST_SPLIT;
		has_any |= wanted[place];
	}
	if (has_any)
		names_add_inlined(names, wanted);
	free(wanted);
}

void hot_names_inlined(const struct hot *hot, struct names *names)
{
	double *parts_of_event;
	uint64_t *parts;

	if (!names->has_functions)
		return;
	parts_of_event = parts_of_events(hot);
	parts = mem_zalloc((size_t)hot_function_end(names) + 1, sizeof(*parts));
	for (uint32_t place = 0; place < hot_n_by_place(hot); place++)
		parts[names->symbols[place].function.v] +=
			(uint64_t)((double)place_costs_cycles(&hot->by_place, place) *
				   parts_of_event[hot->spe_event]);
	for (uint32_t i = hot_next(hot, hot_n_by_place(hot)); i < hot_end(hot);
	     i = hot_next(hot, i + 1)) {
		uint64_t event = hot_key_word(hot, i, DIM_EVENT);
		const struct hot_cost cost = hot_cost(hot, i);
		uint64_t weight = hot_event_weight(hot, event, &cost);

		parts[names->symbols[hot_key_word(hot, i, DIM_PLACE)].function.v] +=
			(uint64_t)((double)weight * parts_of_event[event]);
	}
	hot_inline_parts(names, parts);
	free(parts);
	free(parts_of_event);
}

int hot_words_compare(const struct hot_grouping *g, const uint64_t *a, const uint64_t *b)
{
	for (size_t i = 0; i < g->view->keys.n; i++) {
		const struct key_class *class = &key_classes[g->view->keys.keys[i]];

		for (size_t w = 0; w < class->n_words; w++) {
			int order = key_word_compare(g->names, class->words[w], *++a, *++b);

			if (order != 0)
				return order;
		}
	}
	return 0;
}

/* What groups are ordered by, read once: the order asks for it many times. */
struct ranked_group {
	uint64_t event, time, weight, inclusive;
	uint32_t n, number;
	const struct hot_grouping *g;
};

static struct ranked_group rank_group(const struct hot_grouping *g, uint32_t number)
{
	const struct hot_group *group = &g->groups.items[number];
	uint64_t event = tuples_get(&g->keys, number)[0];

	return (struct ranked_group){
		.event = event,
		.time = group->time,
		.weight = hot_weight(g, event, &group->cost),
		.inclusive = group->inclusive,
		.n = group->cost.n,
		.number = number,
		.g = g,
	};
}

static int compare_names(const struct ranked_group *a, const struct ranked_group *b)
{
	return hot_words_compare(a->g, tuples_get(&a->g->keys, a->number),
				 tuples_get(&b->g->keys, b->number));
}

/* By event, then by weight descending, then by name: a total order. Slices of time ascend. */
static int compare_groups(const void *left, const void *right)
{
	const struct ranked_group *a = left, *b = right;

	if (a->event != b->event)
		return (a->event > b->event) - (a->event < b->event);
	if (keys_are_time(&a->g->view->keys))
		return compare_names(a, b);
	if (a->time != b->time)
		return (a->time < b->time) - (a->time > b->time);
	if (a->weight != b->weight)
		return (a->weight < b->weight) - (a->weight > b->weight);
	if (a->inclusive != b->inclusive)
		return (a->inclusive < b->inclusive) - (a->inclusive > b->inclusive);
	if (a->n != b->n)
		return (a->n < b->n) - (a->n > b->n);
	return compare_names(a, b);
}

/* Whether a group can be among the first of its event depends on this alone; more comes first. */
static uint64_t first_rank(const struct ranked_group *group)
{
	return group->g->view->time != NULL ? group->time : group->weight;
}

/* Leaves out groups that cannot be among the first `top` of their event. Returns how many are left. */
static size_t keep_first(const struct hot_grouping *g, struct ranked_group *ranked, size_t top)
{
	uint64_t *ranks = mem_zalloc(top * hot_event_end(g->hot), sizeof(*ranks));
	size_t n = 0;

	for (uint32_t i = 0; i < g->groups.n; i++)
		largest_enter(&ranks[top * ranked[i].event], top, first_rank(&ranked[i]));
	for (uint32_t i = 0; i < g->groups.n; i++)
		if (first_rank(&ranked[i]) >= ranks[top * ranked[i].event + top - 1])
			ranked[n++] = ranked[i];
	free(ranks);
	return n;
}

uint32_t *hot_grouping_first(const struct hot_grouping *g, size_t top, size_t *out_n)
{
	struct ranked_group *ranked = mem_alloc(g->groups.n + 1, sizeof(*ranked));
	uint32_t *order;
	size_t n = g->groups.n;

	for (uint32_t i = 0; i < g->groups.n; i++)
		ranked[i] = rank_group(g, i);
	if (top > 0 && top <= MOST_FIRST && !keys_are_time(&g->view->keys))
		n = keep_first(g, ranked, top);
	if (n > 1)
		qsort(ranked, n, sizeof(*ranked), compare_groups);
	order = mem_alloc(n + 1, sizeof(*order));
	for (size_t i = 0; i < n; i++)
		order[i] = ranked[i].number;
	free(ranked);
	*out_n = n;
	return order;
}

uint32_t *hot_grouping_order(const struct hot_grouping *g)
{
	size_t n;

	return hot_grouping_first(g, 0, &n);
}

/* All but the groups. */
static void start_grouping(struct hot_grouping *g, const struct hot *hot, const struct names *names,
			   const struct hot_view *view)
{
	*g = (struct hot_grouping){ .hot = hot, .view = view, .names = names, .n_words = 1 };
	for (size_t i = 0; i < view->keys.n; i++)
		g->n_words += key_classes[view->keys.keys[i]].n_words;
	tuples_init(&g->keys, g->n_words);
	g->each = spe_interval_common(hot->session).mean;
	g->has_own_intervals =
		hot->options->dimensions >> DIM_CPU & 1 && spe_interval_varies(hot->session);
	g->weights = mem_zalloc(hot_event_end(hot), sizeof(*g->weights));
	g->full = mem_zalloc(hot_event_end(hot), sizeof(*g->full));
	g->has_chains = keys_are_code(&view->keys) && hot_has_chains(hot);
	if (g->has_chains)
		g->of_places = mem_zalloc((size_t)place_numbers_n(hot->session->places) + 1,
					  sizeof(*g->of_places));
}

void hot_grouping_init(struct hot_grouping *g, const struct hot *hot, const struct names *names,
		       const struct hot_view *view)
{
	start_grouping(g, hot, names, view);
	group_all(g);
}

void hot_grouping_init_first(struct hot_grouping *g, const struct hot *hot,
			     const struct names *names, const struct hot_view *view)
{
	start_grouping(g, hot, names, view);
	if (can_leave_out(g))
		group_first(g);
	else
		group_all(g);
}

void hot_grouping_release(struct hot_grouping *g)
{
	tuples_release(&g->keys);
	vec_release(&g->groups);
	vec_release(&g->slices);
	free(g->weights);
	free(g->full);
	free(g->of_places);
}

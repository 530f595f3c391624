/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of mem.h. What besides the place tells records apart takes few values, which get
 * numbers: with the place they are the group.
 *
 * The sums of a group have room for 65535 records. When that is used up they move into a struct
 * mem_cost, of which only groups with so many records have one.
 */
#include <stdlib.h>

#include "analysis/mem.h"
#include "base/alloc.h"
#include "spe/packet.h"

enum { MAX_WORDS = 1 + HOT_N_DIMENSIONS };

void mem_init(struct mem *m, const struct session *session, const struct mem_options *options)
{
	*m = (struct mem){ .session = session, .options = options, .first_ns = UINT64_MAX };
	for (int i = 0; i < HOT_N_DIMENSIONS; i++)
		if (i != DIM_PLACE && options->dimensions >> i & 1)
			m->dimensions[m->n_dimensions++] = (enum hot_dimension)i;
	m->has_place = options->dimensions >> DIM_PLACE & 1;
	tuples_init(&m->rests, 1 + m->n_dimensions);
	tuples_init(&m->spilled, 1);
	place_groups_init(&m->groups);
}

void mem_release(struct mem *m)
{
	for (size_t i = 0; i < m->histograms.n; i++)
		mem_histograms_release(&m->histograms.items[i]);
	vec_release(&m->histograms);
	vec_release(&m->times);
	vec_release(&m->wide);
	tuples_release(&m->spilled);
	vec_release(&m->sums);
	place_groups_release(&m->groups);
	tuples_release(&m->rests);
}

static struct place_group key_of(const struct mem *m, uint32_t group)
{
	return m->has_place ? m->groups.list.items[group] : (struct place_group){ .rest = group };
}

enum mem_kind mem_key(const struct mem *m, uint32_t group, uint64_t key[HOT_N_DIMENSIONS])
{
	struct place_group g = key_of(m, group);
	const uint64_t *words = tuples_get(&m->rests, g.rest);

	for (int i = 0; i < HOT_N_DIMENSIONS; i++)
		key[i] = 0;
	key[DIM_EVENT] = capture_n_events(m->session->capture);
	key[DIM_PLACE] = g.place;
	for (size_t i = 0; i < m->n_dimensions; i++)
		key[m->dimensions[i]] = words[1 + i];
	return (enum mem_kind)words[0];
}

static void make_rest(const struct mem *m, enum mem_kind kind, const struct batch *b, size_t row,
		      uint64_t words[MAX_WORDS])
{
	words[0] = kind;
	for (size_t i = 0; i < m->n_dimensions; i++)
		words[1 + i] = hot_record_word(m->session, b, row, m->dimensions[i]);
}

static uint32_t place_of(const struct mem *m, const struct batch *b, size_t row)
{
	return m->has_place ? (uint32_t)hot_record_word(m->session, b, row, DIM_PLACE) : 0;
}

static void add_group(struct mem *m)
{
	vec_add(&m->sums);
	if (m->options->with_times)
		*vec_add(&m->times) = (struct mem_times){ UINT64_MAX, 0 };
	if (m->options->with_histograms)
		vec_add(&m->histograms);
}

/* The group of a place and a rest; without places the number of the rest is that of the group. */
static uint32_t group_of(struct mem *m, uint32_t place, uint32_t rest)
{
	uint32_t group = m->has_place ? place_groups_add(&m->groups, place, rest) : rest;

	if (group == m->sums.n)
		add_group(m);
	return group;
}

/* The numbers of the rests; one is often like the one before. */
static void find_rests(struct mem *m, const struct batch *b, const uint16_t *rows,
		       const uint8_t *kinds, size_t n, uint32_t *rests)
{
	uint64_t words[2][MAX_WORDS];

	for (size_t i = 0; i < n; i++) {
		uint64_t *its = words[i % 2];

		make_rest(m, (enum mem_kind)kinds[i], b, rows[i], its);
		if (i > 0 && tuples_equal(its, words[(i - 1) % 2], m->rests.width))
			rests[i] = rests[i - 1];
		else
			rests[i] = tuples_add(&m->rests, its);
	}
}

void mem_groups_of(struct mem *m, const struct batch *b, const uint16_t *rows, const uint8_t *kinds,
		   size_t n, uint32_t *out_groups)
{
	uint32_t rests[MEM_ROWS_AT_ONCE], places[MEM_ROWS_AT_ONCE] = { 0 };

	find_rests(m, b, rows, kinds, n, rests);
	for (size_t i = 0; i < n; i++)
		places[i] = place_of(m, b, rows[i]);
	if (m->has_place)
		place_groups_fetch(&m->groups, places, n);
	for (size_t i = 0; i < n; i++)
		out_groups[i] = group_of(m, places[i], rests[i]);
}

uint32_t mem_find(const struct mem *m, enum mem_kind kind, const struct batch *b, size_t row)
{
	uint32_t rest;
	uint64_t words[MAX_WORDS];

	make_rest(m, kind, b, row, words);
	rest = tuples_find(&m->rests, words);
	if (rest == TUPLES_NONE || !m->has_place)
		return rest;
	return place_groups_find(&m->groups, place_of(m, b, row), rest);
}

static struct latency_sum widened(const struct mem_sum *s)
{
	return (struct latency_sum){ .cycles = s->cycles, .n = s->n, .n_full = s->n_full };
}

static struct mem_cost cost_of(const struct mem_sums *s)
{
	struct mem_cost cost = mem_cost_none;

	cost.n = s->n;
	cost.operations = s->operations;
	for (int i = 0; i < N_LATENCIES; i++)
		cost.sums[i] = widened(&s->of[i]);
	cost.full_cycles = s->full_cycles;
	cost.n_walks = s->n_walks;
	cost.walk = widened(&s->walk);
	return cost;
}

static void add_wide(struct mem *m, uint32_t group, const struct mem_cost *cost)
{
	const uint64_t key = group;
	uint32_t number = tuples_add(&m->spilled, &key);

	if (number == m->wide.n)
		*vec_add(&m->wide) = mem_cost_none;
	mem_cost_add(&m->wide.items[number], cost);
}

static const struct mem_cost *find_wide(const struct mem *m, uint32_t group)
{
	const uint64_t key = group;
	uint32_t number = m->wide.n == 0 ? TUPLES_NONE : tuples_find(&m->spilled, &key);

	return number == TUPLES_NONE ? NULL : &m->wide.items[number];
}

static void spill(struct mem *m, uint32_t group)
{
	struct mem_cost cost = cost_of(&m->sums.items[group]);

	add_wide(m, group, &cost);
	m->sums.items[group] = (struct mem_sums){ 0 };
}

struct mem_cost mem_cost_of(const struct mem *m, uint32_t group)
{
	struct mem_cost cost = cost_of(&m->sums.items[group]);
	const struct mem_cost *wide = find_wide(m, group);

	if (wide != NULL)
		mem_cost_add(&cost, wide);
	if (m->options->with_times) {
		cost.first_ns = m->times.items[group].first_ns;
		cost.last_ns = m->times.items[group].last_ns;
	}
	return cost;
}

static void sum_record(struct mem_sum *sum, uint16_t cycles, uint8_t state)
{
	bool is_usable = state == LATENCY_USABLE;

	sum->n = (uint16_t)(sum->n + is_usable);
	sum->cycles += is_usable ? cycles : 0u;
	sum->n_full = (uint16_t)(sum->n_full + (state == LATENCY_FULL));
}

static void note_time(uint64_t *first_ns, uint64_t *last_ns, uint64_t first, uint64_t last)
{
	*first_ns = first < *first_ns ? first : *first_ns;
	*last_ns = last > *last_ns ? last : *last_ns;
}

void mem_add_record(struct mem *m, uint32_t group, const struct batch *b, size_t row,
		    const struct latencies *l)
{
	struct mem_sums *s = &m->sums.items[group];
	uint32_t has = b->has[row];
	uint64_t events = has & HAS_EVENTS ? b->events[row] : 0;

	if (s->n == UINT16_MAX)
		spill(m, group);
	s->n++;
	s->operations += spe_interval(m->session, has & HAS_CPU ? b->cpu[row] : UINT32_MAX)->mean;
	for (int i = 0; i < N_LATENCIES; i++)
		sum_record(&s->of[i], l->cycles[i], l->state[i]);
	if (l->state[LATENCY_TOTAL] == LATENCY_FULL)
		s->full_cycles += l->cycles[LATENCY_TOTAL];
	if (events >> SPE_EV_TLB_WALK & 1) {
		s->n_walks++;
		sum_record(&s->walk, l->cycles[LATENCY_XLAT], l->state[LATENCY_XLAT]);
	}
	if (has & HAS_TIME) {
		uint64_t time = b->time_ns[row];

		note_time(&m->first_ns, &m->last_ns, time, time);
		if (m->options->with_times)
			note_time(&m->times.items[group].first_ns, &m->times.items[group].last_ns,
				  time, time);
	}
	if (m->options->with_histograms)
		mem_histograms_add(&m->histograms.items[group], l);
}

static void sum_add(struct mem_sum *to, const struct mem_sum *from)
{
	to->cycles += from->cycles;
	to->n = (uint16_t)(to->n + from->n);
	to->n_full = (uint16_t)(to->n_full + from->n_full);
}

static void add_sums(struct mem *m, uint32_t group, const struct mem_sums *from)
{
	struct mem_sums *to = &m->sums.items[group];

	if ((uint32_t)to->n + from->n > UINT16_MAX)
		spill(m, group);
	to->operations += from->operations;
	for (int i = 0; i < N_LATENCIES; i++)
		sum_add(&to->of[i], &from->of[i]);
	sum_add(&to->walk, &from->walk);
	to->full_cycles += from->full_cycles;
	to->n = (uint16_t)(to->n + from->n);
	to->n_walks = (uint16_t)(to->n_walks + from->n_walks);
}

/* Adds group `i` of `from` to this one. */
static void add_group_of(struct mem *m, uint32_t group, const struct mem *from, uint32_t i)
{
	const struct mem_cost *wide = find_wide(from, i);

	add_sums(m, group, &from->sums.items[i]);
	if (wide != NULL)
		add_wide(m, group, wide);
	if (m->options->with_times)
		note_time(&m->times.items[group].first_ns, &m->times.items[group].last_ns,
			  from->times.items[i].first_ns, from->times.items[i].last_ns);
	if (m->options->with_histograms)
		mem_histograms_merge(&m->histograms.items[group], &from->histograms.items[i]);
}

void mem_add_groups(struct mem *m, const struct mem *from)
{
	uint32_t *rests = mem_alloc(from->rests.n + 1, sizeof(*rests));

	for (uint32_t i = 0; i < from->rests.n; i++)
		rests[i] = tuples_add(&m->rests, tuples_get(&from->rests, i));
	note_time(&m->first_ns, &m->last_ns, from->first_ns, from->last_ns);
	for (uint32_t i = 0; i < mem_n_groups(from); i++) {
		struct place_group g = key_of(from, i);

		add_group_of(m, group_of(m, g.place, rests[g.rest]), from, i);
	}
	free(rests);
}

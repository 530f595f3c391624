/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of mem.h. The dimensions besides the place take few values, which get
 * numbers: with the place they are the group.
 *
 * The sums of a group have room for MEM_SUMS_MOST records. When that is used up they move into a struct
 * mem_cost, of which only groups with so many records have one.
 */
#include <stdlib.h>
#include <string.h>

#include "access/data_src.h"
#include "access/samples.h"
#include "base/alloc.h"
#include "base/prefetch.h"
#include "mem/mem.h"
#include "spe/packet.h"

enum { PLACES_TOGETHER = 256 };

/* Of a group's key, with its place in the table that finds it. */
enum { GROUP_BYTES = 16 };

static void init_groups(struct mem *m)
{
	tuples_init(&m->rests, MEM_BEFORE_DIMENSIONS + m->n_dimensions);
	tuples_init(&m->wide_groups, 1);
	tuples_init(&m->groups, 1);
	tuples_forget_index(&m->groups); /* until one is looked up */
}

static void release_groups(struct mem *m)
{
	vec_release(&m->operations);
	vec_release(&m->wide);
	tuples_release(&m->wide_groups);
	vec_release(&m->sums);
	vec_release(&m->group_of);
	tuples_release(&m->groups);
	vec_release(&m->rest_of_class);
	tuples_release(&m->rests);
}

/* Where groups go to a file, their numbers leave room for the groups. */
static uint32_t first_places(const struct mem_options *options)
{
	size_t most = options->groups_bytes / (4 * MEM_FIRST_RESTS * sizeof(uint32_t));

	return options->groups_bytes == 0 || most > MEM_FIRST_PLACES ? MEM_FIRST_PLACES
								     : (uint32_t)most;
}

void mem_init(struct mem *m, const struct session *session, const struct mem_options *options)
{
	*m = (struct mem){ .session = session, .options = options };
	for (int i = 0; i < N_DIMENSIONS; i++)
		if (i != DIM_PLACE && options->dimensions >> i & 1)
			m->dimensions[m->n_dimensions++] = (enum dimension)i;
	m->has_place = options->dimensions >> DIM_PLACE & 1;
	m->n_first_places = first_places(options);
	m->is_sampled = access_is_sampled(session);
	m->sampling = access_sampling_of(session);
	m->each = m->is_sampled ? 0 : spe_interval_common(session).mean;
	m->has_operations = !m->is_sampled && spe_interval_varies(session);
	init_groups(m);
}

void mem_release(struct mem *m)
{
	for (size_t i = 0; i < m->histograms.n; i++)
		mem_histograms_release(&m->histograms.items[i]);
	vec_release(&m->histograms);
	release_groups(m);
	spool_release(&m->file);
	vec_release(&m->spilled);
	vec_release(&m->spilled_places);
}

/* What a group is, besides being a number. */
static uint64_t mem_groups_pack(uint32_t place, uint32_t rest)
{
	return (uint64_t)place << 32 | rest;
}

static uint64_t mem_groups_key_of(const struct mem *m, uint32_t group)
{
	return m->has_place ? tuples_get(&m->groups, group)[0] : group;
}

/* Gives each of the first `n` groups its sums. */
static void mem_groups_reach(struct mem *m, uint32_t n)
{
	while (m->sums.n < n) {
		vec_add(&m->sums);
		if (m->has_operations)
			vec_add(&m->operations);
		if (m->options->with_histograms)
			vec_add(&m->histograms);
	}
}

/* Is the group's number in `group_of`? */
static inline bool is_first(const struct mem *m, uint32_t place, uint32_t rest)
{
	return place < m->n_first_places && rest < MEM_FIRST_RESTS;
}

static inline size_t slot_of_first(uint32_t place, uint32_t rest)
{
	return (size_t)place * MEM_FIRST_RESTS + rest;
}

/* Makes room in `group_of` for all places that have numbers, and may be first ones. */
static void reach_first_places(struct mem *m)
{
	uint32_t n = place_numbers_n(m->session->places);
	size_t wanted = slot_of_first(n < m->n_first_places ? n : m->n_first_places, 0);

	if (wanted > m->group_of.n) {
		vec_reserve(&m->group_of, wanted - m->group_of.n);
		m->group_of.n = wanted;
	}
}

__attribute__((noinline)) static uint32_t add_first(struct mem *m, uint32_t place, uint32_t rest)
{
	uint32_t group;

	*tuples_append(&m->groups, 1, &group) = mem_groups_pack(place, rest);
	mem_groups_reach(m, m->groups.n);
	m->group_of.items[slot_of_first(place, rest)] = group + 1;
	return group;
}

static inline uint32_t find_first(struct mem *m, uint32_t place, uint32_t rest)
{
	uint32_t group = m->group_of.items[slot_of_first(place, rest)];

	return group != 0 ? group - 1 : add_first(m, place, rest);
}

/* The groups of up to MEM_ROWS_AT_ONCE places and rests. Those that are not in `group_of` are looked up together. */
static void find_groups(struct mem *m, const uint32_t *places, const uint32_t *rests, size_t n,
			uint32_t *out)
{
	uint64_t packed[MEM_ROWS_AT_ONCE] = { 0 };
	uint32_t groups[MEM_ROWS_AT_ONCE];
	uint16_t others[MEM_ROWS_AT_ONCE];
	size_t n_others = 0;

	reach_first_places(m);
	for (size_t i = 0; i < n; i++) {
		if (is_first(m, places[i], rests[i])) {
			prefetch(&m->group_of.items[slot_of_first(places[i], rests[i])]);
			continue;
		}
		others[n_others] = (uint16_t)i;
		packed[n_others++] = mem_groups_pack(places[i], rests[i]);
	}
	if (n_others > 0) {
		tuples_index(&m->groups);
		tuples_add_all(&m->groups, packed, n_others, groups);
		mem_groups_reach(m, m->groups.n);
	}
	for (size_t i = 0; i < n; i++)
		if (is_first(m, places[i], rests[i]))
			out[i] = find_first(m, places[i], rests[i]);
	for (size_t i = 0; i < n_others; i++)
		out[others[i]] = groups[i];
	for (size_t i = 0; i < n; i++) {
		const char *sums = (const char *)&m->sums.items[out[i]];

		prefetch_to_write(sums);
		prefetch_to_write(sums + sizeof(struct mem_sums) - 1);
	}
}

void mem_add_class(struct mem *m, const enum dimension *dimensions, const uint64_t *words)
{
	uint64_t its[MEM_MAX_WORDS] = { words[0], words[1] };

	for (size_t i = 0, at = 0; i < m->n_dimensions; i++) {
		while (dimensions[at] != m->dimensions[i])
			at++;
		its[MEM_BEFORE_DIMENSIONS + i] = words[MEM_BEFORE_DIMENSIONS + at];
	}
	*vec_add(&m->rest_of_class) = tuples_add(&m->rests, its);
	if (!m->has_place)
		mem_groups_reach(m, m->rests.n);
}

static struct mem_cost *wide_of(struct mem *m, uint32_t group)
{
	const uint64_t key = group;
	uint32_t number = tuples_add(&m->wide_groups, &key);

	if (number == m->wide.n)
		vec_add(&m->wide);
	return &m->wide.items[number];
}

static const struct mem_cost *find_wide(const struct mem *m, uint32_t group)
{
	const uint64_t key = group;
	uint32_t number = m->wide.n == 0 ? TUPLES_NONE : tuples_find(&m->wide_groups, &key);

	return number == TUPLES_NONE ? NULL : &m->wide.items[number];
}

static void add_latency(struct latency_sum *to, enum latency_state state, uint64_t n,
			uint64_t cycles)
{
	if (state == LATENCY_USABLE) {
		to->n += (uint32_t)n;
		to->cycles += cycles;
	} else if (state == LATENCY_FULL) {
		to->n_full += (uint32_t)n;
	}
}

/* All but the operations. */
static void add_to_cost(struct mem_cost *to, const struct mem_sums *s, unsigned states)
{
	enum latency_state total_state = (enum latency_state)(states & MEM_STATE_MASK);
	enum latency_state issue_state =
		(enum latency_state)(states >> MEM_STATE_ISSUE_SHIFT & MEM_STATE_MASK);
	enum latency_state xlat_state =
		(enum latency_state)(states >> MEM_STATE_XLAT_SHIFT & MEM_STATE_MASK);
	enum latency_state access_state = latency_state_of_difference(total_state, issue_state);
	uint64_t total = s->words[0] & UINT32_MAX, issue = s->words[0] >> 32;
	uint64_t xlat = s->words[1] & UINT32_MAX, xlat_of_walks = s->words[1] >> 32;
	uint64_t n = mem_sums_n(s), n_walks = s->words[2] >> 32;
	uint64_t access = states & MEM_ISSUE_ABOVE_TOTAL ? 0 : total - issue;
	uint64_t execution = states & MEM_XLAT_ABOVE_ACCESS ? 0 : access - xlat;

	to->n += n;
	to->n_walks += n_walks;
	add_latency(&to->sums[LATENCY_TOTAL], total_state, n, total);
	add_latency(&to->sums[LATENCY_ISSUE], issue_state, n, issue);
	add_latency(&to->sums[LATENCY_XLAT], xlat_state, n, xlat);
	add_latency(&to->sums[LATENCY_ACCESS], access_state, n, access);
	if (xlat_state == LATENCY_ABSENT)
		add_latency(&to->sums[LATENCY_EXECUTION], access_state, n, access);
	else
		add_latency(&to->sums[LATENCY_EXECUTION],
			    latency_state_of_difference(access_state, xlat_state), n, execution);
	add_latency(&to->walk, xlat_state, n_walks, xlat_of_walks);
	to->full_cycles += total_state == LATENCY_FULL ? total : 0;
}

void mem_group_read(const struct mem *m, uint32_t group, struct mem_group *out)
{
	uint64_t packed = mem_groups_key_of(m, group);
	const uint64_t *words = tuples_get(&m->rests, (uint32_t)packed);
	const struct mem_cost *wide = find_wide(m, group);

	out->kind = (enum memory_kind)words[0];
	out->states = (unsigned)words[1];
	memset(out->key, 0, sizeof(out->key));
	out->key[DIM_EVENT] = capture_n_events(m->session->capture);
	out->key[DIM_PLACE] = packed >> 32;
	for (size_t i = 0; i < m->n_dimensions; i++)
		out->key[m->dimensions[i]] = words[MEM_BEFORE_DIMENSIONS + i];
	out->sums = m->sums.items[group];
	out->has_wide = wide != NULL;
	if (wide != NULL)
		out->wide = *wide;
	out->operations =
		m->has_operations ? m->operations.items[group] : mem_group_n(out) * m->each;
	out->histograms = m->options->with_histograms ? &m->histograms.items[group] : NULL;
}

/* Places that were seen one after the other have numbers, and often groups, that follow each other. */
static size_t partition_of(const struct mem *m, uint32_t group)
{
	return (mem_groups_key_of(m, group) >> 32) / PLACES_TOGETHER % MEM_PARTITIONS;
}

void mem_partitions_init(struct mem_partitions *p, const struct mem *m)
{
	uint32_t ends[MEM_PARTITIONS] = { 0 }, n = 0;

	for (uint32_t group = 0; group < m->sums.n; group++)
		ends[partition_of(m, group)]++;
	for (size_t i = 0; i < MEM_PARTITIONS; i++) {
		p->starts[i] = n;
		n += ends[i];
		ends[i] = p->starts[i];
	}
	p->starts[MEM_PARTITIONS] = n;
	p->groups = mem_alloc((size_t)n + 1, sizeof(*p->groups));
	for (uint32_t group = 0; group < n; group++)
		p->groups[ends[partition_of(m, group)]++] = group;
}

void mem_partitions_fetch(const struct mem_partitions *p, const struct mem *m, uint32_t at)
{
	uint32_t group;

	if (at >= p->starts[MEM_PARTITIONS])
		return;
	group = p->groups[at];
	prefetch(&m->sums.items[group]);
	if (m->has_place)
		prefetch(tuples_get(&m->groups, group));
}

void mem_partitions_release(struct mem_partitions *p)
{
	free(p->groups);
	p->groups = NULL;
}

void mem_note_places(const struct mem *m, bool *places)
{
	places[0] |= m->sums.n > 0; /* most have no caller */
	for (uint32_t group = 0; group < m->sums.n && m->has_place; group++)
		places[mem_groups_key_of(m, group) >> 32] = true;
	for (size_t i = 0; i < m->n_dimensions; i++)
		for (uint32_t rest = 0; rest < m->rests.n && m->dimensions[i] == DIM_CALLER; rest++)
			places[tuples_get(&m->rests, rest)[MEM_BEFORE_DIMENSIONS + i]] = true;
}

void mem_cost_add_group(struct mem_cost *to, const struct mem_group *g)
{
	add_to_cost(to, &g->sums, g->states);
	if (g->has_wide)
		mem_cost_add(to, &g->wide);
	to->operations += g->operations;
}

size_t mem_groups_size(const struct mem *m)
{
	size_t rest = (m->rests.width + 1) * sizeof(*m->rests.words);
	size_t group = sizeof(*m->sums.items) + GROUP_BYTES +
		       (m->has_operations ? sizeof(*m->operations.items) : 0);

	return m->rests.n * rest + m->sums.n * group + m->group_of.n * sizeof(*m->group_of.items) +
	       m->wide.n * (sizeof(*m->wide.items) + GROUP_BYTES);
}

void mem_groups_reset(struct mem *m)
{
	tuples_reset(&m->rests);
	tuples_reset(&m->groups);
	tuples_reset(&m->wide_groups);
	m->sums.n = 0;
	m->group_of.n = 0;
	m->wide.n = 0;
	m->operations.n = 0;
	m->rest_of_class.n = 0;
}

void mem_groups_give_back(struct mem *m)
{
	release_groups(m);
	init_groups(m);
}

static unsigned states_of_group(const struct mem *m, uint32_t group)
{
	return (unsigned)tuples_get(&m->rests, (uint32_t)mem_groups_key_of(m, group))[1];
}

/* Moves the sums of a group to where there is room for more. */
__attribute__((noinline)) static void widen(struct mem *m, uint32_t group)
{
	struct mem_sums *sums = &m->sums.items[group];

	add_to_cost(wide_of(m, group), sums, states_of_group(m, group));
	*sums = (struct mem_sums){ 0 };
}

static inline void add_sums(struct mem *m, uint32_t group, const struct mem_sums *from)
{
	struct mem_sums *to = &m->sums.items[group];

	if (mem_sums_n(to) + mem_sums_n(from) > MEM_SUMS_MOST)
		widen(m, group);
	for (size_t i = 0; i < COUNT(to->words); i++)
		to->words[i] += from->words[i];
}

static uint64_t operations_of(const struct mem *m, const struct batch *b, size_t row)
{
	return spe_interval(m->session, batch_cpu(b, row))->mean;
}

/* What samples have besides their number. */
static void add_samples(struct mem *m, const struct mem_records *r, const uint32_t *groups)
{
	for (size_t i = 0; i < r->n; i++) {
		uint64_t facts = data_src_facts(r->batch->data_src[r->rows[i]]);
		struct sample_latencies l = sample_latencies_of(&m->sampling, r->batch, r->rows[i]);
		struct mem_cost *cost = wide_of(m, groups[i]);

		mem_cost_add_sample(cost, &l);
		cost->n_translated += facts >> SPE_EV_TLB_ACCESS & 1;
		if (m->options->with_histograms)
			mem_histograms_add_sample(&m->histograms.items[groups[i]], &l);
	}
}

static void add_histograms(struct mem *m, const struct mem_records *r, const uint32_t *groups)
{
	for (size_t i = 0; i < r->n && m->options->only_total; i++)
		histogram_add(&m->histograms.items[groups[i]].of[LATENCY_TOTAL],
			      mem_sums_total(&r->sums[i]),
			      (enum latency_state)(r->states[i] & MEM_STATE_MASK));
	for (size_t i = 0; i < r->n && !m->options->only_total; i++) {
		struct latencies l;

		latencies_read(&l, r->batch, r->rows[i]);
		mem_histograms_add(&m->histograms.items[groups[i]], &l);
	}
}

void mem_add_records(struct mem *m, const struct mem_records *r)
{
	uint32_t places[MEM_ROWS_AT_ONCE], rests[MEM_ROWS_AT_ONCE], found[MEM_ROWS_AT_ONCE];
	const uint32_t *groups =
		m->has_place ? found : rests; /* without places a rest is a group */

	for (size_t i = 0; i < r->n; i++)
		rests[i] = m->rest_of_class.items[r->classes[i]];
	if (m->has_place) {
		records_places(r->batch, r->rows, r->n, places);
		find_groups(m, places, rests, r->n, found);
	}
	for (size_t i = 0; i < r->n; i++)
		add_sums(m, groups[i], &r->sums[i]);
	for (size_t i = 0; i < r->n && m->has_operations; i++)
		m->operations.items[groups[i]] += operations_of(m, r->batch, r->rows[i]);
	if (m->is_sampled)
		add_samples(m, r, groups);
	else if (m->options->with_histograms)
		add_histograms(m, r, groups);
}

/* Adds group `i` of `from` to this one. */
static void add_group_of(struct mem *m, uint32_t group, const struct mem *from, uint32_t i)
{
	const struct mem_cost *wide = find_wide(from, i);

	add_sums(m, group, &from->sums.items[i]);
	if (wide != NULL)
		mem_cost_add(wide_of(m, group), wide);
	if (m->has_operations)
		m->operations.items[group] += from->operations.items[i];
	if (m->options->with_histograms)
		mem_histograms_merge(&m->histograms.items[group], &from->histograms.items[i]);
}

/* Adds the groups of places, several at a time. */
static void add_groups_of_places(struct mem *m, const struct mem *from, const uint32_t *rest_here)
{
	uint32_t places[MEM_ROWS_AT_ONCE], rests[MEM_ROWS_AT_ONCE], groups[MEM_ROWS_AT_ONCE];

	for (uint32_t at = 0, n = (uint32_t)from->sums.n; at < n; at += MEM_ROWS_AT_ONCE) {
		uint32_t some = n - at < MEM_ROWS_AT_ONCE ? n - at : MEM_ROWS_AT_ONCE;

		for (uint32_t i = 0; i < some; i++) {
			uint64_t packed = mem_groups_key_of(from, at + i);

			places[i] = (uint32_t)(packed >> 32);
			rests[i] = rest_here[(uint32_t)packed];
		}
		find_groups(m, places, rests, some, groups);
		for (uint32_t i = 0; i < some; i++)
			add_group_of(m, groups[i], from, at + i);
	}
}

void mem_add_groups(struct mem *m, const struct mem *from)
{
	uint32_t *rest_here = mem_alloc(from->rests.n + 1, sizeof(*rest_here));

	for (uint32_t i = 0; i < from->rests.n; i++)
		rest_here[i] = tuples_add(&m->rests, tuples_get(&from->rests, i));
	if (m->has_place) {
		add_groups_of_places(m, from, rest_here);
	} else {
		mem_groups_reach(m, m->rests.n);
		for (uint32_t i = 0; i < from->rests.n; i++)
			add_group_of(m, rest_here[i], from, i);
	}
	free(rest_here);
}

void mem_cost_add_sample(struct mem_cost *c, const struct sample_latencies *l)
{
	for (int i = 0; i < N_ALL_LATENCIES; i++) {
		bool is_usable = l->state[i] == LATENCY_USABLE;

		c->sums[i].n += is_usable;
		c->sums[i].cycles += is_usable ? l->cycles[i] : 0;
		c->sums[i].n_full += l->state[i] == LATENCY_FULL;
	}
	if (l->state[LATENCY_TOTAL] == LATENCY_FULL)
		c->full_cycles += l->cycles[LATENCY_TOTAL];
}

void mem_histograms_add_sample(struct mem_histograms *h, const struct sample_latencies *l)
{
	for (int i = 0; i < N_ALL_LATENCIES; i++)
		histogram_add(&h->of[i], l->cycles[i], (enum latency_state)l->state[i]);
}

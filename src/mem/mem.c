/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "access/data_src.h"
#include "access/samples.h"
#include "base/alloc.h"
#include "spe/packet.h"

enum {
	/* Classes that are known by what was recorded. In most captures these are all. */
	KNOWN_LOG = 8,

	/* What the place and struct mem_known_class tell. */
	KNOWN_DIMENSIONS = 1 << DIM_PLACE | 1 << DIM_EVENT | 1 << DIM_OPERATION | 1 << DIM_EVENTS |
			   1 << DIM_SOURCE | 1 << DIM_VECTOR,
};

const struct mem_times mem_times_none = { .first_ns = UINT64_MAX };

static size_t sampled_rows(const struct mem *m, const struct batch *b, uint16_t rows[BATCH_ROWS],
			   uint8_t kinds[BATCH_ROWS])
{
	int event = m->sampling.event;
	size_t n = 0;

	for (size_t row = 0; b->kind == BATCH_SAMPLES && row < b->n; row++) {
		rows[n] = (uint16_t)row;
		kinds[n] = (uint8_t)sample_memory_kind(b, row);
		n += kinds[n] != MEMORY_NONE && (event < 0 || b->event[row] == (unsigned)event);
	}
	return n;
}

size_t mem_rows_of(const struct mem *m, const struct batch *b, uint16_t rows[BATCH_ROWS],
		   uint8_t kinds[BATCH_ROWS])
{
	size_t n = 0;

	if (m->is_sampled)
		return sampled_rows(m, b, rows, kinds);
	if (b->kind != BATCH_SPE)
		return 0;
	if (batch_all_are(b, HAS_OP, SPE_OP_LDST)) {
		for (size_t row = 0; row < b->n; row++)
			rows[row] = (uint16_t)row;
		for (size_t row = 0; row < b->n; row++)
			kinds[row] = (uint8_t)memory_kind_of_payload(b->op[row]);
		return b->n;
	}
	for (size_t row = 0; row < b->n; row++) {
		rows[n] = (uint16_t)row;
		kinds[n] = (uint8_t)memory_kind_of_payload(b->op[row]);
		n += (b->has[row] & HAS_OP) && b->op_class[row] == SPE_OP_LDST;
	}
	return n;
}

static void mem_sum_add(struct latency_sum *to, const struct latency_sum *from)
{
	to->n += from->n;
	to->cycles += from->cycles;
	to->n_full += from->n_full;
}

void mem_cost_add(struct mem_cost *to, const struct mem_cost *from)
{
	to->n += from->n;
	to->operations += from->operations;
	for (int i = 0; i < N_ALL_LATENCIES; i++)
		mem_sum_add(&to->sums[i], &from->sums[i]);
	to->full_cycles += from->full_cycles;
	to->n_walks += from->n_walks;
	to->n_translated += from->n_translated;
	mem_sum_add(&to->walk, &from->walk);
}

uint64_t mem_times_length_ns(const struct mem_times *t)
{
	return t->last_ns > t->first_ns ? t->last_ns - t->first_ns : 0;
}

void mem_histograms_add(struct mem_histograms *h, const struct latencies *l)
{
	for (int i = 0; i < N_LATENCIES; i++)
		histogram_add(&h->of[i], l->cycles[i], (enum latency_state)l->state[i]);
}

void mem_histograms_merge(struct mem_histograms *into, const struct mem_histograms *from)
{
	for (int i = 0; i < N_ALL_LATENCIES; i++)
		histogram_merge(&into->of[i], &from->of[i]);
}

void mem_histograms_release(struct mem_histograms *h)
{
	for (int i = 0; i < N_ALL_LATENCIES; i++)
		histogram_release(&h->of[i]);
}

int mem_set_check(const struct mem_set *set, struct err *err)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->list[i].file.rc < 0) {
			*err = set->list[i].file.err;
			return -1;
		}
	}
	return 0;
}

uint64_t mem_set_length_ns(const struct mem_set *set)
{
	struct mem_times all = mem_times_none;

	for (size_t i = 0; i < set->times.n; i++)
		mem_times_add(&all, &set->times.items[i]);
	return mem_times_length_ns(&all);
}

static void *set_new(const struct session *session, const void *options)
{
	const struct mem_set_options *o = options;
	struct mem_set *set = mem_zalloc(1, sizeof(*set));
	uint32_t dimensions = 0;

	set->n = o->n;
	set->list = mem_zalloc(o->n, sizeof(*set->list));
	for (size_t i = 0; i < o->n; i++) {
		mem_init(&set->list[i], session, &o->list[i]);
		dimensions |= o->list[i].dimensions;
	}
	for (int i = 0; i < N_DIMENSIONS; i++)
		if (i != DIM_PLACE && dimensions >> i & 1)
			set->dimensions[set->n_dimensions++] = (enum dimension)i;
	tuples_init(&set->classes, MEM_BEFORE_DIMENSIONS + set->n_dimensions);
	if (!(dimensions & ~(uint32_t)KNOWN_DIMENSIONS))
		set->known = mem_zalloc(1 << KNOWN_LOG, sizeof(*set->known));
	tuples_init(&set->threads, 2);
	return set;
}

static void set_free(void *partial)
{
	struct mem_set *set = partial;

	if (set == NULL)
		return;
	for (size_t i = 0; i < set->n; i++)
		mem_release(&set->list[i]);
	vec_release(&set->times);
	tuples_release(&set->threads);
	tuples_release(&set->classes);
	free(set->known);
	free(set->list);
	free(set);
}

/* The numbers of the classes of `n` records from one on. */
static void add_classes(struct mem_set *set, const struct mem_records *r, size_t from, size_t n,
			uint32_t *out)
{
	uint64_t words[MEM_ROWS_AT_ONCE * MEM_MAX_WORDS];
	size_t width = set->classes.width;
	uint32_t n_known = set->classes.n;

	for (size_t i = 0; i < n; i++) {
		words[i * width] = r->kinds[from + i];
		words[i * width + 1] = r->states[from + i];
	}
	for (size_t d = 0; d < set->n_dimensions; d++)
		records_dimension(set->list[0].session, r->batch, r->rows + from, n,
				  set->dimensions[d], words + MEM_BEFORE_DIMENSIONS + d, width);
	tuples_add_runs(&set->classes, words, n, out);
	for (; n_known < set->classes.n; n_known++)
		for (size_t i = 0; i < set->n; i++)
			mem_add_class(&set->list[i], set->dimensions,
				      tuples_get(&set->classes, n_known));
}

/*
 * What a record is, as it was recorded, but for the events; never 0. The kind is told by the operation. What is absent may be
 * anything: then a class is there several times.
 */
static inline uint64_t known_key(const struct batch *b, size_t row, uint8_t states)
{
	uint64_t has = b->has[row] & (HAS_OP | HAS_SOURCE | HAS_EVENTS);

	return has << 32 | (uint64_t)b->source[row] << 16 | (uint64_t)b->op[row] << 8 | states;
}

static inline struct mem_known_class *known_at(const struct mem_set *set, uint64_t events,
					       uint64_t key)
{
	uint64_t mixed = (events * 0x9e3779b97f4a7c15 ^ key) * 0xd6e8feb86659fd93;

	return &set->known[mixed >> (64 - KNOWN_LOG)];
}

__attribute__((noinline)) static uint32_t add_known(struct mem_set *set,
						    const struct mem_records *r, size_t i,
						    struct mem_known_class *known,
						    const struct mem_known_class *wanted)
{
	*known = *wanted;
	add_classes(set, r, i, 1, &known->class);
	return known->class;
}

/* Records of a class come as they like, so each is looked up by what is known of it. */
static void find_known_classes(struct mem_set *set, struct mem_records *r)
{
	const struct batch *b = r->batch;
	const struct session *s = set->list[0].session;
	uint32_t cpu = batch_cpu(b, r->rows[0]);
	const struct cpu *model = session_cpu_of(s, cpu);

	for (size_t i = 0; i < r->n; i++) {
		size_t row = r->rows[i];
		uint64_t events = b->events[row], key = known_key(b, row, r->states[i]);
		struct mem_known_class *known = known_at(set, events, key);

		if (batch_cpu(b, row) != cpu) {
			cpu = batch_cpu(b, row);
			model = session_cpu_of(s, cpu);
		}
		if (((known->events ^ events) | (known->key ^ key)) == 0 && known->model == model)
			r->classes[i] = known->class;
		else
			r->classes[i] =
				add_known(set, r, i, known,
					  &(struct mem_known_class){ events, key, model, 0 });
	}
}

static void find_classes(struct mem_set *set, struct mem_records *r)
{
	if (set->known != NULL && r->batch->kind == BATCH_SPE)
		find_known_classes(set, r);
	else
		add_classes(set, r, 0, r->n, r->classes);
}

/* The latencies of samples go into struct mem_cost alone: they are too wide for the sums. */
static void find_sample_sums(struct mem_records *r)
{
	for (size_t i = 0; i < r->n; i++) {
		uint64_t facts = data_src_facts(r->batch->data_src[r->rows[i]]);
		uint64_t is_walk = facts >> SPE_EV_TLB_WALK & 1;

		r->states[i] = 0;
		r->sums[i] = (struct mem_sums){ { 0, 0, 1 | is_walk << 32 } };
	}
}

/* The states of a record where a counter is full, or counters contradict each other. */
__attribute__((noinline)) static uint8_t rare_states(const struct batch *b, size_t row)
{
	struct latencies l;
	unsigned states;

	latencies_read(&l, b, row);
	states = l.state[LATENCY_TOTAL] |
		 (unsigned)l.state[LATENCY_ISSUE] << MEM_STATE_ISSUE_SHIFT |
		 (unsigned)l.state[LATENCY_XLAT] << MEM_STATE_XLAT_SHIFT;
	if (l.state[LATENCY_ACCESS] == LATENCY_USABLE && b->issue[row] > b->total[row])
		states |= MEM_ISSUE_ABOVE_TOTAL;
	if (l.state[LATENCY_ACCESS] == LATENCY_USABLE && l.state[LATENCY_XLAT] == LATENCY_USABLE &&
	    b->xlat[row] > l.cycles[LATENCY_ACCESS])
		states |= MEM_XLAT_ABOVE_ACCESS;
	return (uint8_t)states;
}

/* By bits: which of total, issue and translation were recorded, none of them full. */
static const uint8_t usable_states[8] = { 0x00, 0x01, 0x04, 0x05, 0x10, 0x11, 0x14, 0x15 };

/* What records show, and add up to. Without decisions, but for what is rare. */
static void find_sums(struct mem_records *r)
{
	static_assert(HAS_ISSUE == HAS_TOTAL << 1 && HAS_XLAT == HAS_TOTAL << 2, "in order");
	static_assert(LATENCY_ABSENT == 0 && LATENCY_USABLE == 1, "as in usable_states");
	const struct batch *b = r->batch;

	for (size_t i = 0; i < r->n; i++) {
		size_t row = r->rows[i];
		unsigned has = b->has[row] / HAS_TOTAL % COUNT(usable_states);
		uint64_t total = b->total[row] & -(uint64_t)(has & 1);
		uint64_t issue = b->issue[row] & -(uint64_t)(has >> 1 & 1);
		uint64_t xlat = b->xlat[row] & -(uint64_t)(has >> 2);
		uint64_t is_walk = batch_events(b, row) >> SPE_EV_TLB_WALK & 1;

		r->sums[i] = (struct mem_sums){ {
			total | issue << 32,
			xlat | (xlat & -is_walk) << 32,
			1 | is_walk << 32,
		} };
		r->states[i] = issue + xlat <= total && total < LATENCY_LEAST_FULL
				       ? usable_states[has]
				       : rare_states(b, row);
	}
}

static void add_times(struct mem_set *set, const uint64_t thread[2], const struct mem_times *times)
{
	uint32_t number = tuples_add(&set->threads, thread);

	if (number == set->times.n)
		*vec_add(&set->times) = mem_times_none;
	mem_times_add(&set->times.items[number], times);
}

static uint64_t thread_of(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_TID ? b->tid[row] : DIM_ABSENT;
}

/* When each thread's records were taken; one is often of the thread of the one before. */
static void note_times(struct mem_set *set, const struct batch *b, const uint16_t *rows,
		       const uint8_t *kinds, size_t n)
{
	struct mem_times times[N_MEMORY_KINDS];
	uint64_t thread[2];

	for (size_t i = 0, end; i < n; i = end) {
		for (int kind = 0; kind < N_MEMORY_KINDS; kind++)
			times[kind] = mem_times_none;
		thread[1] = thread_of(b, rows[i]);
		for (end = i; end < n && thread_of(b, rows[end]) == thread[1]; end++) {
			uint64_t time = b->time_ns[rows[end]];

			if (b->has[rows[end]] & HAS_TIME)
				mem_times_add(&times[kinds[end]],
					      &(struct mem_times){ time, time });
		}
		for (thread[0] = 0; thread[0] < N_MEMORY_KINDS; thread[0]++)
			if (times[thread[0]].first_ns != UINT64_MAX)
				add_times(set, thread, &times[thread[0]]);
	}
}

/* Classes are forgotten with the rests of the groups, as there may be as many. */
static void spill_groups(struct mem_set *set)
{
	bool is_spilled = false;

	for (size_t i = 0; i < set->n; i++)
		is_spilled |= mem_spill(&set->list[i]);
	if (!is_spilled)
		return;
	tuples_reset(&set->classes);
	if (set->known != NULL)
		memset(set->known, 0, sizeof(*set->known) << KNOWN_LOG);
	for (size_t i = 0; i < set->n; i++)
		set->list[i].rest_of_class.n = 0;
}

static void set_consume(void *partial, const struct batch *b)
{
	struct mem_set *set = partial;
	uint16_t rows[BATCH_ROWS];
	uint8_t kinds[BATCH_ROWS];
	size_t n = mem_rows_of(&set->list[0], b, rows, kinds);
	struct mem_records some = { .batch = b };

	note_times(set, b, rows, kinds, n);
	for (size_t from = 0; from < n; from += some.n) {
		some.n = n - from < MEM_ROWS_AT_ONCE ? n - from : MEM_ROWS_AT_ONCE;
		some.rows = rows + from;
		some.kinds = kinds + from;
		if (b->kind == BATCH_SPE)
			find_sums(&some);
		else
			find_sample_sums(&some);
		find_classes(set, &some);
		for (size_t i = 0; i < set->n; i++)
			mem_add_records(&set->list[i], &some);
	}
	spill_groups(set);
}

static void set_finish(void *partial)
{
	struct mem_set *set = partial;

	for (size_t i = 0; i < set->n; i++)
		mem_spill_finish(&set->list[i]);
}

static void set_merge(void *into, const void *from, const struct id_map *map)
{
	struct mem_set *set = into;
	const struct mem_set *part = from;

	(void)map;
	for (size_t i = 0; i < set->n; i++) {
		mem_add_groups(&set->list[i], &part->list[i]);
		mem_spill_merge(&set->list[i], &part->list[i]);
	}
	for (uint32_t i = 0; i < part->threads.n; i++)
		add_times(set, tuples_get(&part->threads, i), &part->times.items[i]);
}

static unsigned set_wants_chains(const void *options)
{
	const struct mem_set_options *o = options;
	unsigned wanted = 0;

	for (size_t i = 0; i < o->n; i++)
		wanted |= mem_wants_chains(&o->list[i]);
	return wanted;
}

static bool set_let_go(void *partial, const struct tuples *frames, bool must)
{
	(void)partial;
	(void)frames;
	(void)must;
	return true; /* callers are places */
}

const struct analysis_class mem_set_class = {
	.new = set_new,
	.free = set_free,
	.wants_chains = set_wants_chains,
	.let_go = set_let_go,
	.consume = set_consume,
	.finish = set_finish,
	.merge = set_merge,
};

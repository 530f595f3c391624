/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/interconnect.h"

/* With these, misses need no miss buffer. */
enum { ANY_MISSES = IDEAL_L1D | IDEAL_MISSES };

/* Widths of the fields of struct entry. */
#define STATE_MASK 7u
#define SOURCE_MASK 15u

static void init_cache(struct assoc *cache, uint32_t bytes, uint32_t ways)
{
	assoc_init(cache, bytes / LINE_BYTES / ways, ways);
}

void memory_init(struct memory *m, const struct params *p, struct counts *counts)
{
	*m = (struct memory){
		.params = p,
		.cycles = {
			[SOURCE_L2] = (uint16_t)p->l2_cycles,
			[SOURCE_PEER_CORE] = (uint16_t)p->peer_core_cycles,
			[SOURCE_SYSTEM_CACHE] = (uint16_t)p->system_cache_cycles,
			[SOURCE_PEER_CLUSTER] = (uint16_t)p->peer_cluster_cycles,
			[SOURCE_DRAM] = (uint16_t)p->dram_cycles,
		},
		.finish = {
			[SOURCE_L2] = (uint16_t)p->l2_finish,
			[SOURCE_PEER_CORE] = (uint16_t)p->peer_core_finish,
			[SOURCE_SYSTEM_CACHE] = (uint16_t)p->system_cache_finish,
			[SOURCE_PEER_CLUSTER] = (uint16_t)p->peer_cluster_finish,
			[SOURCE_DRAM] = (uint16_t)p->dram_finish,
		},
	};
	tags_init(&m->system_cache, p->system_cache_bytes / LINE_BYTES / p->system_cache_ways,
		  p->system_cache_ways);
	directory_init(&m->directory);
	m->homes = mem_zalloc(HOME_SLOTS, sizeof(*m->homes));
	directory_init(&m->invalidated);
	for (unsigned i = 0; i < p->n_cpus; i++) {
		struct private_caches *cpu = &m->cpus[i];

		init_cache(&cpu->l1i, p->l1i_bytes, p->l1i_ways);
		init_cache(&cpu->l1d, p->l1d_bytes, p->l1d_ways);
		init_cache(&cpu->l2, p->l2_bytes, p->l2_ways);
		cpu->misses = mem_zalloc(p->outstanding_misses, sizeof(*cpu->misses));
		cpu->counts = &counts[i];
	}
}

void memory_make_ideal(struct memory *m, const struct ideal *ideal)
{
	m->tracks_invalidated = ideal->bits & IDEAL_COHERENCE;
}

void memory_release(struct memory *m)
{
	for (unsigned i = 0; i < MAX_CPUS; i++) {
		assoc_release(&m->cpus[i].l1i);
		assoc_release(&m->cpus[i].l1d);
		assoc_release(&m->cpus[i].l2);
		free(m->cpus[i].misses);
	}
	tags_release(&m->system_cache);
	directory_release(&m->directory);
	free(m->homes);
	directory_release(&m->invalidated);
	*m = (struct memory){ 0 };
}

/* The miss buffer that is free first. */
static uint64_t *first_free_miss_buffer(const struct memory *m, const struct private_caches *c)
{
	uint64_t *first = &c->misses[0];

	for (uint32_t i = 1; i < m->params->outstanding_misses; i++)
		if (c->misses[i] < *first)
			first = &c->misses[i];
	return first;
}

static void count_l2(struct private_caches *c, enum access_kind kind, bool is_refill)
{
	bool is_write = kind == ACCESS_STORE;

	count_event(c, is_write ? COUNT_L2D_CACHE_WR : COUNT_L2D_CACHE_RD);
	if (is_refill)
		count_event(c, is_write ? COUNT_L2D_CACHE_REFILL_WR : COUNT_L2D_CACHE_REFILL_RD);
}

/* Changes source and latency of an access if a resource is perfect. */
static void make_ideal(const struct memory *m, enum access_kind kind, uint64_t time,
		       bool was_invalidated, struct access *a)
{
	bool is_data = kind != ACCESS_FETCH && kind != ACCESS_WALK;
	bool hits_l1 = (m->ideal & IDEAL_L1D && is_data) ||
		       (m->ideal & IDEAL_L2_HITS && a->source == SOURCE_L2) ||
		       (m->ideal & IDEAL_COHERENCE && was_invalidated);

	if (hits_l1)
		*a = (struct access){ .start = a->start,
				      .served = a->served,
				      .ready = time + m->params->latency[TIMING_LOAD],
				      .source = SOURCE_L1,
				      .peers = a->peers };
	else if (m->ideal & IDEAL_L2 && a->missed_l2)
		*a = (struct access){ .start = a->start,
				      .served = a->served,
				      .ready = time + m->params->l2_cycles,
				      .source = SOURCE_L2,
				      .missed_l1 = true,
				      .peers = a->peers };
}

/*
 * Lets a miss of data take a part of its time, as if others were under way meanwhile: the next ones
 * of other chains, or prefetches. What another CPU supplies or loses takes all of it.
 */
static void overlap_misses(const struct memory *m, enum access_kind kind, struct access *a)
{
	uint64_t least = a->served + m->params->latency[TIMING_LOAD];
	unsigned shift = ideal_overlap_shift(m->ideal);

	if (shift == 0 || kind == ACCESS_FETCH || kind == ACCESS_WALK || a->peers != 0 ||
	    a->ready <= least)
		return;
	a->hidden = a->ready - least - ((a->ready - least) >> shift);
	a->ready -= a->hidden;
}

/* The access at the L2, without L2 counts. *out_l2: the line's entry there. */
static struct access access_l2(struct memory *m, unsigned cpu, uint64_t line, enum access_kind kind,
			       uint64_t time, struct entry **out_l2)
{
	struct private_caches *c = &m->cpus[cpu];
	bool to_write = kind == ACCESS_STORE;
	struct entry *l2 = assoc_find(&c->l2, line);
	struct access a = { .start = time, .served = time, .source = SOURCE_L2, .missed_l1 = true };
	bool was_invalidated = interconnect_clear_invalidated(m, cpu, line);
	enum line_state state;

	if (l2 != NULL) {
		a.ready = time + m->params->l2_cycles;
		if (l2->value > a.ready) { /* the next-line prefetcher asked for it */
			a.ready = l2->value;
			a.source = l2->source;
			a.missed_l2 = true;
			a.was_late = true;
		}
		if (to_write && l2->state == LINE_SHARED)
			interconnect_upgrade(m, cpu, line, &a);
		if (to_write)
			l2->state = LINE_MODIFIED;
	} else {
		state = interconnect_get(m, cpu, line, to_write, time, &a);
		l2 = interconnect_fill_l2(m, cpu, line);
		l2->state = state & STATE_MASK;
	}
	make_ideal(m, kind, time, was_invalidated, &a);
	overlap_misses(m, kind, &a);
	a.finish = a.ready + m->finish[a.source];
	*out_l2 = l2;
	return a;
}

static struct entry *fill_l1(struct private_caches *c, struct assoc *l1, uint64_t line,
			     const struct access *a, uint8_t state)
{
	struct entry victim, *entry;
	uint64_t victim_line;

	entry = assoc_add(l1, line, &victim_line, &victim);
	*entry = (struct entry){
		.value = a->ready & ENTRY_VALUE,
		.source = a->source & SOURCE_MASK,
		.state = state & STATE_MASK,
	};
	if (victim_line != ASSOC_NONE && victim.state == LINE_MODIFIED) {
		count_event(c, COUNT_L1D_CACHE_WB);
		count_event(c, COUNT_L2D_CACHE_WR);
	}
	return entry;
}

/* A store that hits the L1D. Sets the line's state in the L2, too. */
static void write_l1(struct memory *m, unsigned cpu, uint64_t line, struct entry *l1,
		     struct access *a)
{
	if (l1->state == LINE_MODIFIED)
		return;
	if (l1->state == LINE_SHARED)
		interconnect_upgrade(m, cpu, line, a);
	l1->state = LINE_MODIFIED;
	assoc_peek(&m->cpus[cpu].l2, line)->state = LINE_MODIFIED;
}

/* Counts a refill: the first demand access to a line that is not there, or has not arrived. */
static void count_refill(struct private_caches *c, enum access_kind kind)
{
	static const enum count counts[] = {
		[ACCESS_LOAD] = COUNT_L1D_CACHE_REFILL_RD,
		[ACCESS_STORE] = COUNT_L1D_CACHE_REFILL_WR,
		[ACCESS_FETCH] = COUNT_L1I_CACHE_REFILL,
	};

	if (kind != ACCESS_PREFETCH)
		count_event(c, counts[kind]);
}

/* A hit in the L1. A line that has not arrived yet counts as a miss with the line's source. */
static void hit_l1(struct memory *m, unsigned cpu, uint64_t line, enum access_kind kind,
		   uint64_t time, struct entry *l1, struct access *out)
{
	*out = (struct access){
		.start = time,
		.ready = time + m->params->latency[TIMING_LOAD],
		.source = SOURCE_L1,
		.is_first = l1->is_early,
	};
	if (l1->value > out->ready && !(m->ideal & IDEAL_L1D)) {
		out->ready = l1->value;
		out->source = l1->source;
		out->missed_l1 = true;
		out->missed_l2 = out->source != SOURCE_L2;
		out->was_late = l1->is_early;
		if (l1->is_early)
			count_refill(&m->cpus[cpu], kind);
	}
	if (l1->is_early && kind != ACCESS_PREFETCH)
		l1->is_early = false;
	out->finish = out->ready + (out->missed_l1 ? m->finish[out->source] : 0);
	if (kind == ACCESS_STORE)
		write_l1(m, cpu, line, l1, out);
	if (out->finish < out->ready)
		out->finish = out->ready;
}

/* The line's state in the L1. Modified in the L2 alone: the L1 has written back its data. */
static uint8_t state_in_l1(enum access_kind kind, const struct entry *l2)
{
	if (kind == ACCESS_FETCH)
		return LINE_SHARED;
	return kind != ACCESS_STORE && l2->state == LINE_MODIFIED ? LINE_EXCLUSIVE : l2->state;
}

/* memory_access_early() for an L1 miss. */
static struct access miss_l1(struct memory *m, unsigned cpu, uint64_t line, enum access_kind kind,
			     uint64_t time, uint64_t early, struct assoc *l1)
{
	struct private_caches *c = &m->cpus[cpu];
	uint64_t no_buffer = 0, *buffer, start;
	struct entry *l2;
	struct access a;

	interconnect_host_prefetch(m, cpu, line);
	buffer = m->ideal & ANY_MISSES ? &no_buffer : first_free_miss_buffer(m, c);
	start = *buffer > time - early ? *buffer : time - early;
	a = access_l2(m, cpu, line, kind, start, &l2);
	c->n_misses++;
	*buffer = a.ready + a.hidden;
	if (a.source == SOURCE_L1)
		a.ready = a.finish = a.ready + early;
	count_l2(c, kind, a.missed_l2);
	count_refill(c, kind);
	a.is_first = true;
	fill_l1(c, l1, line, &a, state_in_l1(kind, l2))->is_early = kind == ACCESS_PREFETCH;
	return a;
}

static struct access walk_l2(struct memory *m, unsigned cpu, uint64_t line, uint64_t time)
{
	struct entry *l2;
	struct access a = access_l2(m, cpu, line, ACCESS_WALK, time, &l2);

	count_l2(&m->cpus[cpu], ACCESS_WALK, a.missed_l2);
	return a;
}

void memory_access_early(struct memory *m, unsigned cpu, uint64_t line, enum access_kind kind,
			 uint64_t time, uint64_t early, struct access *out)
{
	static const enum count counts[] = {
		[ACCESS_LOAD] = COUNT_L1D_CACHE_RD,
		[ACCESS_PREFETCH] = COUNT_L1D_CACHE_RD,
		[ACCESS_STORE] = COUNT_L1D_CACHE_WR,
		[ACCESS_FETCH] = COUNT_L1I_CACHE,
	};
	struct private_caches *c = &m->cpus[cpu];
	struct assoc *l1 = kind == ACCESS_FETCH ? &c->l1i : &c->l1d;
	struct entry *entry;

	if (kind == ACCESS_WALK) {
		*out = walk_l2(m, cpu, line, time);
		return;
	}
	count_event(c, counts[kind]);
	entry = assoc_find(l1, line);
	if (entry != NULL)
		hit_l1(m, cpu, line, kind, time, entry, out);
	else
		*out = miss_l1(m, cpu, line, kind, time, early, l1);
}

bool memory_has(const struct memory *m, unsigned cpu, uint64_t line)
{
	return assoc_peek(&m->cpus[cpu].l2, line) != NULL;
}

void memory_prefetch(struct memory *m, unsigned cpu, uint64_t line, bool into_l1, uint64_t time)
{
	struct private_caches *c = &m->cpus[cpu];
	struct entry *l2;
	struct access a;
	uint64_t no_buffer = 0, *buffer;

	if (assoc_peek(into_l1 ? &c->l1d : &c->l2, line) != NULL)
		return;
	buffer = m->ideal & ANY_MISSES ? &no_buffer : first_free_miss_buffer(m, c);
	if (*buffer > time)
		return;
	c->n_misses++;
	a = access_l2(m, cpu, line, ACCESS_LOAD, time, &l2);
	*buffer = a.ready + a.hidden;
	if (into_l1) {
		count_l2(c, ACCESS_PREFETCH, a.missed_l2);
		fill_l1(c, &c->l1d, line, &a, state_in_l1(ACCESS_LOAD, l2))->is_early = true;
	} else {
		l2->value = a.ready & ENTRY_VALUE;
		l2->source = a.source & SOURCE_MASK;
	}
}

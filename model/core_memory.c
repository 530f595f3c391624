/* SPDX-License-Identifier: Apache-2.0 */
/* The memory accesses of an instruction. */
#include "model/core.h"

#include "spe/packet.h"

#define EVENT(n) ((uint64_t)1 << (n))

/* An event bit of Neoverse N1: docs/reference/spe-packets.md section 7. */
enum { EV_LATE_PREFETCH = 12 };

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Store forwarding: a load of bytes that a recent store writes waits for the data of the store, and
 * then gets them as fast as from the L1D. An exclusive or atomic load reads the cache instead, when
 * the store buffer has written them.
 */
static void wait_for_stores(struct core *c, uint64_t first_word, uint64_t last_word)
{
	struct execution *now = &c->now;
	const struct insn *in = now->insn;
	uint64_t hit_cycles = c->params->latency[TIMING_LOAD], ready = 0;
	bool is_seen_by_all = in->kind == INSN_ATOMIC || in->flags & INSN_EXCLUSIVE;

	for (uint64_t word = first_word; word <= last_word; word++) {
		const struct forward *slot = &c->forward[word % FORWARD_SLOTS];

		if (slot->word == word)
			ready = later(ready, slot->ready);
	}
	if (ready == 0)
		return;
	if (is_seen_by_all && !(c->ideal_bits & IDEAL_ORDERING))
		now->done = later(now->done, c->last_drained + hit_cycles);
	else if (c->ideal_bits & IDEAL_FORWARDING)
		now->done = later(now->issue, ready);
	else
		now->done = later(now->done, ready + hit_cycles);
	now->finish = later(now->finish, now->done);
}

/* Later loads of the same bytes wait for the data of this store. */
static void remember_store(struct core *c, uint64_t first_word, uint64_t last_word)
{
	for (uint64_t word = first_word; word <= last_word; word++)
		c->forward[word % FORWARD_SLOTS] =
			(struct forward){ .word = word, .ready = c->now.done };
}

static struct translation translate(struct core *c, uint64_t va, bool is_store)
{
	struct execution *now = &c->now;
	struct translation t =
		tlb_translate(&c->tlbs, c->frames, c->memory, c->cpu, c->process, va,
			      is_store ? TRANSLATE_STORE : TRANSLATE_LOAD, now->issue);

	now->events |= EVENT(SPE_EV_TLB_ACCESS) | (t.walked ? EVENT(SPE_EV_TLB_WALK) : 0);
	now->xlat_cycles = later(now->xlat_cycles, t.cycles);
	return t;
}

/*
 * The N1 reports each L2 miss as an access of the last-level cache that missed, also if the system
 * cache has the line: it only knows the caches of its cluster.
 */
static void note_events(struct execution *now, const struct access *a)
{
	now->events |= EVENT(SPE_EV_L1D_ACCESS);
	if (a->missed_l1)
		now->events |= EVENT(SPE_EV_L1D_REFILL);
	if (a->missed_l2)
		now->events |= EVENT(SPE_EV_LLC_ACCESS) | EVENT(SPE_EV_LLC_MISS);
	if (a->was_late)
		now->events |= EVENT(EV_LATE_PREFETCH);
}

/* The slowest access of an instruction determines its end and its data source. */
static void take_time(struct core *c, const struct access *a, uint64_t start)
{
	struct execution *now = &c->now;
	const uint32_t *latency = c->params->latency;
	bool is_store = now->insn->kind == INSN_STORE;
	uint64_t extra;

	if (is_store)
		now->line_ready = later(now->line_ready, a->ready);
	if (is_store && !(now->insn->flags & INSN_EXCLUSIVE)) { /* done in the store buffer */
		now->done = now->finish = later(now->done, start + latency[TIMING_STORE]);
		return;
	}
	extra = is_store ? 0 : latency[now->insn->timing] - latency[TIMING_LOAD]; /* vectors */
	if (now->insn->flags & INSN_PREFETCH) { /* no instruction depends on it */
		now->source = a->source;
		return;
	}
	if (a->finish + extra >= now->finish)
		now->source = a->source;
	now->done = later(now->done, a->ready + extra);
	now->finish = later(now->finish, a->finish + extra);
}

/* Prefetches the lines of `n` addresses into the L1D. */
static void prefetch_lines(struct core *c, const uint64_t *vas, size_t n, uint64_t time)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t pa = tlb_prefetch(&c->tlbs, c->frames, c->memory, c->cpu, c->process,
					   vas[i], time);

		memory_prefetch(c->memory, c->cpu, pa >> LINE_SHIFT, true, time);
	}
}

/* Trains the prefetchers with an access, and does the prefetches. */
static void prefetch(struct core *c, uint64_t va, uint64_t pa, const struct access *a,
		     uint64_t time)
{
	uint64_t vas[PREFETCH_MAX], line = pa >> LINE_SHIFT;
	bool is_in_page = ((line + 1) << LINE_SHIFT) >> PAGE_SHIFT == pa >> PAGE_SHIFT;

	if (c->memory->ideal & IDEAL_NO_PREFETCH)
		return;
	prefetch_lines(c, vas, prefetcher_train_stride(&c->prefetcher, c->now.insn->pc, va, vas),
		       time);
	if (a->is_first)
		prefetch_lines(c, vas, prefetcher_train_stream(&c->prefetcher, va, vas), time);
	if (c->params->prefetch_next_line && a->missed_l2 && is_in_page &&
	    memory_has(c->memory, c->cpu, line - 1))
		memory_prefetch(c->memory, c->cpu, line + 1, false, time);
}

static void note_access(struct core *c, uint64_t va, bool is_store, const struct access *a)
{
	const struct truth_access access = {
		.cpu = c->cpu,
		.tid = c->thread_id,
		.pc = c->now.insn->pc,
		.va = va,
		.is_store = is_store,
		.peers = a->peers,
	};

	truth_access(c->truth, &access);
}

static enum access_kind kind_of(const struct insn *in)
{
	if (in->kind != INSN_LOAD)
		return ACCESS_STORE;
	return in->flags & INSN_PREFETCH ? ACCESS_PREFETCH : ACCESS_LOAD;
}

static void access_line(struct core *c, uint64_t va)
{
	struct execution *now = &c->now;
	bool is_store = now->insn->kind != INSN_LOAD;
	struct translation t = translate(c, va, is_store);
	uint64_t waits = t.cycles - 1, look = c->params->latency[TIMING_LOAD] - 1;
	uint64_t start = now->issue + waits;
	struct access a;

	memory_access_early(c->memory, c->cpu, t.pa >> LINE_SHIFT, kind_of(now->insn), start,
			    waits < look ? waits : look, &a);
	if (!now->has_access) {
		now->has_access = true;
		now->va = va;
		now->pa = t.pa;
	}
	now->last_line = va >> LINE_SHIFT;
	if (c->truth != NULL)
		note_access(c, va, is_store, &a);
	if (now->insn->kind != INSN_STORE) /* stores wait in the store buffer */
		now->queued = later(now->queued, a.start);
	note_events(now, &a);
	take_time(c, &a, start);
	if (!(now->insn->flags & INSN_PREFETCH))
		prefetch(c, va, t.pa, &a, start);
}

static void count_unaligned(struct core *c, bool is_store)
{
	c->counts->n[is_store ? COUNT_UNALIGNED_ST_SPEC : COUNT_UNALIGNED_LD_SPEC]++;
}

void core_access(struct core *c, uint64_t va, unsigned size_bytes)
{
	struct execution *now = &c->now;
	bool reads = now->insn->kind != INSN_STORE, writes = now->insn->kind != INSN_LOAD;
	uint64_t last = va + size_bytes - 1;

	if ((va & (size_bytes - 1)) != 0)
		count_unaligned(c, writes);
	if (!now->has_access || va >> LINE_SHIFT != now->last_line)
		access_line(c, va);
	if (last >> LINE_SHIFT != va >> LINE_SHIFT)
		access_line(c, last & ~(uint64_t)(LINE_BYTES - 1));
	if (reads)
		wait_for_stores(c, va >> FORWARD_SHIFT, last >> FORWARD_SHIFT);
	if (writes)
		remember_store(c, va >> FORWARD_SHIFT, last >> FORWARD_SHIFT);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the records of hot functions by instruction, and the time between records by loop. */
#include <stdlib.h>

#include "access/kind.h"
#include "base/alloc.h"
#include "bottleneck/judged.h"
#include "data/data_names.h"
#include "estimate/latency.h"
#include "spe/packet.h"

static void *bottleneck_new(const struct session *session, const void *options)
{
	struct bottleneck_sums *s = mem_zalloc(1, sizeof(*s));

	(void)session;
	s->plan = options;
	s->last = mem_zalloc(s->plan->slots.n + 1, sizeof(*s->last));
	s->slots = mem_zalloc(s->plan->slots.n + 1, sizeof(*s->slots));
	s->regions = mem_zalloc(s->plan->regions.n + 1, sizeof(*s->regions));
	s->functions = mem_zalloc(s->plan->functions.n + 1, sizeof(*s->functions));
	code_sums_init(&s->code);
	return s;
}

static void bottleneck_free(void *partial)
{
	struct bottleneck_sums *s = partial;

	if (s == NULL)
		return;
	free(s->last);
	free(s->slots);
	free(s->regions);
	free(s->functions);
	code_sums_release(&s->code);
	free(s);
}

static void add_insn_latency(struct insn_latency *to, const struct latencies *l, enum latency what)
{
	if (l->state[what] == LATENCY_ABSENT)
		return;
	to->cycles += l->cycles[what];
	to->n++;
}

/* From issue on; where issue is not recorded the whole latency. */
static enum latency access_latency(const struct latencies *l)
{
	return l->state[LATENCY_ACCESS] == LATENCY_ABSENT ? LATENCY_TOTAL : LATENCY_ACCESS;
}

static void add_source(const struct bottleneck_sums *s, struct insn_sums *to, const struct batch *b,
		       size_t row, const struct latencies *l)
{
	uint32_t cpu = batch_cpu(b, row);
	const struct cpu_source *source =
		b->has[row] & HAS_SOURCE ? session_source(s->plan->session, cpu, b->source[row])
					 : NULL;
	enum source_level level = source == NULL ? SOURCE_UNKNOWN : source->level;

	to->n_level[level]++;
	if (l->state[access_latency(l)] == LATENCY_FULL)
		to->n_full[level]++;
	else
		add_insn_latency(&to->level[level], l, access_latency(l));
	to->level_cycles[level] +=
		l->state[LATENCY_TOTAL] == LATENCY_ABSENT ? 0u : l->cycles[access_latency(l)];
}

/* Before the addresses are added. Of several processes an address is no name of anything. */
static void add_owner(struct insn_sums *to, uint32_t process, uint64_t time_ns)
{
	if (to->addresses.n == 0) {
		to->process = process;
		to->time_ns = time_ns;
		return;
	}
	if (to->process != process)
		to->process = OF_SEVERAL;
	if (time_ns < to->time_ns)
		to->time_ns = time_ns;
}

/* Addresses that follow each other are known within a stretch, which is the same for all workers. */
static void add_address(struct bottleneck_sums *s, uint32_t slot, uint64_t address,
			uint32_t process, uint64_t time_ns)
{
	struct addr_pattern *p = &s->slots[slot].addresses;

	add_owner(&s->slots[slot], process, time_ns);
	addr_pattern_add(p, address);
	if (s->last[slot].stretch == s->n_stretches)
		addr_pattern_add_pair(p, s->last[slot].address, address);
	s->last[slot].address = address;
	s->last[slot].stretch = s->n_stretches;
}

static void add_insn_record(struct bottleneck_sums *s, uint32_t slot, const struct batch *b,
			    size_t row, struct latencies l)
{
	const struct slot *at = &s->plan->slots.items[slot];
	const uint32_t *words = s->plan->functions.items[at->function].words;
	struct insn_sums *to = &s->slots[slot];
	uint32_t has = b->has[row];
	uint64_t events = batch_events(b, row);
	enum memory_kind kind =
		has & HAS_OP ? memory_kind_of(b->op_class[row], b->op[row]) : MEMORY_NONE;
	bool is_access = kind != MEMORY_NONE;

	/*
	 * If the wait to issue filled its counter, nothing is left of what follows. Of an access it
	 * counts all the same: what it waited for were accesses like it.
	 */
	to->n++;
	to->n_loads += is_access && kind != MEMORY_STORE &&
		       (words == NULL || !is_prefetch_word(words[at->insn]));
	add_insn_latency(&to->total, &l, LATENCY_TOTAL);
	if (is_access || l.state[LATENCY_ISSUE] != LATENCY_FULL)
		add_insn_latency(&to->access, &l, access_latency(&l));
	add_insn_latency(&to->xlat, &l, LATENCY_XLAT);
	to->n_walks += events >> SPE_EV_TLB_WALK & 1;
	to->n_refills += events >> SPE_EV_L1D_REFILL & 1;
	to->n_llc_misses += events >> SPE_EV_LLC_MISS & 1;
	to->n_late += s->plan->late_prefetch >= 0 && events >> s->plan->late_prefetch & 1;
	if (has & HAS_OP && b->op_class[row] == SPE_OP_BRANCH &&
	    events >> SPE_EV_MISPREDICTED & 1) {
		to->n_mispredicted++;
		to->mispredicted_cycles += has & HAS_TOTAL ? b->total[row] : 0u;
	}
	if (is_access) {
		add_source(s, to, b, row, &l);
		if (has & HAS_VA)
			add_address(s, slot, b->va[row],
				    has & HAS_PROCESS ? b->process[row] : OF_SEVERAL,
				    data_time(timeline_is_by_position(s->plan->session->timeline),
					      b, row));
	}
}

static void add_pair_time(struct pair_sums *to, uint64_t halves, uint64_t ns)
{
	to->half_ns += halves * ns;
	to->squares += halves * ns * ns;
	to->n++;
}

static void merge_pairs(struct pair_sums *to, const struct pair_sums *from)
{
	to->n += from->n;
	to->half_ns += from->half_ns;
	to->squares += from->squares;
	to->n_inside += from->n_inside;
}

static void add_time_between(struct bottleneck_sums *s, uint32_t before, uint32_t after,
			     uint64_t ns)
{
	const struct bottlenecks *plan = s->plan;
	const uint32_t slots[] = { before, after };
	uint32_t regions[2] = { NO_SLOT, NO_SLOT }, functions[2] = { NO_SLOT, NO_SLOT };

	add_pair_time(&s->all, 2, ns);
	code_sums_add_gap(&s->code, ns);
	for (int i = 0; i < 2; i++) {
		const struct slot *slot;

		if (slots[i] == NO_SLOT)
			continue;
		slot = &plan->slots.items[slots[i]];
		functions[i] = slot->function;
		regions[i] = plan->functions.items[slot->function].regions[slot->insn];
		add_pair_time(&s->functions[slot->function], 1, ns);
	}
	if (functions[0] == functions[1] && functions[0] != NO_SLOT)
		s->functions[functions[0]].n_inside += 2;
	if (regions[0] == regions[1] && regions[0] != NO_SLOT)
		add_pair_time(&s->regions[regions[0]], 2, ns);
}

/* The slot of each record, or NO_SLOT. Apart from what is done with them, so that cache misses overlap. */
static void find_slots(const struct bottlenecks *plan, const struct batch *b, uint32_t *out)
{
	for (size_t row = 0; row < b->n; row++) {
		uint32_t place = b->has[row] & HAS_PLACE ? b->place[row] : 0;

		out[row] = plan->slots.n > 0 && place < plan->n_places ? plan->slot_of_place[place]
								       : NO_SLOT;
	}
}

/* Does a row come out of another buffer than the one before? There is one for each CPU, or, without CPUs, for each thread. */
static bool begins_stretch(const struct batch *b, size_t row)
{
	return batch_cpu(b, row) != batch_cpu(b, row - 1) ||
	       (!(b->has[row] & HAS_CPU) && b->tid[row] != b->tid[row - 1]);
}

/* Within a batch only: what batches hold does not depend on who decodes them. */
static void bottleneck_consume(void *partial, const struct batch *b)
{
	struct bottleneck_sums *s = partial;
	uint32_t slots[BATCH_ROWS];

	s->n_stretches++;
	if (b->kind != BATCH_SPE)
		return;
	code_sums_add(&s->code, b);
	find_slots(s->plan, b, slots);
	for (size_t row = 0; row < b->n; row++) {
		s->n_stretches += row > 0 && begins_stretch(b, row);
		if (slots[row] != NO_SLOT)
			add_insn_record(s, slots[row], b, row, latencies_of(b, row));
		if (row > 0 && spe_record_follows(s->plan->session, b, row))
			add_time_between(s, slots[row - 1], slots[row],
					 b->time_ns[row] - b->time_ns[row - 1]);
	}
}

static void bottleneck_finish(void *partial)
{
	struct bottleneck_sums *s = partial;

	code_sums_finish(&s->code);
}

static void merge_latency(struct insn_latency *to, const struct insn_latency *from)
{
	to->cycles += from->cycles;
	to->n += from->n;
}

static void merge_insn(struct insn_sums *to, const struct insn_sums *from)
{
	to->n += from->n;
	to->n_loads += from->n_loads;
	merge_latency(&to->total, &from->total);
	merge_latency(&to->access, &from->access);
	merge_latency(&to->xlat, &from->xlat);
	to->n_walks += from->n_walks;
	to->n_mispredicted += from->n_mispredicted;
	to->mispredicted_cycles += from->mispredicted_cycles;
	to->n_refills += from->n_refills;
	to->n_llc_misses += from->n_llc_misses;
	to->n_late += from->n_late;
	for (int i = 0; i < N_SOURCE_LEVELS; i++) {
		to->n_level[i] += from->n_level[i];
		to->level_cycles[i] += from->level_cycles[i];
		merge_latency(&to->level[i], &from->level[i]);
		to->n_full[i] += from->n_full[i];
	}
	if (from->addresses.n > 0)
		add_owner(to, from->process, from->time_ns);
	addr_pattern_merge(&to->addresses, &from->addresses);
}

static void bottleneck_merge(void *into, const void *from, const struct id_map *map)
{
	struct bottleneck_sums *s = into;
	const struct bottleneck_sums *part = from;

	(void)map; /* places are the same everywhere */
	for (size_t i = 0; i < s->plan->slots.n; i++)
		merge_insn(&s->slots[i], &part->slots[i]);
	for (size_t i = 0; i < s->plan->regions.n; i++)
		merge_pairs(&s->regions[i], &part->regions[i]);
	for (size_t i = 0; i < s->plan->functions.n; i++)
		merge_pairs(&s->functions[i], &part->functions[i]);
	merge_pairs(&s->all, &part->all);
	code_sums_merge(&s->code, &part->code);
}

const struct analysis_class bottleneck_class = {
	.new = bottleneck_new,
	.free = bottleneck_free,
	.consume = bottleneck_consume,
	.finish = bottleneck_finish,
	.merge = bottleneck_merge,
};

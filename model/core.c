/* SPDX-License-Identifier: Apache-2.0 */
#include "model/core.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/random.h"
#include "model/observer.h"
#include "spe/packet.h"

#define EVENT(n) ((uint64_t)1 << (n))

void core_init(struct core *c, unsigned cpu, struct memory *memory, struct frames *frames,
	       struct counts *counts, const struct sampling *sampling, uint64_t seed)
{
	const struct params *p = memory->params;

	*c = (struct core){
		.params = p,
		.memory = memory,
		.frames = frames,
		.counts = counts,
		.cpu = cpu,
		.fetch_line = UINT64_MAX,
		.prefetcher = { .distance = p->prefetch_distance,
				.longest_stride = p->prefetch_longest_stride },
		.retire = mem_zalloc(p->window, sizeof(*c->retire)),
		.memory_issue = mem_zalloc(p->memory_queue, sizeof(*c->memory_issue)),
		.drained = mem_zalloc(p->store_buffer, sizeof(*c->drained)),
	};
	units_init(&c->units, p);
	tlbs_init(&c->tlbs, p);
	predictor_init(&c->predictor, p);
	sampler_init(&c->sampler, sampling, seed + cpu, counts);
}

void core_release(struct core *c)
{
	free(c->retire);
	free(c->memory_issue);
	free(c->drained);
	tlbs_release(&c->tlbs);
	predictor_release(&c->predictor);
	*c = (struct core){ 0 };
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_count(struct core *c, enum count count)
{
	c->counts->n[count]++;
}

/* Puts a value `n` times into a ring of `size`; advances the index. */
static void ring_add(uint64_t *ring, uint32_t *index, uint32_t size, uint64_t value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		ring[*index] = value;
		*index = *index + 1 < size ? *index + 1 : 0;
	}
}

/* The last of the next `n` entries of a ring, which the index is at. `n` is at least 1. */
static uint64_t ring_at(const uint64_t *ring, uint32_t index, uint32_t size, uint32_t n)
{
	return ring[n == 1 ? index : (index + n - 1) % size];
}

void core_wait_until(struct core *c, uint64_t cycle)
{
	if (cycle <= c->dispatch_cycle)
		return;
	c->dispatch_cycle = cycle;
	c->dispatched = 0;
	if (cycle <= c->last_retire)
		return;
	c->counts->n[COUNT_IDLE_CYCLES] += cycle - c->last_retire;
	c->last_retire = cycle;
	if (c->observer != NULL)
		observer_idle(c->observer, cycle);
}

void core_switch(struct core *c, void *record_context, uint32_t thread_id, uint32_t process)
{
	if (c->observer != NULL)
		observer_switch(c->observer, record_context, thread_id != c->thread_id);
	c->process = process;
	c->record_context = record_context;
	c->thread_id = thread_id;
	c->fetch_line = UINT64_MAX;
}

/* Is this perfect for the current instruction? */
static bool is_ideal(const struct core *c, uint32_t bit)
{
	return (c->ideal_bits & bit) != 0;
}

/* Sets what is perfect for the instruction at `pc`. */
static void set_ideal(struct core *c, uint64_t pc)
{
	if (c->ideal != NULL)
		c->memory->ideal = c->ideal_bits = ideal_at(c->ideal, pc);
}

/* Fetches a line of instructions. */
static void fetch_line(struct core *c, uint64_t va)
{
	uint64_t now = later(c->dispatch_cycle, c->fetch_ready);
	struct translation t = tlb_translate(&c->tlbs, c->frames, c->memory, c->cpu, c->process, va,
					     TRANSLATE_FETCH, now);
	struct access a;

	memory_access_early(c->memory, c->cpu, t.pa >> LINE_SHIFT, ACCESS_FETCH, now, 0, &a);
	if (a.missed_l1 || t.cycles > 1)
		c->fetch_ready = later(a.ready, now) + t.cycles - 1;
}

void core_fetch(struct core *c, uint64_t first_pc, uint64_t end_pc)
{
	set_ideal(c, first_pc);
	for (uint64_t line = first_pc >> LINE_SHIFT; line <= (end_pc - 1) >> LINE_SHIFT; line++) {
		if (line == c->fetch_line)
			continue;
		c->fetch_line = line;
		if (!is_ideal(c, IDEAL_FETCH))
			fetch_line(c, line << LINE_SHIFT);
	}
}

/*
 * How many instructions are executed for the current one. If that is no whole number, it is one of
 * the two next to it, at random, so that loops of any length have the right mean.
 */
static uint32_t times_of(struct core *c)
{
	uint32_t n;

	if (!is_ideal(c, IDEAL_INSTRUCTIONS))
		return 1;
	n = c->ideal->instructions;
	return n / IDEAL_THOUSAND +
	       (random_next(&c->ideal_random) % IDEAL_THOUSAND < n % IDEAL_THOUSAND);
}

static bool is_memory(const struct insn *in)
{
	return in->kind == INSN_LOAD || in->kind == INSN_STORE || in->kind == INSN_ATOMIC;
}

/* The cycle at which window, queue and store buffer have room for the instruction. */
static uint64_t room_at(const struct core *c, const struct insn *in)
{
	const struct params *p = c->params;
	uint32_t n = c->now.times;
	uint64_t at;

	if (n == 0 || is_ideal(c, IDEAL_WINDOW))
		return 0;
	at = ring_at(c->retire, c->next_retire, p->window, n);
	if (is_memory(in))
		at = later(at, ring_at(c->memory_issue, c->next_memory, p->memory_queue, n));
	if (in->kind == INSN_STORE)
		at = later(at, ring_at(c->drained, c->next_drained, p->store_buffer, n));
	return at;
}

/*
 * Counts the cycles without dispatch between `last` and `at`. Those before `fetched` are frontend
 * stalls.
 */
static void count_stalls(struct core *c, uint64_t last, uint64_t fetched, uint64_t at)
{
	uint64_t idle = at > last ? at - last - 1 : 0;
	uint64_t frontend = fetched > last ? fetched - last - 1 : 0;

	if (frontend > idle)
		frontend = idle;
	c->counts->n[COUNT_STALL_FRONTEND] += frontend;
	c->counts->n[COUNT_STALL_BACKEND] += idle - frontend;
}

static bool is_width_used(const struct core *c)
{
	return c->dispatched >= c->params->width && !is_ideal(c, IDEAL_WIDTH);
}

/* Dispatches an instruction that nothing depends on. */
static void dispatch_another(struct core *c)
{
	if (is_width_used(c)) {
		c->dispatch_cycle++;
		c->dispatched = 0;
	}
	c->dispatched++;
}

/* The cycle at which the instruction is dispatched. */
static uint64_t dispatch(struct core *c, const struct insn *in)
{
	uint64_t last = c->dispatch_cycle;
	uint64_t fetched = later(last, c->fetch_ready);
	uint64_t at = later(fetched, room_at(c, in));

	count_stalls(c, last, fetched, at);
	if (at == last && is_width_used(c) && c->now.times > 0)
		at++;
	units_forget_before(&c->units, at);
	if (at > last)
		c->dispatched = 0;
	c->dispatch_cycle = at;
	if (c->now.times > 0)
		c->dispatched++;
	for (uint32_t i = 1; i < c->now.times; i++)
		dispatch_another(c);
	return at;
}

static uint64_t sources_ready(const struct core *c, const struct insn *in)
{
	return later(later(c->ready[in->sources[0]], c->ready[in->sources[1]]),
		     later(c->ready[in->sources[2]], c->ready[in->sources[3]]));
}

/* The cycle at which the address of a load or store is ready; its data may come later. */
static uint64_t address_ready(const struct core *c, const struct insn *in)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < in->n_address; i++)
		at = later(at, c->ready[in->sources[i]]);
	return at;
}

/* Atomics and exclusive stores are visible to others at once, so they must not be speculative. */
static bool is_binding(const struct insn *in)
{
	bool is_exclusive_store = in->kind == INSN_STORE && in->flags & INSN_EXCLUSIVE;

	return in->kind == INSN_ATOMIC || is_exclusive_store;
}

/* The cycle from which on memory ordering lets the instruction issue. */
static uint64_t order_at(const struct core *c, const struct insn *in)
{
	uint64_t at = c->memory_floor;

	if (in->flags & INSN_RELEASE)
		at = later(at, c->memory_done);
	if (in->flags & INSN_AFTER_RELEASE)
		at = later(at, c->release_done);
	return is_binding(in) ? later(at, c->last_retire) : at;
}

/* What the instruction is timed as. */
static enum insn_timing timing_of(const struct core *c, const struct insn *in)
{
	static const enum insn_timing multiplications[N_TIMINGS] = {
		[TIMING_DIVIDE] = TIMING_MULTIPLY,
		[TIMING_DIVIDE_LONG] = TIMING_MULTIPLY_LONG,
		[TIMING_FLOAT_DIVIDE] = TIMING_FLOAT_MULTIPLY,
		[TIMING_FLOAT_ROOT] = TIMING_FLOAT_MULTIPLY,
	};
	enum insn_timing other = multiplications[in->timing];

	return other != 0 && is_ideal(c, IDEAL_DIVISION) ? other : in->timing;
}

/* Cycles from issue to the result; of loads, those of an L1D hit. */
static uint64_t latency_of(const struct core *c, const struct insn *in)
{
	bool is_arithmetic = in->timing < TIMING_LOAD;

	if (is_arithmetic && c->now.times == 0)
		return 0;
	return is_arithmetic && is_ideal(c, IDEAL_ARITHMETIC | IDEAL_ARITHMETIC_LATENCY)
		       ? 1
		       : c->params->latency[timing_of(c, in)];
}

/* Cycles until the unit of the instruction can start the next. */
static uint32_t busy_of(const struct core *c, const struct insn *in)
{
	return is_ideal(c, IDEAL_ARITHMETIC) ? 1 : c->params->busy[timing_of(c, in)];
}

/* The cycle at which the instruction may issue: its sources are ready, and ordering lets it. */
static uint64_t ready_at(struct core *c, const struct insn *in, uint64_t dispatched)
{
	const struct params *p = c->params;
	bool is_ordered = !is_ideal(c, IDEAL_ORDERING);
	uint64_t at = sources_ready(c, in);

	if (is_memory(in)) {
		at = later(at, dispatched + p->issue_memory_cycles);
		return is_ordered ? later(at, order_at(c, in)) : at;
	}
	at = later(at, dispatched + p->issue_cycles);
	if (in->class == CLASS_ISB) /* it waits for all before it */
		at = later(at, c->last_retire);
	return is_ordered && in->flags & INSN_BARRIER ? later(at, c->memory_done) : at;
}

/* The cycle at which the instruction issues, on a free unit. */
static uint64_t issue(struct core *c, const struct insn *in, uint64_t dispatched)
{
	const struct params *p = c->params;
	uint64_t ready = ready_at(c, in, dispatched), at = ready;

	if (!is_ideal(c, IDEAL_UNITS) && c->now.times > 0) {
		at = units_take(&c->units, in, busy_of(c, in), ready);
		for (uint32_t i = 1; i < c->now.times; i++)
			units_take(&c->units, in, busy_of(c, in), ready);
	}
	c->now.queued = at;
	if (in->kind ==
	    INSN_STORE) /* leaves the queue when its address is ready, before its data */
		c->now.queued = later(address_ready(c, in), dispatched + p->issue_memory_cycles);
	return at;
}

void core_begin(struct core *c, const struct insn *in)
{
	struct execution *now = &c->now;

	now->insn = in;
	set_ideal(c, in->pc);
	now->times = times_of(c);
	now->dispatch = dispatch(c, in);
	now->issue = issue(c, in, now->dispatch);
	now->done = now->finish = now->issue + latency_of(c, in);
	now->line_ready = 0;
	now->xlat_cycles = 0;
	now->events = EVENT(SPE_EV_RETIRED);
	now->source = SOURCE_L1;
	now->has_access = false;
	now->is_sampled = sampler_tick(&c->sampler) && sampler_begin(&c->sampler, now->dispatch);
}

/* Predicts the branch, and delays fetch if the prediction is wrong. */
static void end_branch(struct core *c, const struct insn *in, uint64_t next_pc)
{
	static const enum count kinds[] = {
		[BRANCH_DIRECT] = COUNT_BR_IMMED_SPEC,
		[BRANCH_CONDITIONAL] = COUNT_BR_IMMED_SPEC,
		[BRANCH_INDIRECT] = COUNT_BR_INDIRECT_SPEC,
		[BRANCH_RETURN] = COUNT_BR_RETURN_SPEC,
	};
	const struct params *p = c->params;
	struct execution *now = &c->now;
	bool is_taken = next_pc != in->pc + 4;
	enum prediction prediction = predictor_branch(&c->predictor, in, next_pc);

	if (is_ideal(c, IDEAL_BRANCHES))
		prediction = PREDICTED;

	add_count(c, kinds[in->branch]);
	add_count(c, is_taken ? COUNT_BR_TAKEN : COUNT_BR_NOT_TAKEN);
	if (!is_taken && in->branch == BRANCH_CONDITIONAL)
		now->events |= EVENT(SPE_EV_NOT_TAKEN);
	if (prediction == RESTEERED)
		c->fetch_ready = later(c->fetch_ready, now->dispatch + p->resteer_cycles);
	if (prediction != MISPREDICTED)
		return;
	now->events |= EVENT(SPE_EV_MISPREDICTED);
	add_count(c, COUNT_BR_MIS_PRED_RETIRED);
	c->fetch_ready = later(c->fetch_ready, now->done + p->mispredict_cycles);
}

static void end_memory(struct core *c, const struct insn *in, uint64_t retired)
{
	struct execution *now = &c->now;

	ring_add(c->memory_issue, &c->next_memory, c->params->memory_queue, now->queued,
		 now->times);
	c->memory_done = later(c->memory_done, later(now->done, now->line_ready));
	if (in->flags & INSN_ACQUIRE)
		c->memory_floor = later(c->memory_floor, now->done);
	if (in->kind == INSN_STORE) {
		c->last_drained = later(c->last_drained, later(retired, now->line_ready));
		ring_add(c->drained, &c->next_drained, c->params->store_buffer, c->last_drained,
			 now->times);
	}
	if (in->flags & INSN_RELEASE)
		c->release_done = in->kind == INSN_STORE ? c->last_drained : now->done;
}

static void count_instruction(struct core *c, const struct insn *in)
{
	static const enum count classes[N_INSN_CLASSES] = {
		[CLASS_INTEGER] = COUNT_DP_SPEC,    [CLASS_LOAD] = COUNT_LD_SPEC,
		[CLASS_STORE] = COUNT_ST_SPEC,	    [CLASS_VECTOR] = COUNT_ASE_SPEC,
		[CLASS_FLOAT] = COUNT_VFP_SPEC,	    [CLASS_CRYPTO] = COUNT_CRYPTO_SPEC,
		[CLASS_BRANCH] = COUNT_BR_PRED,	    [CLASS_DMB] = COUNT_DMB_SPEC,
		[CLASS_DSB] = COUNT_DSB_SPEC,	    [CLASS_ISB] = COUNT_ISB_SPEC,
		[CLASS_SYSTEM] = COUNT_SYSTEM_SPEC,
	};

	add_count(c, COUNT_INST_RETIRED);
	add_count(c, classes[in->class]);
}

void core_end(struct core *c, uint64_t next_pc)
{
	struct execution *now = &c->now;
	const struct insn *in = now->insn;
	const struct params *p = c->params;

	now->insn = NULL;
	if (in->early_result != REG_LOST)
		c->ready[in->early_result] =
			later(address_ready(c, in), now->dispatch + p->issue_cycles) +
			(now->times > 0 ? p->latency[TIMING_ALU] : 0);
	for (size_t i = 0; i < COUNT(in->results); i++)
		c->ready[in->results[i]] = now->done;
	c->ready[REG_LOST] = 0;
	now->advance = now->done > c->last_retire ? now->done - c->last_retire : 0;
	c->last_retire += now->advance;
	if (c->tally != NULL)
		c->tally->cycles.items[c->tally_block] += now->advance;
	ring_add(c->retire, &c->next_retire, p->window, c->last_retire, now->times);
	count_instruction(c, in);
	if (in->kind == INSN_BRANCH)
		end_branch(c, in, next_pc);
	else if (is_memory(in))
		end_memory(c, in, c->last_retire);
	if (in->flags & INSN_BARRIER)
		c->memory_floor = later(c->memory_floor, now->done);
	if (in->flags & INSN_FLUSH)
		c->fetch_ready = later(c->fetch_ready, now->done + p->mispredict_cycles);
	if (now->is_sampled)
		core_report(c, in, next_pc);
	if (c->observer != NULL)
		core_observe(c, in, next_pc);
}

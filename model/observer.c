/* SPDX-License-Identifier: Apache-2.0 */
#include "model/observer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/random.h"

/* Nothing has to be attributed to instructions before a counter of cycles overflows. */
static bool counts_cycles_only(const struct pmu_sampling *sampling, const struct params *params)
{
	for (size_t i = 0; i < sampling->events.n; i++)
		if (sampling->events.items[i].event->parts[0] != COUNT_CPU_CYCLES)
			return false;
	return sampling->branches.depth == 0 && params->interrupt_cycles == 0;
}

struct observer *observer_new(struct truth *truth, const struct pmu_sampling *sampling,
			      const struct params *params, uint64_t seed)
{
	struct observer *o = mem_zalloc(1, sizeof(*o));

	o->truth = truth;
	o->has_samples = sampling->events.n > 0;
	o->has_cycles_only =
		truth == NULL && o->has_samples && counts_cycles_only(sampling, params);
	call_stack_init(&o->calls);
	pmu_sampler_init(&o->pmu, sampling, params, seed);
	branch_stack_init(&o->branches, &sampling->branches, params, seed);
	o->random = seed;
	o->next_interrupt = params->interrupt_cycles > 0 ? params->interrupt_cycles : UINT64_MAX;
	return o;
}

void observer_free(struct observer *o)
{
	if (o != NULL) {
		pmu_sampler_release(&o->pmu);
		call_stack_release(&o->calls);
	}
	free(o);
}

void observer_switch(struct observer *o, void *context, bool is_other_thread)
{
	o->context = context;
	call_stack_switch(&o->calls, context);
	if (!is_other_thread)
		return;
	o->first = o->n;
	branch_stack_forget(&o->branches);
}

/* With has_cycles_only: counts the cycles since the last call, which belong to the last instruction. */
static void count_cycles(struct observer *o)
{
	const struct pmu_count count = {
		.n = o->cycle - o->counted_at,
		.number = o->n - 1,
		.cycle = o->counted_at,
		.is_time = true,
	};

	for (uint32_t i = 0; i < o->pmu.sampling->events.n; i++)
		pmu_sampler_count(&o->pmu, i, &count);
	o->counted_at = o->cycle;
}

void observer_idle(struct observer *o, uint64_t cycle)
{
	if (o->has_cycles_only && o->n > 0)
		count_cycles(o);
	o->cycle = o->counted_at = cycle;
	if (o->has_samples)
		pmu_sampler_idle(&o->pmu, cycle);
}

static struct past_insn *insn_at(struct observer *o, uint64_t number)
{
	return &o->past[number % PAST_INSNS];
}

/* Takes the sample of an interrupt at instruction `number`, which has retired. */
static void take_sample(struct observer *o, const struct pmu_interrupt *i, uint64_t number)
{
	const struct sample_event *event = &o->pmu.sampling->events.items[i->event];
	struct branch_entry branches[BRANCH_STACK_MOST];
	uint64_t chain[CALL_CHAIN_MOST + 1];
	const struct past_insn *in = insn_at(o, number);
	/* A precise sample is taken behind the instruction, others before it. */
	uint64_t order = event->is_precise ? branch_order_behind(number) : branch_order(number);
	const struct pmu_sample sample = {
		.event = i->event,
		.is_precise = event->is_precise,
		.pc = in->pc,
		.value = i->value,
		.enabled = o->cycle,
		.running = pmu_sampler_running(&o->pmu, i->event, o->cycle),
		.branches = branches,
		.n_branches = branch_stack_read(&o->branches, order, branches),
		.chain = chain,
		.n_chain = o->pmu.sampling->has_chains
				   ? call_stack_read(&o->calls, in->call, in->pc, chain)
				   : 0,
	};

	o->on_sample(o->context, &sample);
}

/* The first instruction that retires after a cycle; if none does, the last one. */
static uint64_t next_to_leave(struct observer *o, uint64_t cycle)
{
	uint64_t last = o->n - 1;
	uint64_t low = last - o->first < PAST_INSNS ? o->first : last - PAST_INSNS + 1;
	uint64_t high = last;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (insn_at(o, middle)->end > cycle)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The instruction that an interrupt samples. False: it has not retired yet. */
static bool find_sampled(struct observer *o, const struct pmu_interrupt *i, uint64_t *out)
{
	*out = i->number;
	if (i->number == UINT64_MAX) {
		uint64_t waited_for = next_to_leave(o, i->cycle - 1);

		*out = waited_for + 1;
	}
	return *out < o->n;
}

/* Takes the samples of all interrupts whose instruction has retired. */
static void take_samples(struct observer *o)
{
	size_t n = o->pmu.interrupts.n, kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct pmu_interrupt interrupt = o->pmu.interrupts.items[i];
		uint64_t number;

		if (find_sampled(o, &interrupt, &number))
			take_sample(o, &interrupt, number);
		else
			o->pmu.interrupts.items[kept++] = interrupt;
	}
	o->pmu.interrupts.n = kept;
}

/* Counts `n` stalled cycles from `cycle` on, which belong to the instruction `number`. */
static void count_stall(struct observer *o, enum count stall, uint64_t n, uint64_t number,
			uint64_t cycle)
{
	const struct pmu_count count = {
		.n = n, .number = number, .cycle = cycle, .is_time = true
	};

	if (o->truth != NULL)
		truth_counts(o->truth, insn_at(o, number)->index)->n[stall] += n;
	for (uint32_t i = 0; i < o->pmu.sampling->events.n; i++)
		if (o->pmu.sampling->events.items[i].event->parts[0] == stall)
			pmu_sampler_count(&o->pmu, i, &count);
}

/* Attributes the stalled cycles that end at `end`: those of the front end come first. */
static void count_stalls(struct observer *o, const struct counts *counts, uint64_t end)
{
	uint64_t *seen = o->seen.n;
	uint64_t n_backend = counts->n[COUNT_STALL_BACKEND] - seen[COUNT_STALL_BACKEND];
	uint64_t n_frontend = counts->n[COUNT_STALL_FRONTEND] - seen[COUNT_STALL_FRONTEND];
	uint64_t backend_at = end - n_backend, at = backend_at - n_frontend;

	while (at < end) {
		enum count stall = at < backend_at ? COUNT_STALL_FRONTEND : COUNT_STALL_BACKEND;
		uint64_t owner = next_to_leave(o, at), until = at < backend_at ? backend_at : end;

		if (owner < o->n - 1 && insn_at(o, owner)->end < until)
			until = insn_at(o, owner)->end;
		count_stall(o, stall, until - at, owner, at);
		at = until;
	}
	seen[COUNT_STALL_FRONTEND] += n_frontend;
	seen[COUNT_STALL_BACKEND] += n_backend;
}

/* Adds the counts since the last call to the truth of the last instruction. */
static void add_new_counts(struct observer *o, const struct counts *counts)
{
	if (o->truth != NULL)
		counts_add_new(truth_counts(o->truth, insn_at(o, o->n - 1)->index), counts,
			       &o->seen);
	else
		o->seen = *counts;
}

/* Attributes all other counts to the last instruction. Its cycles begin at `cycle`. */
static void count_events(struct observer *o, const struct counts *counts, uint64_t cycle)
{
	for (uint32_t i = 0; i < o->pmu.sampling->events.n; i++) {
		const struct modelled_event *event = o->pmu.sampling->events.items[i].event;
		bool is_time = event->parts[0] == COUNT_CPU_CYCLES;
		const struct pmu_count count = {
			.n = modelled_event_sum(event, counts) -
			     modelled_event_sum(event, &o->seen),
			.number = o->n - 1,
			.cycle = is_time ? cycle : o->cycle,
			.is_time = is_time,
		};

		pmu_sampler_count(&o->pmu, i, &count);
	}
	add_new_counts(o, counts);
}

static void see_branch(struct observer *o, const struct observation *seen)
{
	const struct insn *in = seen->insn;
	const struct branch_execution branch = {
		.insn = in,
		.number = o->n - 1,
		.to = insn_target(in, seen->next_pc),
		.cycle = seen->end,
		.is_taken = seen->next_pc != in->pc + 4,
		.is_mispredicted = seen->is_mispredicted,
	};

	if (o->truth != NULL && branch.is_taken)
		truth_edge(o->truth, in->pc, branch.to, branch.is_mispredicted);
	if (o->pmu.sampling->has_chains)
		call_stack_see(&o->calls, in, seen->next_pc);
	if (o->pmu.sampling->branches.depth > 0)
		branch_stack_see(&o->branches, &branch);
}

/* The interrupts of the machine, for the branch stacks. They take no time. */
static void interrupt(struct observer *o, uint64_t next_pc)
{
	uint64_t mean = o->pmu.params->interrupt_cycles;

	if (o->n == 1)
		o->entry_pc = insn_at(o, 0)->pc;
	if (o->cycle < o->next_interrupt)
		return;
	branch_stack_interrupt(&o->branches, o->n - 1, next_pc, o->entry_pc);
	o->next_interrupt = o->cycle + mean / 2 + random_next(&o->random) % mean + 1;
}

/* observer_see() for counters of cycles alone: counts when one may overflow. */
static void see_cycles(struct observer *o, const struct observation *seen)
{
	if (o->pmu.interrupts.n > 0)
		take_samples(o);
	o->cycle = seen->end;
	if (seen->end - o->counted_at < pmu_sampler_least_left(&o->pmu))
		return;
	count_cycles(o);
	if (o->pmu.interrupts.n > 0)
		take_samples(o);
}

void observer_see(struct observer *o, const struct observation *seen)
{
	const struct insn *in = seen->insn;
	uint64_t began = o->cycle;

	*insn_at(o, o->n++) = (struct past_insn){
		.pc = in->pc, .end = seen->end, .index = seen->index, .call = o->calls.at
	};
	if (in->kind == INSN_BRANCH)
		see_branch(o, seen);
	if (o->has_cycles_only) {
		see_cycles(o, seen);
		return;
	}
	if (o->pmu.interrupts.n > 0)
		take_samples(o);
	o->cycle = seen->end;
	count_stalls(o, seen->counts, seen->dispatch);
	count_events(o, seen->counts, began);
	if (!o->has_samples)
		return;
	if (o->pmu.interrupts.n > 0)
		take_samples(o);
	pmu_sampler_rotate(&o->pmu, o->cycle);
	interrupt(o, seen->next_pc);
}

void observer_end(struct observer *o, const struct counts *counts)
{
	if (o->n > 0)
		add_new_counts(o, counts);
}

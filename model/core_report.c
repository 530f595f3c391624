/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the SPE record of a sampled instruction. */
#include "model/core.h"

#include "batch/batch.h"
#include "model/observer.h"
#include "spe/packet.h"

/* Latency counters saturate at latency_max. */
static uint16_t counter(const struct core *c, uint64_t cycles)
{
	return (uint16_t)(cycles < c->params->latency_max ? cycles : c->params->latency_max);
}

static void add_access(const struct core *c, const struct insn *in, struct spe_record *r)
{
	const struct execution *now = &c->now;

	r->has |= HAS_VA | HAS_PA | HAS_XLAT;
	r->va = now->va;
	r->pa = now->pa;
	r->xlat = counter(c, now->xlat_cycles);
	if (in->kind == INSN_STORE)
		return;
	r->has |= HAS_SOURCE;
	r->source = now->source;
}

/* Adds the execution to the truth; returns the index of the instruction there. */
static uint32_t note(struct core *c, const struct insn *in, uint64_t next_pc)
{
	const struct execution *now = &c->now;
	uint64_t before = c->last_retire - now->advance;
	const struct truth_execution execution = {
		.events = now->events,
		.total = now->finish - now->dispatch,
		.issue = now->issue - now->dispatch,
		.xlat = now->xlat_cycles,
		.cycles = now->advance,
		.empty = now->dispatch > before ? now->dispatch - before : 0,
		.flushes =
			now->events & (uint64_t)1 << SPE_EV_MISPREDICTED || in->flags & INSN_FLUSH,
		.cpu = c->cpu,
		.has_source = now->has_access && in->kind != INSN_STORE,
		.source = now->source,
	};

	if (in->flags & INSN_CALL)
		truth_call(c->truth, in->pc, next_pc);
	return truth_instruction(c->truth, in, &execution);
}

void core_observe(struct core *c, const struct insn *in, uint64_t next_pc)
{
	const struct execution *now = &c->now;
	struct observation seen = {
		.insn = in,
		.next_pc = next_pc,
		.dispatch = now->dispatch,
		.end = c->last_retire,
		.is_mispredicted = now->events & (uint64_t)1 << SPE_EV_MISPREDICTED,
		.counts = c->counts,
	};

	core_count_cycles(c);
	if (c->truth != NULL)
		seen.index = note(c, in, next_pc);
	observer_see(c->observer, &seen);
}

void core_report(struct core *c, const struct insn *in, uint64_t next_pc)
{
	const struct execution *now = &c->now;
	struct spe_record r = {
		.has = HAS_PC | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL,
		.pc = in->pc,
		.op_class = in->op_class,
		.op = in->op,
		.events = now->events,
		.issue = counter(c, now->issue - now->dispatch),
		.total = counter(c, now->finish - now->dispatch),
	};

	if (now->has_access)
		add_access(c, in, &r);
	if (in->kind == INSN_BRANCH) {
		r.has |= HAS_TARGET;
		r.target = next_pc;
	}
	if (sampler_end(&c->sampler, &r, now->finish))
		c->on_record(c->record_context, &r, now->dispatch);
}

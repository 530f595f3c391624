/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes the counts of a CPU to instructions, for the truth and for samples of the PMU. Events
 * belong to the instruction that causes them. Cycles, also those without dispatch, belong to the
 * instruction that retires next.
 */
#ifndef CYCLOPS_MODEL_OBSERVER_H
#define CYCLOPS_MODEL_OBSERVER_H

#include "model/branch_stack.h"
#include "model/call_stack.h"
#include "model/counts.h"
#include "model/params.h"
#include "model/pmu_sampler.h"
#include "model/truth.h"

/* More than the largest window. */
enum { PAST_INSNS = 1024 };

/* A retired instruction. */
struct past_insn {
	uint64_t pc;
	uint64_t end;	/* cycle */
	uint32_t index; /* in the truth */
	uint32_t call;	/* the innermost of struct call_stack when it began */
};

/* A sample of the PMU, without thread and time. */
struct pmu_sample {
	uint32_t event;
	bool is_precise;
	uint64_t pc;
	uint64_t value, enabled, running; /* of the counter at the overflow; times in cycles, now */
	const struct branch_entry *branches;
	size_t n_branches;
	const uint64_t *chain; /* call chain */
	size_t n_chain;	       /* words; 0: not asked for */
};

typedef void pmu_on_sample(void *context, const struct pmu_sample *);

struct observer {
	struct truth *truth;  /* borrowed; NULL: not asked for */
	bool has_samples;     /* are events of the PMU sampled? */
	bool has_cycles_only; /* … of which all count cycles, and nothing else is asked for */
	uint64_t counted_at;  /* with has_cycles_only: cycles up to this one have been counted */
	struct counts seen;   /* counts that have been attributed */
	uint64_t n, first;    /* instructions so far; those before `first` are another thread's */
	uint64_t cycle;	      /* when the last one retired, or the CPU was idle last */
	struct past_insn past[PAST_INSNS];
	struct pmu_sampler pmu;
	struct branch_stack branches;
	struct call_stack calls;
	uint64_t entry_pc;	 /* of the first instruction */
	uint64_t next_interrupt; /* cycle */
	uint64_t random;	 /* of interrupts */
	pmu_on_sample *on_sample;
	void *context; /* of it */
};

/* `sampling` and `params` are borrowed; without events, there are no samples. */
struct observer *observer_new(struct truth *, const struct pmu_sampling *, const struct params *,
			      uint64_t seed);
void observer_free(struct observer *);

/* A thread runs from now on; its samples go to `context`. */
void observer_switch(struct observer *, void *context, bool is_other_thread);

/* The CPU was idle until this cycle. */
void observer_idle(struct observer *, uint64_t cycle);

/* An instruction that retires. */
struct observation {
	const struct insn *insn;
	uint64_t next_pc;
	uint64_t dispatch, end; /* cycles */
	bool is_mispredicted;
	uint32_t index; /* in the truth */
	const struct counts *counts;
};

void observer_see(struct observer *, const struct observation *);

/* The end of the run: counts since the last instruction are attributed to it. */
void observer_end(struct observer *, const struct counts *);

#endif

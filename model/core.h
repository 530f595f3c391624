/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A modelled out-of-order core: takes the instructions of a thread in program order, and computes
 * the cycles at which each is dispatched, issued and finished.
 *
 * Dispatch is in order: `width` instructions a cycle, as long as they are fetched, and the window,
 * the queue of memory operations and the store buffer have room. An instruction issues when its
 * sources are ready and its execution units are free, out of order. It retires in order. There are
 * no wrong-path instructions.
 */
#ifndef CYCLOPS_MODEL_CORE_H
#define CYCLOPS_MODEL_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counts.h"
#include "model/insn.h"
#include "model/memory.h"
#include "model/predictor.h"
#include "model/prefetch.h"
#include "model/sampler.h"
#include "model/tally.h"
#include "model/tlb.h"
#include "model/truth.h"
#include "model/units.h"
#include "spe/encode.h"

enum { FORWARD_SLOTS = 128, FORWARD_SHIFT = 2 };

/* The instruction that is being executed, from core_begin() to core_end(). Times are cycles. */
struct execution {
	const struct insn *insn; /* NULL: none */
	uint64_t dispatch, issue;
	uint64_t done;	      /* its results are ready */
	uint64_t finish;      /* SPE calls it finished */
	uint64_t line_ready;  /* store: the line can be written */
	uint64_t queued;      /* when it leaves its entry of the queue of memory operations */
	uint64_t va, pa;      /* of the first access */
	uint64_t last_line;   /* of the last access: va >> LINE_SHIFT */
	uint64_t xlat_cycles; /* the longest translation */
	uint64_t advance;     /* cycles by which it retires later than all before it */
	uint64_t events;      /* bits of enum spe_event */
	uint8_t source;	      /* enum source */
	uint32_t times;	      /* so many are executed for it: 1, others with IDEAL_INSTRUCTIONS */
	bool has_access, is_sampled;
};

/* Store forwarding: a load of the same four bytes waits for the data of a recent store. */
struct forward {
	uint64_t word, ready; /* address >> FORWARD_SHIFT, cycle */
};

struct observer;

/* Called with each record, which has no thread and time yet, and the cycle of its dispatch. */
typedef void core_record(void *context, struct spe_record *, uint64_t cycle);

struct core {
	const struct params *params; /* borrowed, like the next three */
	struct memory *memory;
	struct frames *frames;
	struct counts *counts;
	unsigned cpu;
	uint32_t process; /* number of the process that runs */

	/* Cycles, except for counts and positions. */
	uint64_t ready[N_REGS];	 /* at which the value of a register is ready */
	uint64_t dispatch_cycle; /* of the last instruction */
	uint32_t dispatched;	 /* instructions in that cycle */
	uint64_t fetch_ready;	 /* before which nothing is dispatched */
	uint64_t last_retire;	 /* of the last instruction */
	uint64_t *retire;	 /* ring of `window`: at which instructions retired */
	uint64_t *memory_issue;	 /* ring of `memory_queue`: at which operations left it */
	uint64_t *drained;	 /* ring of `store_buffer`: at which stores were written */
	uint32_t next_retire, next_memory, next_drained; /* positions in the rings */
	uint64_t last_drained;
	uint64_t memory_done;  /* at which all memory accesses so far are done */
	uint64_t memory_floor; /* before which no access may issue, because of a barrier */
	uint64_t release_done; /* at which other CPUs see the last release */
	uint64_t fetch_line;   /* line of the last fetched instructions: va >> LINE_SHIFT */

	struct forward forward[FORWARD_SLOTS];
	struct units units;

	struct execution now;
	struct tlbs tlbs;
	struct predictor predictor;
	struct prefetcher prefetcher;
	struct sampler sampler;
	core_record *on_record;
	void *record_context;
	uint32_t thread_id;	   /* of the thread that runs */
	const struct ideal *ideal; /* borrowed; NULL: the machine as it is */
	uint32_t ideal_bits;	   /* enum ideal_bit, for the current instruction */
	uint64_t ideal_random;	   /* state of random_next(): which instructions are others */
	struct tally *tally;	   /* borrowed; NULL: cycles by block are not needed */
	uint32_t tally_block;	   /* number of the current block */
	struct truth *truth;	   /* borrowed; NULL: only what is sampled is kept */
	struct observer *observer; /* borrowed; NULL: neither truth nor samples of the PMU */
};

void core_init(struct core *, unsigned cpu, struct memory *, struct frames *, struct counts *,
	       const struct sampling *, uint64_t seed);
void core_release(struct core *);

/* The current cycle: that of the last dispatch. */
static inline uint64_t core_cycle(const struct core *c)
{
	return c->dispatch_cycle;
}

/* Updates the count of CPU_CYCLES. */
static inline void core_count_cycles(struct core *c)
{
	c->counts->n[COUNT_CPU_CYCLES] = c->last_retire - c->counts->n[COUNT_IDLE_CYCLES];
}

/* The core is idle until this cycle. */
void core_wait_until(struct core *, uint64_t cycle);

/* Switches to another thread. Its records go to `record_context`. */
void core_switch(struct core *, void *record_context, uint32_t thread_id, uint32_t process);

/* Fetches instructions at consecutive addresses. */
void core_fetch(struct core *, uint64_t first_pc, uint64_t end_pc);

/* Dispatches and issues an instruction. The one before it must have ended. */
void core_begin(struct core *, const struct insn *);

/* A memory access of `now.insn`. */
void core_access(struct core *, uint64_t va, unsigned size_bytes);

/* Retires `now.insn`; `next_pc`: the next instruction of the thread. */
void core_end(struct core *, uint64_t next_pc);

/* Shows the execution of that instruction to the observer. */
void core_observe(struct core *, const struct insn *, uint64_t next_pc);

/*
 * Part of core_end(): makes a record of the sampled `now`, and calls on_record if it passes the
 * filters.
 */
void core_report(struct core *, const struct insn *, uint64_t next_pc);

#endif

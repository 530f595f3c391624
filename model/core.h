/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A modelled CPU core: takes the instructions of a thread in the order in which they ran, and
 * says when each would have been dispatched, issued and finished.
 *
 * Dispatch is in order: `width` a cycle, as long as the window and the queue of memory
 * operations have room and the fetch delivers. An instruction issues when its sources are
 * ready and its execution units are free, whatever happens to those before it; it leaves the window
 * in order. Nothing is ever fetched from a wrong path.
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

enum { FORWARD_SLOTS = 64 };

/* The instruction that is being executed: its accesses come one by one. */
struct execution {
	const struct insn *insn; /* NULL: none */
	uint64_t dispatch, issue;
	uint64_t done;	      /* its results are there */
	uint64_t finish;      /* SPE calls it finished */
	uint64_t line_ready;  /* of stores: the line can be written */
	uint64_t *queued;     /* until when it holds a place in the queue of memory operations */
	uint64_t va, pa;      /* of the first access */
	uint64_t last_line;   /* of the last access: va >> LINE_SHIFT */
	uint64_t xlat_cycles; /* the longest translation */
	uint64_t advance;     /* by which it leaves the window later than all before it */
	uint64_t events;      /* bits of enum spe_event */
	uint8_t source;
	bool has_access, is_sampled;
};

/* A recent store: loads of the same eight bytes wait for its data. */
struct forward {
	uint64_t word, ready; /* address / 8, cycle */
};

struct observer;

/* What a record's consumer gets: the record without thread and time, and when it was taken. */
typedef void core_record(void *context, struct spe_record *, uint64_t cycle);

struct core {
	const struct params *params; /* borrowed, as the next three */
	struct memory *memory;
	struct frames *frames;
	struct counts *counts;
	unsigned cpu;
	uint32_t process; /* whose addresses these are */

	uint64_t ready[N_REGS];	 /* cycle at which a register's value is there */
	uint64_t dispatch_cycle; /* of the last instruction */
	uint32_t dispatched;	 /* in that cycle */
	uint64_t fetch_ready;	 /* nothing is dispatched before */
	uint64_t last_retire;	 /* cycle */
	uint64_t *retire;	 /* ring of `window`: when instructions left it */
	uint64_t *memory_issue;	 /* ring of `memory_queue` */
	uint64_t *drained;	 /* ring of `store_buffer`: when stores were written */
	uint32_t next_retire, next_memory, next_drained; /* positions in the rings */
	uint64_t last_drained;
	uint64_t memory_done;  /* all memory accesses so far are done */
	uint64_t memory_floor; /* none may issue before: a barrier */
	uint64_t release_done; /* others see what was released */
	uint64_t fetch_line;   /* the line instructions come from */

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
	uint32_t ideal_bits;	   /* of it, for the instruction at hand */
	struct tally *tally;	   /* borrowed; NULL: nobody asks where cycles go */
	uint32_t tally_block;	   /* that cycles are counted for */
	struct truth *truth;	   /* borrowed; NULL: only what is sampled is kept */
	struct observer *observer; /* borrowed; NULL: neither truth nor samples of the PMU */
};

void core_init(struct core *, unsigned cpu, struct memory *, struct frames *, struct counts *,
	       const struct sampling *, uint64_t seed);
void core_release(struct core *);

/* The cycle the core has come to. */
static inline uint64_t core_cycle(const struct core *c)
{
	return c->dispatch_cycle;
}

/* Brings the count of cycles up to date. */
static inline void core_count_cycles(struct core *c)
{
	c->counts->n[COUNT_CPU_CYCLES] = c->last_retire - c->counts->n[COUNT_IDLE_CYCLES];
}

/* Nothing runs until this cycle: the core was idle. */
void core_wait_until(struct core *, uint64_t cycle);

/* Another thread goes on here: its records go to `record_context`. */
void core_switch(struct core *, void *record_context, uint32_t thread_id, uint32_t process);

/* A run of instructions at consecutive addresses is fetched. */
void core_fetch(struct core *, uint64_t first_pc, uint64_t end_pc);

/* Executes an instruction up to where it accesses memory. core_end() must have been called. */
void core_begin(struct core *, const struct insn *);

/* One access of `now.insn`. */
void core_access(struct core *, uint64_t va, unsigned size_bytes);

/* Completes `now.insn`; `next_pc` is where the thread goes on. */
void core_end(struct core *, uint64_t next_pc);

/* Shows the execution of that instruction to the observer. */
void core_observe(struct core *, const struct insn *, uint64_t next_pc);

/* Hands `now`, of that instruction, to on_record if the filters let it pass. What core_end() does with a sample. */
void core_report(struct core *, const struct insn *, uint64_t next_pc);

#endif

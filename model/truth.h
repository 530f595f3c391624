/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The truth: everything that happened, not only what was sampled. Analyses of the capture are
 * checked against it. Memory grows with the number of distinct instructions and lines.
 */
#ifndef CYCLOPS_MODEL_TRUTH_H
#define CYCLOPS_MODEL_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "model/counts.h"
#include "model/insn.h"
#include "model/memory.h"

enum { TRUTH_EVENTS = 16 }; /* event bits that the model can set, and more */

/* All executions of an instruction. */
struct truth_insn {
	uint64_t n;
	uint64_t events[TRUTH_EVENTS]; /* executions with this SPE event */
	uint64_t sources[N_SOURCES];   /* loads with this data source */
	uint64_t total, issue, xlat;   /* sums of latencies, in cycles, not saturated */
	uint64_t cycles;	       /* by which they retired later than all before them */
	uint64_t commit_millicycles;   /* of the commit stage, see struct commit_stage */
	struct counts counts;	       /* of the PMU, that it raised */
	uint8_t op_class, op;
};

/* A branch from one address to another, each time it was taken. */
struct truth_edge {
	uint64_t n, mispredicted;
};

/* All loads with one data source. */
struct truth_source {
	uint64_t n;
	uint64_t total, issue, xlat;
};

/* One execution, as SPE would record it. */
struct truth_execution {
	uint64_t events;
	uint64_t total, issue, xlat, cycles;
	uint64_t empty; /* part of `cycles` in which the window was empty */
	bool flushes;	/* the pipeline is flushed behind it */
	bool has_source;
	uint8_t source;
	unsigned cpu;
};

/*
 * The commit stage of a CPU, with its cycles attributed as in TIP (Gottschall and others, MICRO
 * 2021). A cycle that waits for an instruction is attributed to it. A cycle that commits
 * instructions is divided equally among them. A cycle with an empty window is attributed to the
 * instruction that flushed it, or else to the next instruction.
 */
struct commit_stage {
	VEC_OF(uint32_t) taken; /* committed in the current cycle: indexes of instructions */
	bool has_cycle;		/* the current cycle is not attributed yet */
	uint32_t flusher;	/* index + 1 of the last instruction if it flushed; else 0 */
};

/* A memory access. */
struct truth_access {
	unsigned cpu;
	uint32_t tid;
	uint64_t pc, va;
	bool is_store;
	uint64_t peers; /* access.peers */
};

/* An SPE record that was kept, with what SPE does not say of it: who called its function. */
struct truth_record {
	uint64_t pc, time_ns;
	uint64_t events;
	uint32_t tid;
	uint32_t chain; /* of struct truth: the innermost call; 0: none */
	uint16_t total; /* cycles, as recorded */
};

struct truth {
	struct tuples pcs; /* pc → index into insns */
	VEC_OF(struct truth_insn) insns;
	struct commit_stage commit[MAX_CPUS];
	struct truth_source sources[N_SOURCES];
	struct tuples blocks; /* (first pc, end) → index into block_counts */
	VEC_OF(uint64_t) block_counts;
	struct tuples calls; /* (pc of the call, pc called) → index into call_counts */
	VEC_OF(uint64_t) call_counts;
	struct tuples edges; /* (pc of the branch, its target) → index into edge_counts */
	VEC_OF(struct truth_edge) edge_counts;
	struct tuples last;		      /* (line, CPU) → index into accesses */
	VEC_OF(struct truth_access) accesses; /* the last access of that CPU to the line */
	struct tuples transfers; /* (line, giver's access, taker's access) → transfer_counts */
	VEC_OF(uint64_t) transfer_counts;
	struct tuples chains; /* calls: (caller's number + 1, or 0; return address) */
	VEC_OF(struct truth_record) records;
};

struct truth *truth_new(void);
void truth_free(struct truth *);

/* Adds an execution. Returns the index of the instruction. */
uint32_t truth_instruction(struct truth *, const struct insn *, const struct truth_execution *);

/* What the PMU counted for the instruction of that index, to be added to. */
static inline struct counts *truth_counts(struct truth *t, uint32_t index)
{
	return &t->insns.items[index].counts;
}

void truth_block(struct truth *, uint64_t first_pc, uint64_t end_pc);
void truth_call(struct truth *, uint64_t from_pc, uint64_t to_pc);
void truth_edge(struct truth *, uint64_t from_pc, uint64_t to_pc, bool is_mispredicted);
void truth_access(struct truth *, const struct truth_access *);

/*
 * Adds a record. `returns` are the return addresses of the calls that are under way, innermost first;
 * record->chain is ignored.
 */
void truth_record(struct truth *, const struct truth_record *, const uint64_t *returns, size_t n);

/* To be called after the last instruction. */
void truth_end(struct truth *);

/* Appends everything as members of a json object, without the braces around them. */
void truth_json(const struct truth *, struct text *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that happened, not only what was sampled: what analyses of a capture are checked
 * against. Memory grows with the instructions that ran and the lines that were used.
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
	uint64_t events[TRUTH_EVENTS]; /* executions that had this SPE event */
	uint64_t sources[N_SOURCES];   /* loads from there */
	uint64_t total, issue, xlat;   /* cycles in all, not saturated */
	uint64_t cycles;	       /* by which they moved the end of all so far */
	uint64_t commit_millicycles; /* for which the commit stage waited for them, or took them */
	struct counts counts;	     /* of the PMU, that it raised */
	uint8_t op_class, op;
};

/* A branch from one address to another, each time it was taken. */
struct truth_edge {
	uint64_t n, mispredicted;
};

/* All loads that got their data from one source. */
struct truth_source {
	uint64_t n;
	uint64_t total, issue, xlat;
};

/* One execution, as SPE would record it. */
struct truth_execution {
	uint64_t events;
	uint64_t total, issue, xlat, cycles;
	uint64_t empty; /* of `cycles`: the window was empty before it */
	bool flushes;	/* it makes the fetch begin again behind it */
	bool has_source;
	uint8_t source;
	unsigned cpu;
};

/*
 * The commit stage of a CPU, as in TIP (Gottschall and others, MICRO 2021): a cycle belongs to the
 * instruction that it waits for; the cycle in which it takes instructions, to all that it takes,
 * in equal parts; a cycle with an empty window to the instruction that flushed it, or else to the
 * first that comes after.
 */
struct commit_stage {
	VEC_OF(uint32_t) taken; /* in the cycle that is not yet over: indexes of instructions */
	bool has_cycle;		/* that cycle has not been given to any */
	uint32_t flusher;	/* index + 1 of the instruction before, if it flushed; else 0 */
};

/* An access, to a line that other CPUs may have. */
struct truth_access {
	unsigned cpu;
	uint32_t tid;
	uint64_t pc, va;
	bool is_store;
	uint64_t peers; /* of struct access */
};

struct truth {
	struct tuples pcs; /* pc → index of … */
	VEC_OF(struct truth_insn) insns;
	struct commit_stage commit[MAX_CPUS];
	struct truth_source sources[N_SOURCES];
	struct tuples blocks; /* (first pc, end) → index of … */
	VEC_OF(uint64_t) block_counts;
	struct tuples calls; /* (pc of the call, pc called) → … */
	VEC_OF(uint64_t) call_counts;
	struct tuples edges; /* (pc of the branch, pc it went to) → … */
	VEC_OF(struct truth_edge) edge_counts;
	struct tuples last;		      /* (line, CPU) → index of … */
	VEC_OF(struct truth_access) accesses; /* the last one */
	struct tuples transfers;	      /* (line, giver's …, taker's …) → … */
	VEC_OF(uint64_t) transfer_counts;
};

struct truth *truth_new(void);
void truth_free(struct truth *);

/* Its index among the instructions is returned. */
uint32_t truth_instruction(struct truth *, const struct insn *, const struct truth_execution *);

/* What the PMU counted for the instruction of that index. */
void truth_counts(struct truth *, uint32_t index, const struct counts *);

void truth_block(struct truth *, uint64_t first_pc, uint64_t end_pc);
void truth_call(struct truth *, uint64_t from_pc, uint64_t to_pc);
void truth_edge(struct truth *, uint64_t from_pc, uint64_t to_pc, bool is_mispredicted);
void truth_access(struct truth *, const struct truth_access *);

/* Nothing more happens. */
void truth_end(struct truth *);

/* Appends it all as the members of a json object, without the braces around. */
void truth_json(const struct truth *, struct text *);

#endif

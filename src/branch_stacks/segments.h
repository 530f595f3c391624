/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments that the code can have run, and those that it cannot: what hardware recorded wrongly, and
 * what an interrupt or a signal put between two branches. Only the former count as executions.
 */
#ifndef CYCLOPS_BRANCH_STACKS_SEGMENTS_H
#define CYCLOPS_BRANCH_STACKS_SEGMENTS_H

#include "branch_stacks/code.h"
#include "branch_stacks/counts.h"

/* Why a segment is none. The first that applies. */
enum segment_fault {
	SEGMENT_GOOD,
	SEGMENT_UNRESOLVED,	 /* an end of it is in no module */
	SEGMENT_OTHER_MODE,	 /* begins in user code and ends in the kernel, or the reverse */
	SEGMENT_TWO_MODULES,	 /* its ends are in different ones */
	SEGMENT_BACKWARD,	 /* ends before it begins */
	SEGMENT_TOO_LONG,	 /* over 64 KiB */
	SEGMENT_NO_CODE,	 /* the module's code is not here: nothing can be checked */
	SEGMENT_OFF_INSTRUCTION, /* begins or ends inside of an instruction */
	SEGMENT_OVER_JUMP,	 /* passes a jump, a return or a stop */
	SEGMENT_OVER_CALL,	 /* passes a call, which is a branch and would be recorded */
	SEGMENT_LEAVES,		 /* leaves its function, not by running into the next one */
	SEGMENT_NO_BRANCH, /* ends at an instruction that is no branch, without an exception */
	N_SEGMENT_FAULTS,
};

/* What a fault is, for people, and as a name of a column. */
const char *segment_fault_text(enum segment_fault);
const char *segment_fault_id(enum segment_fault);

/* Does the fault say that the code cannot have run so? Others say nothing of the hardware. */
bool segment_fault_is_impossible(enum segment_fault);

struct segment {
	struct module_id module; /* of the start */
	uint64_t start, end;	 /* offsets of the first and the last instruction */
	uint32_t number;	 /* in the counts */
	uint32_t flags;		 /* enum segment_flag */
	enum segment_fault fault;
	uint32_t n_instructions;	   /* in it; 0: not known */
	uint32_t by_class[N_CODE_CLASSES]; /* of them */
};

/* What segments come to, by fault. */
struct segment_faults {
	uint64_t n[N_SEGMENT_FAULTS], weight[N_SEGMENT_FAULTS];
	uint64_t positions[N_SEGMENT_FAULTS][STACK_POSITIONS];
};

void segment_faults_add(struct segment_faults *, enum segment_fault, uint64_t n, uint64_t weight,
			const uint64_t positions[STACK_POSITIONS]);

/* What the places alone show; SEGMENT_GOOD: nothing. */
enum segment_fault segment_place_fault(struct place start, struct place end, uint32_t flags);

/* The duration of a segment, in cycles: the time between the two branches. */
struct stack_duration {
	uint64_t n;		/* that were recorded */
	uint64_t p50, p90, p99; /* 0 if none was */
};

/* A good segment, with what was counted of it. */
struct good_segment {
	struct segment segment;
	uint64_t n, weight;
	struct stack_duration duration; /* of sorted ones; of others segment_duration() says it */
};

struct segments {
	const struct stack_counts *counts; /* borrowed */
	VEC_OF(struct segment) list;	   /* by module, start, end, flags */

	/* Of sorted ones, else NULL or empty: sums of all, good ones in the same order, and the test of these. */
	struct segment_faults *sums;
	struct spool good;
	struct stack_window *window;
};

/* Checks all segments that were counted. Resolves their places. */
void segments_init(struct segments *, struct session *, struct code_functions *,
		   const struct stack_counts *);

/*
 * The same of sorted segments (stack_counts_sort()): none is listed, and good ones go to a file. -1: it cannot be written.
 * `each`: what a unit of their weight stands for.
 */
int segments_init_sorted(struct segments *, struct session *, struct code_functions *,
			 struct stack_counts *, const struct sorter *sorted, double each,
			 struct err *);

/* The next good segment from *at on, which begins with 0, by module, start, end and flags; false behind the last. */
bool segments_next_good(const struct segments *, uint64_t *at, struct good_segment *out);

/* Where that is to begin for those that start at an offset of a module or behind it. */
uint64_t segments_good_from(const struct segments *, struct module_id, uint64_t offset);
void segments_release(struct segments *);

const struct segment_sum *segment_sum(const struct segments *, const struct segment *);

#endif

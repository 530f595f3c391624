/* SPDX-License-Identifier: Apache-2.0 */
/* How often each instruction of a function ran, and where it went from there. */
#ifndef CYCLOPS_BRANCH_STACKS_EXECUTIONS_H
#define CYCLOPS_BRANCH_STACKS_EXECUTIONS_H

#include "branch_stacks/stacks.h"

/* Segments, or branches, and their weight: see branch_stacks_executions(). */
struct execution {
	uint64_t n, weight;
};

/* Branches from one instruction to one place. */
struct executed_branch {
	size_t from; /* instruction; n if it is outside of the function */
	size_t to;   /* the same */
	struct place from_place, to_place;
	enum branch_type type;
	struct taken_sum sum;
};

struct executions {
	size_t n;		   /* instructions */
	struct execution *runs;	   /* of each */
	struct execution *goes_on; /* from each to the one behind it, without a branch */
	/* branches from the function or into it; by source, then by target */
	VEC_OF(struct executed_branch) branches;
};

/*
 * Of the function [from, to), whose instructions begin at these offsets of the module, ascending.
 */
void executions_init(struct executions *, const struct branch_stacks *, struct module_id,
		     uint64_t to, const uint64_t *offsets, size_t n);

/* The same without the branches, for callers that have all branches in order. */
void executions_init_runs(struct executions *, const struct branch_stacks *, struct module_id,
			  uint64_t to, const uint64_t *offsets, size_t n);
void executions_release(struct executions *);

/* The first branch from instruction `from` or from one behind it, in `branches`. */
size_t executions_first_from(const struct executions *, size_t from);

/* The duration of a segment, in cycles: the time between the two branches. */
struct stack_duration {
	uint64_t n;		/* that were recorded */
	uint64_t p50, p90, p99; /* 0 if none was */
};

struct stack_duration segment_duration(const struct branch_stacks *, const struct segment *);

#endif

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
	const struct branch_stacks *stacks; /* borrowed */
	struct module_id module;
	uint64_t *offsets;	   /* where its instructions begin */
	size_t n;		   /* instructions */
	struct execution *runs;	   /* of each */
	struct execution *goes_on; /* from each to the one behind it, without a branch */
};

/*
 * Of the function [from, to), whose instructions begin at these offsets of the module, ascending. Borrows the stacks.
 */
void executions_init(struct executions *, const struct branch_stacks *, struct module_id,
		     uint64_t to, const uint64_t *offsets, size_t n);
void executions_release(struct executions *);

/*
 * The next branch from the function or into it, from *at on, which begins with 0; false behind the last. In no order:
 * there may be more of them than memory holds.
 */
bool executions_next_branch(const struct executions *, uint64_t *at, struct executed_branch *out);

/* By source, then by target: the order of executed branches, for qsort(). */
int executed_compare(const void *left, const void *right);

/* Of segments_next_good(). */
struct stack_duration segment_duration(const struct branch_stacks *, const struct good_segment *);

#endif

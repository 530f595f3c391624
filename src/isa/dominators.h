/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions of a function every way to another one passes, and which branches make loops. */
#ifndef CYCLOPS_ISA_DOMINATORS_H
#define CYCLOPS_ISA_DOMINATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/flow.h"

/* Where an instruction of the function goes: instructions are numbered from 0. */
struct isa_step {
	enum flow_kind kind;
	uint32_t target; /* of a branch in the function; the number of instructions: none */
};

struct isa_dominators {
	uint32_t *rank;	     /* by instruction: in reverse postorder from 1; 0: no known path
				leads to it, as to code behind a jump table */
	uint32_t *dominator; /* by instruction: its immediate dominator */
};

/* Of `n` instructions; the function begins with the first. */
void isa_dominators_init(struct isa_dominators *, const struct isa_step *, size_t n);
void isa_dominators_release(struct isa_dominators *);

/* Does `by` dominate `to`: does every known path from the first instruction to `to` pass `by`? */
bool isa_dominates(const struct isa_dominators *, size_t by, size_t to);

/*
 * Does a branch at `branch` to `head` close a loop? A backward branch does if its target dominates
 * it. Others are rare paths that the compiler moved to the end of the function, and that jump back.
 * Code that is reached by a jump table only has no known predecessors: there every backward branch
 * counts.
 */
bool isa_is_loop(const struct isa_dominators *, size_t head, size_t branch);

#endif

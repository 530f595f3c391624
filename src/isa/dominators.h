/* SPDX-License-Identifier: Apache-2.0 */
/* Dominators in the control flow graph of a function, and which branches close loops. */
#ifndef CYCLOPS_ISA_DOMINATORS_H
#define CYCLOPS_ISA_DOMINATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/flow.h"

/* The successors of an instruction. Instructions are numbered from 0. */
struct isa_step {
	enum flow_kind kind;
	/* number of the branch target; the number of instructions if it is outside */
	uint32_t target;
};

struct isa_dominators {
	const struct isa_step *steps; /* borrowed */
	uint32_t *rank;	     /* by instruction: in reverse postorder from 1; 0: no known path
				leads to it, as to code behind a jump table */
	uint32_t *dominator; /* by instruction: its immediate dominator */
};

/* For `n` instructions; number 0 is the entry. */
void isa_dominators_init(struct isa_dominators *, const struct isa_step *, size_t n);
void isa_dominators_release(struct isa_dominators *);

/* Does every known path from the entry to `to` go through `by`? No if there is none to either. */
bool isa_dominates(const struct isa_dominators *, size_t by, size_t to);

/*
 * Does a branch at `branch` to `head` close a loop? A backward branch does if its target dominates
 * it, or if what follows the target in a straight line does: such a loop is entered behind its first
 * instructions. Others are rare paths that the compiler moved to the end of the function, and that jump back.
 * Code that is reached by a jump table only has no known predecessors: there every backward branch
 * counts.
 */
bool isa_is_loop(const struct isa_dominators *, size_t head, size_t branch);

#endif

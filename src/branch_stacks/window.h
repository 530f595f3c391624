/* SPDX-License-Identifier: Apache-2.0 */
/* Is the window of branches before a sample like any other? See stacks.h. */
#ifndef CYCLOPS_BRANCH_STACKS_WINDOW_H
#define CYCLOPS_BRANCH_STACKS_WINDOW_H

#include "branch_stacks/counts.h"
#include "process/module.h"

struct branch_stacks;
struct stack_window;

/* The branches at the ends of good segments, with how often each was at a position. */
struct stack_window *stack_window_new(void);
void stack_window_free(struct stack_window *);
void stack_window_add(struct stack_window *, struct place branch,
		      const uint64_t positions[STACK_POSITIONS]);

/* Compares shares of the commonest branches between positions; fills `bias`. */
void stack_window_test(struct branch_stacks *);

#endif

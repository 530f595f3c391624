/* SPDX-License-Identifier: Apache-2.0 */
/* Is the window of branches before a sample like any other? See stacks.h. */
#ifndef CYCLOPS_BRANCH_STACKS_WINDOW_H
#define CYCLOPS_BRANCH_STACKS_WINDOW_H

struct branch_stacks;

/* Compares shares of the commonest branches between positions; fills `bias`. */
void stack_window_test(struct branch_stacks *);

#endif

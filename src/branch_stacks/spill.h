/* SPDX-License-Identifier: Apache-2.0 */
/* Segments and branches that have no room in memory (limit_bytes): written to a file, read back in order. */
#ifndef CYCLOPS_BRANCH_STACKS_SPILL_H
#define CYCLOPS_BRANCH_STACKS_SPILL_H

#include "branch_stacks/counts.h"

/* Sends all segments and branches to the file, and begins anew. */
void stack_counts_spill(struct stack_counts *);

/* At the end of a worker (struct analysis_class): one that has a file has everything in it. */
void stack_counts_finish(void *stack_counts);

#endif

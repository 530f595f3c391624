/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last taken branches of a CPU, as BRBE or LBR record them. More are kept than a sample gets,
 * because the sampled instruction may be older than the last one.
 */
#ifndef CYCLOPS_MODEL_BRANCH_STACK_H
#define CYCLOPS_MODEL_BRANCH_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "model/insn.h"

enum { BRANCH_STACK_MOST = 64, BRANCHES_KEPT = 1024 };

/* Which branches are recorded: as the options of perf record -j. */
enum branch_filter { BRANCHES_ANY, BRANCHES_RETURN, BRANCHES_CALL, N_BRANCH_FILTERS };

struct branch_recording {
	uint32_t depth;	 /* entries that a sample has at most; 0: branches are not recorded */
	uint32_t filter; /* enum branch_filter */
};

struct taken_branch {
	uint64_t number; /* of the instruction */
	struct branch_entry entry;
};

struct branch_stack {
	const struct branch_recording *recording; /* borrowed */
	uint64_t n, first; /* branches so far; those before `first` are another thread's */
	uint64_t cycle;	   /* of the last */
	struct taken_branch kept[BRANCHES_KEPT];
};

void branch_stack_init(struct branch_stack *, const struct branch_recording *);

/* A branch that leaves the window at `cycle`; `number` counts instructions. */
struct branch_execution {
	const struct insn *insn;
	uint64_t number, to, cycle;
	bool is_mispredicted;
};

void branch_stack_take(struct branch_stack *, const struct branch_execution *);

/* Another thread runs: its stacks begin empty. */
void branch_stack_forget(struct branch_stack *);

/* The entries of a sample that comes before instruction `number`, the newest first. */
size_t branch_stack_read(const struct branch_stack *, uint64_t number,
			 struct branch_entry out[BRANCH_STACK_MOST]);

#endif

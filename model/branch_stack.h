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
#include "model/params.h"

enum { BRANCH_STACK_MOST = 64, BRANCHES_KEPT = 1024 };

/* Which branches are recorded: as the options of perf record -j. */
enum branch_filter { BRANCHES_ANY, BRANCHES_RETURN, BRANCHES_CALL, N_BRANCH_FILTERS };

struct branch_recording {
	uint32_t depth;	 /* entries that a sample has at most; 0: branches are not recorded */
	uint32_t filter; /* enum branch_filter */
};

struct taken_branch {
	uint64_t order; /* branch_order() of its instruction, or branch_order_behind() */
	struct branch_entry entry;
};

struct branch_stack {
	const struct branch_recording *recording; /* borrowed, as the next */
	const struct params *params;
	uint64_t random;   /* of faults */
	uint64_t n, first; /* branches so far; those before `first` are another thread's */
	uint64_t cycle;	   /* of the last */
	struct taken_branch kept[BRANCHES_KEPT];
};

/* `seed` decides where the faults are that the parameters ask for. */
void branch_stack_init(struct branch_stack *, const struct branch_recording *,
		       const struct params *, uint64_t seed);

/* The order of entries and samples: at instruction `number`, and between it and the next one. */
static inline uint64_t branch_order(uint64_t number)
{
	return 2 * number;
}

static inline uint64_t branch_order_behind(uint64_t number)
{
	return 2 * number + 1;
}

/* A branch that retires at `cycle`; instructions are numbered. */
struct branch_execution {
	const struct insn *insn;
	uint64_t number, to, cycle;
	bool is_taken, is_mispredicted;
};

void branch_stack_see(struct branch_stack *, const struct branch_execution *);

/*
 * An interrupt behind instruction `number`; the thread goes on at `pc`. `entry_pc`: of the program.
 */
void branch_stack_interrupt(struct branch_stack *, uint64_t number, uint64_t pc, uint64_t entry_pc);

/* Another thread runs: its stacks begin empty. */
void branch_stack_forget(struct branch_stack *);

/* The entries before `order`, the newest first. */
size_t branch_stack_read(struct branch_stack *, uint64_t order,
			 struct branch_entry out[BRANCH_STACK_MOST]);

#endif

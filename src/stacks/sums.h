/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of hot/sums/sums.h by call stack, in bounded memory: those of a worker that have become too many go to a
 * temporary file, and begin anew. So one stack may come several times, and its sums have to be added up.
 */
#ifndef CYCLOPS_STACKS_SUMS_H
#define CYCLOPS_STACKS_SUMS_H

#include "hot/sums/sums.h"

struct stack_sums_options {
	struct hot_options hot;
	size_t limit_bytes; /* for the sums and frames of one worker */
};

struct stack_sums {
	const struct stack_sums_options *options;
	struct hot *hot; /* what is in no file */

	struct hot_chains chains; /* the others */
	struct tuples sources;	  /* words of DIM_SOURCE of these */
};

/* Options: struct stack_sums_options. Result: struct stack_sums. */
extern const struct analysis_class stack_sums_class;

/* Makes everything readable for stack_sums_next(). -1 and an error if a file cannot be written. */
int stack_sums_finish(struct stack_sums *, struct err *);

/* Where stack_sums_next() is: zeroed, at the start. */
struct stack_sums_position {
	struct spool_position chains;
	uint32_t group;
};

/* The next group, in any order; false behind the last. The group is zeroed before the first call, and has to be released. */
bool stack_sums_next(const struct stack_sums *, struct stack_sums_position *,
		     struct chained_group *);

#endif

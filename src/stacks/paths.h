/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks as paths of functions, each with its weight: places of one function are one. They are ordered as a
 * tree is walked, parents before children, children by name, and sorted in bounded memory (base/sorter.h).
 *
 *	if (stack_paths_init(&paths, &stacks, &(struct stack_paths_wish){ .event = event, .value = value }, &err) < 0)
 *		return -1;
 *	for (uint64_t at = 0; stack_paths_next(&paths, &at, &path);)
 *		… path.weight, stack_path_label(&paths, &path, 0) …	(the root's child first)
 *	stack_paths_release(&paths);
 */
#ifndef CYCLOPS_STACKS_PATHS_H
#define CYCLOPS_STACKS_PATHS_H

#include "base/tuples.h"
#include "base/vec.h"
#include "stacks/stacks.h"

struct stack_paths_wish {
	uint64_t event;		/* of its stacks only */
	enum stack_value value; /* what they are weighed by; stacks without it are left out */
	bool is_inverted;	/* the functions that were sampled come first, then their callers */
	bool by_process; /* processes before the outermost functions (behind them, if it is inverted) */
	bool by_thread; /* … and their threads, if stacks are by thread */
};

enum stack_label_kind {
	STACK_LABEL_ROOT,
	STACK_LABEL_PROCESS,
	STACK_LABEL_THREAD,
	STACK_LABEL_FUNCTION
};

/* What stands on paths: all places of one function have the same. */
struct stack_label {
	enum stack_label_kind kind;
	const char *name;	 /* of process, thread or function; "all" of the root */
	struct module_id module; /* function: its module */
	uint32_t function;	 /* … its number in symbols_strings(); 0: no name */
	bool is_inlined, is_kernel;
	int32_t id; /* pid, tid; -1: not known */
};

struct stack_paths {
	const struct stacks *stacks;
	struct stack_paths_wish wish;
	VEC_OF(struct stack_label) labels; /* the first is the root's, which is on no path */
	struct tuples label_numbers;
	uint32_t *by_rank; /* labels, ordered by name */
	uint64_t total;	   /* of all weights */
	uint32_t depth;	   /* labels of the longest path */
	struct sorter sorted;
};

struct stack_path {
	const uint8_t *ranks; /* stack_path_label() reads them */
	uint32_t n;	      /* labels */
	uint64_t weight;
};

/* The stacks are borrowed. -1 and an error if a temporary file cannot be written; then nothing is to be released. */
int stack_paths_init(struct stack_paths *, const struct stacks *, const struct stack_paths_wish *,
		     struct err *);
void stack_paths_release(struct stack_paths *);

/* The next path from *at on, which begins with 0; false behind the last. As long as the paths are. */
bool stack_paths_next(const struct stack_paths *, uint64_t *at, struct stack_path *out);

/* The number in `labels` of what stands at `i`. */
uint32_t stack_path_label(const struct stack_paths *, const struct stack_path *, uint32_t i);

/* How many labels two paths begin with alike. */
uint32_t stack_paths_common(const struct stack_path *, const struct stack_path *);

#endif

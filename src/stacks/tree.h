/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks as a tree of functions: a flame graph, or, inverted, who called the functions that were
 * sampled. Places of one function are one node. Children are ordered by name, so the tree is the same in each run.
 *
 *	stack_tree_init(&tree, &stacks, &(struct stack_tree_wish){ .event = event, .value = value });
 *	for (uint32_t node = 0; node != STACK_TREE_END; node = stack_tree_next(&tree, node))
 *		… tree.nodes.items[node], stack_tree_label(&tree, node)	(parents first)
 *	stack_tree_release(&tree);
 */
#ifndef CYCLOPS_STACKS_TREE_H
#define CYCLOPS_STACKS_TREE_H

#include "base/tuples.h"
#include "base/vec.h"
#include "stacks/stacks.h"

struct stack_tree_wish {
	uint64_t event;		/* of its stacks only */
	enum stack_value value; /* what nodes are weighed by */
	bool is_inverted; /* roots are the functions that were sampled, children their callers */
	bool by_process; /* processes above the outermost functions (below them, if it is inverted) */
	bool by_thread; /* … and their threads, if stacks are by thread */
};

enum stack_label_kind {
	STACK_LABEL_ROOT,
	STACK_LABEL_PROCESS,
	STACK_LABEL_THREAD,
	STACK_LABEL_FUNCTION
};

/* What nodes stand for: all nodes of one function have the same. */
struct stack_label {
	enum stack_label_kind kind;
	const char *name;	 /* of process, thread or function; "all" of the root */
	struct module_id module; /* function: its module */
	uint32_t function;	 /* … its number in symbols_strings(); 0: no name */
	bool is_inlined, is_kernel;
	int32_t id; /* pid, tid; -1: not known */
};

/* A node; 0 is the root, with all there is. Numbers of children are higher than their parent's. */
struct stack_node {
	uint32_t parent;
	uint32_t label;
	uint32_t depth;		    /* of the root: 0 */
	uint32_t first_child, next; /* 0: none */
	uint64_t self, total;	    /* total: with all below it */
};

struct stack_tree {
	const struct stacks *stacks;
	struct stack_tree_wish wish;
	VEC_OF(struct stack_node) nodes;
	VEC_OF(struct stack_label) labels;
	uint32_t depth; /* of the deepest node */

	struct tuples label_numbers, node_numbers;
};

#define STACK_TREE_END UINT32_MAX

/* The stacks are borrowed. */
void stack_tree_init(struct stack_tree *, const struct stacks *, const struct stack_tree_wish *);
void stack_tree_release(struct stack_tree *);

/* The node behind this one, parents before their children; STACK_TREE_END behind the last. */
uint32_t stack_tree_next(const struct stack_tree *, uint32_t node);

/* The same without what is below the node. */
uint32_t stack_tree_skip(const struct stack_tree *, uint32_t node);

static inline const struct stack_label *stack_tree_label(const struct stack_tree *t, uint32_t node)
{
	return &t->labels.items[t->nodes.items[node].label];
}

#endif

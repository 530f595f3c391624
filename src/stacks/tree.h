/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks as a tree of functions: a flame graph, or, inverted, who called the functions that were
 * sampled. Places of one function are one node. Children are ordered by name, so the tree is the same in each run.
 *
 *	stack_tree_init(&tree, &paths, 0);
 *	for (uint32_t node = 0; node != STACK_TREE_END; node = stack_tree_next(&tree, node))
 *		… tree.nodes.items[node], stack_tree_label(&tree, node)	(parents first)
 *	stack_tree_release(&tree);
 */
#ifndef CYCLOPS_STACKS_TREE_H
#define CYCLOPS_STACKS_TREE_H

#include "base/vec.h"
#include "stacks/paths.h"

/* A node; 0 is the root, with all there is. Nodes stand in the order in which a tree is walked, parents first. */
struct stack_node {
	uint32_t parent;
	uint32_t label;
	uint32_t depth;	      /* of the root: 0 */
	uint32_t n_lighter;   /* children that are left out */
	uint64_t self, total; /* total: with all below it */
};

struct stack_tree {
	const struct stack_paths *paths;
	VEC_OF(struct stack_node) nodes;
	uint32_t depth;	    /* of the deepest node */
	uint64_t n_lighter; /* nodes that are left out, but whose parents are not */
};

#define STACK_TREE_END UINT32_MAX

/*
 * Nodes whose total is less than `least` are left out; they are part of the totals of their parents. Memory grows with
 * the others. The paths are borrowed.
 */
void stack_tree_init(struct stack_tree *, const struct stack_paths *, uint64_t least);
void stack_tree_release(struct stack_tree *);

/* The node behind this one, parents before their children; STACK_TREE_END behind the last. */
uint32_t stack_tree_next(const struct stack_tree *, uint32_t node);

static inline const struct stack_label *stack_tree_label(const struct stack_tree *t, uint32_t node)
{
	return &t->paths->labels.items[t->nodes.items[node].label];
}

#endif

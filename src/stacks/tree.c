/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/tree.h"

#include "base/alloc.h"

/* Ends the innermost node of the path: what is in it is its parent's, too. */
static uint32_t close_node(struct stack_tree *t, uint32_t node, uint64_t least)
{
	struct stack_node *n = &t->nodes.items[node];
	uint32_t parent = n->parent;

	n->total += n->self;
	if (node > 0)
		t->nodes.items[parent].total += n->total;
	if (node > 0 && n->total < least) { /* so is all below it, which was left out before */
		t->nodes.items[parent].n_lighter++;
		t->nodes.n = node;
		return parent;
	}
	t->depth = n->depth > t->depth ? n->depth : t->depth;
	t->n_lighter += n->n_lighter;
	return parent;
}

static uint32_t open_node(struct stack_tree *t, uint32_t parent, uint32_t label)
{
	uint32_t depth = t->nodes.items[parent].depth + 1;

	*vec_add(&t->nodes) =
		(struct stack_node){ .parent = parent, .label = label, .depth = depth };
	return (uint32_t)t->nodes.n - 1;
}

void stack_tree_init(struct stack_tree *t, const struct stack_paths *paths, uint64_t least)
{
	struct stack_path path, last = { 0 };
	uint32_t node = 0;

	*t = (struct stack_tree){ .paths = paths };
	vec_add(&t->nodes);
	for (uint64_t at = 0; stack_paths_next(paths, &at, &path); last = path) {
		uint32_t common = stack_paths_common(&last, &path);

		while (t->nodes.items[node].depth > common)
			node = close_node(t, node, least);
		for (uint32_t i = common; i < path.n; i++)
			node = open_node(t, node, stack_path_label(paths, &path, i));
		t->nodes.items[node].self += path.weight;
	}
	while (node != 0)
		node = close_node(t, node, least);
	close_node(t, 0, least);
}

void stack_tree_release(struct stack_tree *t)
{
	vec_release(&t->nodes);
	*t = (struct stack_tree){ 0 };
}

uint32_t stack_tree_next(const struct stack_tree *t, uint32_t node)
{
	return node + 1 < t->nodes.n ? node + 1 : STACK_TREE_END;
}

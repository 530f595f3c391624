/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"

enum { LABEL_WORDS = 4, NODE_WORDS = 2 };

static uint32_t label_of(struct stack_tree *t, const struct stack_label *label, uint64_t id)
{
	const uint64_t words[LABEL_WORDS] = { label->kind, id, label->module.v, label->is_inlined };
	uint32_t number = tuples_add(&t->label_numbers, words);

	if (number == t->labels.n)
		*vec_add(&t->labels) = *label;
	return number;
}

static uint32_t label_of_frame(struct stack_tree *t, const struct stack_frame *f)
{
	const struct stack_label label = {
		.kind = STACK_LABEL_FUNCTION,
		.name = f->function,
		.module = f->module,
		.function = f->function_id.v,
		.is_inlined = f->is_inlined,
		.is_kernel = f->is_kernel,
		.id = -1,
	};

	return label_of(t, &label, f->function_id.v);
}

static uint32_t label_of_process(struct stack_tree *t, const struct stack *stack)
{
	const struct process *p = timeline_process(t->stacks->session->timeline, stack->process);
	const struct stack_label label = {
		.kind = STACK_LABEL_PROCESS,
		.name = stacks_process_name(t->stacks, stack->process),
		.id = stack->process == 0 ? -1 : (int32_t)p->pid,
	};

	return label_of(t, &label, stack->process);
}

static uint32_t label_of_thread(struct stack_tree *t, const struct stack *stack)
{
	const struct stack_label label = {
		.kind = STACK_LABEL_THREAD,
		.name = stacks_thread_name(t->stacks, stack->tid),
		.id = stack->tid == DIM_ABSENT ? -1 : (int32_t)stack->tid,
	};

	return label_of(t, &label, stack->tid);
}

static uint32_t child_of(struct stack_tree *t, uint32_t parent, uint32_t label)
{
	const uint64_t words[NODE_WORDS] = { (uint64_t)parent + 1, label };
	uint32_t node = tuples_add(&t->node_numbers, words), depth;

	if (node < t->nodes.n)
		return node;
	depth = t->nodes.items[parent].depth + 1;
	*vec_add(&t->nodes) =
		(struct stack_node){ .parent = parent, .label = label, .depth = depth };
	t->depth = depth > t->depth ? depth : t->depth;
	return node;
}

/* The labels of a stack: root first or, inverted, the sampled function first. */
struct tree_path {
	VEC_OF(uint32_t) labels;
};

static void path_of_stack(struct stack_tree *t, const struct stack *stack, struct tree_path *path)
{
	struct stack_walk walk;
	struct stack_frame frame;

	path->labels.n = 0;
	for (stack_walk_init(&walk, t->stacks, stack); stack_walk_next(&walk, &frame);)
		*vec_add(&path->labels) = label_of_frame(t, &frame);
	if (t->wish.by_thread)
		*vec_add(&path->labels) = label_of_thread(t, stack);
	if (t->wish.by_process)
		*vec_add(&path->labels) = label_of_process(t, stack);
}

static void tree_add_stack(struct stack_tree *t, const struct stack *stack, struct tree_path *path)
{
	uint32_t node = 0;

	path_of_stack(t, stack, path);
	for (size_t i = 0; i < path->labels.n; i++)
		node = child_of(
			t, node,
			path->labels.items[t->wish.is_inverted ? i : path->labels.n - 1 - i]);
	t->nodes.items[node].self += stack->values[t->wish.value];
}

static int compare_labels(const void *left, const void *right, void *context)
{
	const struct stack_tree *t = context;
	const struct stack_label *a = &t->labels.items[*(const uint32_t *)left];
	const struct stack_label *b = &t->labels.items[*(const uint32_t *)right];
	int order = strcmp(a->name, b->name);

	if (order != 0)
		return order;
	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	if (a->module.v != b->module.v)
		return (a->module.v > b->module.v) - (a->module.v < b->module.v);
	if (a->is_inlined != b->is_inlined)
		return a->is_inlined ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Links each node's children by name, and adds them up. */
static void tree_finish(struct stack_tree *t)
{
	uint32_t n = (uint32_t)t->nodes.n, n_labels = (uint32_t)t->labels.n;
	struct stack_node *nodes = t->nodes.items;
	uint32_t *sorted = mem_alloc(n_labels + 1, sizeof(*sorted));
	uint32_t *ranks = mem_alloc(n_labels + 1, sizeof(*ranks)), *order;
	struct radix_pair *keys = mem_alloc(n + 1, sizeof(*keys));

	for (uint32_t i = 0; i < n_labels; i++)
		sorted[i] = i;
	if (n_labels > 1)
		qsort_r(sorted, n_labels, sizeof(*sorted), compare_labels, t);
	for (uint32_t i = 0; i < n_labels; i++)
		ranks[sorted[i]] = i;
	for (uint32_t i = 0; i < n; i++)
		keys[i] = (struct radix_pair){ nodes[i].parent, ranks[nodes[i].label] };
	order = radix_order(keys, n);
	for (uint32_t i = n; i-- > 0;) {
		struct stack_node *node = &nodes[order[i]];

		if (order[i] == 0)
			continue;
		node->next = nodes[node->parent].first_child;
		nodes[node->parent].first_child = order[i];
	}
	for (uint32_t i = n; i-- > 0;) {
		nodes[i].total += nodes[i].self;
		if (i > 0)
			nodes[nodes[i].parent].total += nodes[i].total;
	}
	free(sorted);
	free(ranks);
	free(keys);
	free(order);
}

void stack_tree_init(struct stack_tree *t, const struct stacks *stacks,
		     const struct stack_tree_wish *wish)
{
	const struct stack_label root = { .kind = STACK_LABEL_ROOT, .name = "all", .id = -1 };
	const uint64_t root_words[NODE_WORDS] = { 0, 0 };
	struct tree_path path = { 0 };
	struct stack stack;

	*t = (struct stack_tree){ .stacks = stacks, .wish = *wish };
	tuples_init(&t->label_numbers, LABEL_WORDS);
	tuples_init(&t->node_numbers, NODE_WORDS);
	label_of(t, &root, 0);
	tuples_add(&t->node_numbers, root_words);
	vec_add(&t->nodes);
	for (size_t at = 0; stacks_next(stacks, &at, &stack);)
		if (stack.event == wish->event && stack.values[wish->value] > 0)
			tree_add_stack(t, &stack, &path);
	tree_finish(t);
	vec_release(&path.labels);
}

void stack_tree_release(struct stack_tree *t)
{
	tuples_release(&t->label_numbers);
	tuples_release(&t->node_numbers);
	vec_release(&t->nodes);
	vec_release(&t->labels);
}

uint32_t stack_tree_skip(const struct stack_tree *t, uint32_t node)
{
	while (node != 0) {
		if (t->nodes.items[node].next != 0)
			return t->nodes.items[node].next;
		node = t->nodes.items[node].parent;
	}
	return STACK_TREE_END;
}

uint32_t stack_tree_next(const struct stack_tree *t, uint32_t node)
{
	if (t->nodes.items[node].first_child != 0)
		return t->nodes.items[node].first_child;
	return stack_tree_skip(t, node);
}

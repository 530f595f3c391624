/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains as trees: who called a hot function, and what the program calls from its start on. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "hot/rows.h"
#include "hot/sums/group.h"

enum { MAX_CALLER_DEPTH = 8 }; /* levels shown */

/* The parent of node 0. */
#define ROOT UINT32_MAX

/* Callers below this share of their row are not shown. */
static const double least_caller_share = 0.05;

/* Of all of the event, as `perf report -g` has it: callees below it are shown with --all only. */
static const double least_callee_share = 0.005;

/* A node of the tree. Its children are a linked list of node numbers; node 0 is the root. */
struct caller {
	struct hot_cost cost;	    /* with its children */
	struct hot_cost self;	    /* of a call tree: without them */
	uint32_t first_child, next; /* 0: none */
	uint32_t row;		    /* of the table */
};

/* The callers of one row as a tree: nodes are tuples of (parent, words of the caller). */
struct callers {
	const struct hot_grouping *g;
	struct tuples nodes; /* node 0 is the row itself */
	VEC_OF(struct caller) list;
};

static uint32_t caller_node(struct callers *c, uint32_t parent, const uint64_t *words)
{
	uint64_t tuple[1 + HOT_GROUP_WORDS];
	uint32_t node;

	tuple[0] = parent;
	memcpy(tuple + 1, words, c->g->n_words * sizeof(*words));
	node = tuples_add(&c->nodes, tuple);
	if (node < c->list.n)
		return node;
	vec_add(&c->list);
	if (parent != ROOT) {
		c->list.items[node].next = c->list.items[parent].first_child;
		c->list.items[parent].first_child = node;
	}
	return node;
}

/* Adds the callers of one stack that ends in the row; recursion into itself is one level. */
static void add_stack(struct callers *c, const uint64_t *raw, const struct hot_cost *cost)
{
	const struct tuples *frames = &c->g->hot->session->frames;
	uint64_t previous[HOT_GROUP_WORDS], words[HOT_GROUP_WORDS];
	size_t bytes = c->g->n_words * sizeof(*words);
	uint64_t frame = raw[DIM_FRAME];
	uint32_t node = 0;
	size_t depth = 0;

	hot_words(c->g, raw, previous);
	for (; frame != 0 && depth < MAX_CALLER_DEPTH;
	     frame = tuples_get(frames, (uint32_t)frame)[0]) {
		hot_caller_words(c->g, raw, tuples_get(frames, (uint32_t)frame)[1], words);
		if (memcmp(words, previous, bytes) == 0)
			continue;
		node = caller_node(c, node, words);
		hot_cost_add(&c->list.items[node].cost, cost);
		memcpy(previous, words, bytes);
		depth++;
	}
}

static uint64_t caller_weight(const struct callers *c, uint32_t node)
{
	return hot_weight(c->g, tuples_get(&c->nodes, node)[1], &c->list.items[node].cost);
}

static int compare_callers(const void *left, const void *right, void *context)
{
	const struct callers *c = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t wa = caller_weight(c, a), wb = caller_weight(c, b);
	uint64_t ea = tuples_get(&c->nodes, a)[1], eb = tuples_get(&c->nodes, b)[1];

	if (ea != eb)
		return (ea > eb) - (ea < eb);
	if (wa != wb)
		return (wa < wb) - (wa > wb);
	return hot_words_compare(c->g, tuples_get(&c->nodes, a) + 1, tuples_get(&c->nodes, b) + 1);
}

/* From the outermost caller to the function that was sampled; recursion into itself is one level. */
static void add_chain(struct callers *c, const uint64_t *raw, const struct hot_cost *cost)
{
	const struct tuples *frames = &c->g->hot->session->frames;
	VEC_OF(uint32_t) levels = { 0 }; /* frames, innermost first */
	uint64_t words[HOT_GROUP_WORDS], previous[HOT_GROUP_WORDS];
	size_t bytes = c->g->n_words * sizeof(*words);
	uint32_t node = 0;

	for (uint64_t frame = raw[DIM_FRAME]; frame != 0;
	     frame = tuples_get(frames, (uint32_t)frame)[0])
		*vec_add(&levels) = (uint32_t)frame;
	for (size_t i = levels.n + 1; i-- > 0;) {
		if (i > 0)
			hot_caller_words(c->g, raw, tuples_get(frames, levels.items[i - 1])[1],
					 words);
		else
			hot_words(c->g, raw, words);
		if (node == 0 || memcmp(words, previous, bytes) != 0) {
			node = caller_node(c, node, words);
			hot_cost_add(&c->list.items[node].cost, cost);
		}
		memcpy(previous, words, bytes);
	}
	hot_cost_add(&c->list.items[node].self, cost);
	vec_release(&levels);
}

/* The least weight of a node that is shown. */
static uint64_t least_of(const struct callers *c, uint32_t node)
{
	uint64_t all = c->g->weights[tuples_get(&c->nodes, node)[1]];

	return c->g->view->top == 0 ? 1 : (uint64_t)((double)all * least_callee_share) + 1;
}

static void show_callees(struct callers *c, uint32_t node, uint32_t parent_row, struct table *t)
{
	VEC_OF(uint32_t) children = { 0 };

	for (uint32_t i = c->list.items[node].first_child; i != 0; i = c->list.items[i].next)
		if (caller_weight(c, i) >= least_of(c, i))
			*vec_add(&children) = i;
	if (children.n > 1)
		qsort_r(children.items, children.n, sizeof(*children.items), compare_callers, c);
	for (size_t i = 0; i < children.n; i++) {
		const struct caller *each = &c->list.items[children.items[i]];
		const uint64_t *words = tuples_get(&c->nodes, children.items[i]) + 1;
		struct cell *row = parent_row == ROW_NO_PARENT ? table_add_row(t)
							       : table_add_child(t, parent_row);
		uint32_t number = (uint32_t)table_n_rows(t) - 1;

		hot_show_keys(c->g, words + 1, t, row);
		hot_show_sums(c->g, words[0], &each->self, t, row);
		hot_show_total(c->g, words[0], caller_weight(c, children.items[i]), t, row);
		show_callees(c, children.items[i], number, t);
	}
	vec_release(&children);
}

void hot_show_call_tree(const struct hot_grouping *g, struct table *t)
{
	const uint64_t root[HOT_GROUP_WORDS] = { 0 };
	struct callers c = { .g = g };

	tuples_init(&c.nodes, 1 + g->n_words);
	caller_node(&c, ROOT, root);
	for (size_t number = 0; number < g->groups.n; number++) {
		for (uint32_t i = g->first_raw[number]; i < g->first_raw[number + 1]; i++) {
			uint64_t raw[N_DIMENSIONS];

			hot_key(g->hot, g->raws[i], raw);
			if (hot_cost(g->hot, g->raws[i])->n > 0)
				add_chain(&c, raw, hot_cost(g->hot, g->raws[i]));
		}
	}
	show_callees(&c, 0, ROW_NO_PARENT, t);
	tuples_release(&c.nodes);
	vec_release(&c.list);
}

static void show_caller(struct callers *c, uint32_t node, uint32_t parent, struct table *t)
{
	const uint64_t *words = tuples_get(&c->nodes, node) + 1;
	struct cell *row = table_add_child(t, c->list.items[parent].row);

	c->list.items[node].row = (uint32_t)table_n_rows(t) - 1;
	hot_show_keys(c->g, words + 1, t, row);
	hot_show_sums(c->g, words[0], &c->list.items[node].cost, t, row);
}

/* Appends the callers of `node` below its row, heaviest first, each with its own callers. */
static void show_tree(struct callers *c, uint32_t node, uint64_t least, struct table *t)
{
	VEC_OF(uint32_t) children = { 0 };

	for (uint32_t i = c->list.items[node].first_child; i != 0; i = c->list.items[i].next)
		if (caller_weight(c, i) >= least)
			*vec_add(&children) = i;
	if (children.n > 1)
		qsort_r(children.items, children.n, sizeof(*children.items), compare_callers, c);
	for (size_t i = 0; i < children.n; i++) {
		show_caller(c, children.items[i], node, t);
		show_tree(c, children.items[i], least, t);
	}
	vec_release(&children);
}

void hot_show_callers(const struct hot_grouping *g, uint32_t number, struct table *t)
{
	const uint64_t *words = tuples_get(&g->keys, number);
	uint64_t weight = hot_weight(g, words[0], &g->groups.items[number].cost);
	struct callers c = { .g = g };

	tuples_init(&c.nodes, 1 + g->n_words);
	caller_node(&c, ROOT, words);
	c.list.items[0].row = (uint32_t)table_n_rows(t) - 1;
	for (uint32_t i = g->first_raw[number]; i < g->first_raw[number + 1]; i++) {
		uint64_t raw[N_DIMENSIONS];

		hot_key(g->hot, g->raws[i], raw);
		add_stack(&c, raw, hot_cost(g->hot, g->raws[i]));
	}
	show_tree(&c, 0, (uint64_t)((double)weight * least_caller_share) + 1, t);
	tuples_release(&c.nodes);
	vec_release(&c.list);
}

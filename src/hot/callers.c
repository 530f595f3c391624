/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains as trees: who called a hot function, and what the program calls from its start on. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorter.h"
#include "hot/rows.h"
#include "hot/sums/group.h"

enum { MAX_CALLER_DEPTH = 8 }; /* levels shown */

/* For paths that are being sorted; what does not fit goes to a temporary file. */
enum { PATHS_BYTES = 2 << 20, WORD_BYTES = 4 };

/* Callers below this share of their row are not shown. */
static const double least_caller_share = 0.05;

/* Of all of the event, as `perf report -g` has it: callees below it are shown with --all only. */
static const double least_callee_share = 0.005;

/* A node of the tree; node 0 is the root. Its children are a linked list of node numbers. */
struct caller {
	struct hot_cost self; /* without its children */
	struct hot_cost cost; /* with them, when all of these are known */
	uint32_t group;
	uint32_t parent, depth;
	uint32_t first_child, next; /* 0: none */
};

/*
 * A tree of paths that come in order. Nodes stand as a tree is walked, so that those that are too light are taken away again
 * when their last path is known: memory grows with what is shown.
 */
struct call_tree {
	const struct hot_grouping *g;
	VEC_OF(struct caller) nodes;
	uint64_t (*least)(const struct call_tree *,
			  uint32_t node); /* weight of a node that is shown */
	uint64_t least_of_row;
};

static uint64_t event_of(const struct call_tree *t, uint32_t node)
{
	return tuples_get(&t->g->keys, t->nodes.items[node].group)[0];
}

static uint64_t caller_weight(const struct call_tree *t, uint32_t node)
{
	return hot_weight(t->g, event_of(t, node), &t->nodes.items[node].cost);
}

static uint64_t least_of_row(const struct call_tree *t, uint32_t node)
{
	(void)node;
	return t->least_of_row;
}

static uint64_t least_of_event(const struct call_tree *t, uint32_t node)
{
	uint64_t all = t->g->weights[event_of(t, node)];

	return t->g->view->top == 0 ? 1 : (uint64_t)((double)all * least_callee_share) + 1;
}

static uint32_t open_caller(struct call_tree *t, uint32_t parent, uint32_t group)
{
	*vec_add(&t->nodes) = (struct caller){ .group = group,
					       .parent = parent,
					       .depth = t->nodes.items[parent].depth + 1 };
	return (uint32_t)t->nodes.n - 1;
}

/* Ends the innermost node of the path. Returns its parent, which has what it has, too. */
static uint32_t close_caller(struct call_tree *t, uint32_t node)
{
	struct caller *c = &t->nodes.items[node];
	uint32_t up = c->parent;
	struct caller *parent = &t->nodes.items[up];

	hot_cost_add(&c->cost, &c->self);
	hot_cost_add(&parent->cost, &c->cost);
	if (caller_weight(t, node) < t->least(t, node)) { /* so is all below it */
		t->nodes.n = node;
	} else {
		c->next = parent->first_child;
		parent->first_child = node;
	}
	return up;
}

/* How many words of a path are those from node 0 to `node`. */
static uint32_t common_words(const struct call_tree *t, uint32_t node, const uint8_t *words,
			     uint32_t n)
{
	uint32_t common = 0;

	for (; node != 0; node = t->nodes.items[node].parent) {
		uint32_t depth = t->nodes.items[node].depth;

		if (depth > n || sort_key_get_u32(words + (size_t)(depth - 1) * WORD_BYTES) !=
					 t->nodes.items[node].group)
			common = 0;
		else if (common == 0)
			common = depth;
	}
	return common;
}

/* Adds all paths from *at on that begin with these bytes. */
static void add_paths(struct call_tree *t, const struct sorter *paths, uint64_t *at,
		      const struct text *prefix)
{
	struct sorter_record r;
	uint32_t node = 0;

	vec_add(&t->nodes);
	for (uint64_t next = *at; sorter_next(paths, &next, &r); *at = next) {
		const uint8_t *value = r.value, *words = r.key + prefix->n;
		uint32_t n = (uint32_t)((r.key_size - prefix->n) / WORD_BYTES), common;
		struct hot_cost cost;

		if (prefix->n > 0 && memcmp(r.key, prefix->bytes, prefix->n) != 0)
			break;
		common = common_words(t, node, words, n);
		while (t->nodes.items[node].depth > common)
			node = close_caller(t, node);
		for (uint32_t i = common; i < n; i++)
			node = open_caller(t, node,
					   sort_key_get_u32(words + (size_t)i * WORD_BYTES));
		hot_cost_read(&value, &cost);
		hot_cost_add(&t->nodes.items[node].self, &cost);
	}
	while (node != 0)
		node = close_caller(t, node);
}

static int compare_callers(const void *left, const void *right, void *context)
{
	const struct call_tree *t = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t wa = caller_weight(t, a), wb = caller_weight(t, b);
	uint64_t ea = event_of(t, a), eb = event_of(t, b);

	if (ea != eb)
		return (ea > eb) - (ea < eb);
	if (wa != wb)
		return (wa < wb) - (wa > wb);
	return hot_words_compare(t->g, tuples_get(&t->g->keys, t->nodes.items[a].group),
				 tuples_get(&t->g->keys, t->nodes.items[b].group));
}

/* Appends what is below `node`, heaviest first, each with what is below it. */
static void show_below(struct call_tree *t, uint32_t node, uint32_t parent_row, struct table *out)
{
	VEC_OF(uint32_t) children = { 0 };

	for (uint32_t i = t->nodes.items[node].first_child; i != 0; i = t->nodes.items[i].next)
		*vec_add(&children) = i;
	if (children.n > 1)
		qsort_r(children.items, children.n, sizeof(*children.items), compare_callers, t);
	for (size_t i = 0; i < children.n; i++) {
		uint32_t child = children.items[i];
		const struct caller *each = &t->nodes.items[child];
		const uint64_t *words = tuples_get(&t->g->keys, each->group);
		struct cell *row = parent_row == ROW_NO_PARENT ? table_add_row(out)
							       : table_add_child(out, parent_row);
		uint32_t number = (uint32_t)table_n_rows(out) - 1;

		hot_show_keys(t->g, words + 1, out, row);
		if (t->g->view->with_call_tree) {
			hot_show_sums(t->g, words[0], &each->self, out, row);
			hot_show_total(t->g, words[0], caller_weight(t, child), out, row);
		} else {
			hot_show_sums(t->g, words[0], &each->cost, out, row);
		}
		show_below(t, child, number, out);
	}
	vec_release(&children);
}

/* Adds sums, and forgets the path and the text that they are put into. */
static void add_path(struct sorter *paths, struct text *path, struct text *value,
		     const struct hot_cost *cost)
{
	hot_cost_write(value, cost);
	sorter_add(paths, path, value);
	text_reset(path);
	text_reset(value);
}

/* Paths from the outermost caller to the code that was sampled; recursion into itself is one level. */
static int sort_call_paths(struct hot_grouping *g, struct sorter *paths, struct err *err)
{
	struct hot_chain_position at = { 0 };
	struct chained_group c = { 0 };
	struct text path = { 0 }, value = { 0 };

	while (hot_chain_next(g->hot, &at, &c)) {
		uint32_t last = UINT32_MAX;

		if (c.cost.n == 0)
			continue;
		for (size_t i = c.chain.n + 1; i-- > 0;) {
			uint32_t group = hot_group_at_place(
				g, c.key, i > 0 ? c.chain.items[i - 1] : c.key[DIM_PLACE]);

			if (group != last)
				sort_key_u32(&path, group);
			last = group;
		}
		add_path(paths, &path, &value, &c.cost);
	}
	chained_group_release(&c);
	text_release(&path);
	text_release(&value);
	return sorter_finish(paths, err);
}

int hot_show_call_tree(struct hot_grouping *g, struct table *out, struct err *err)
{
	struct call_tree t = { .g = g, .least = least_of_event };
	struct sorter paths;
	uint64_t at = 0;
	int rc;

	sorter_init(&paths, PATHS_BYTES);
	rc = sort_call_paths(g, &paths, err);
	if (rc == 0) {
		add_paths(&t, &paths, &at, &(struct text){ 0 });
		show_below(&t, 0, ROW_NO_PARENT, out);
	}
	sorter_release(&paths);
	vec_release(&t.nodes);
	return rc;
}

int hot_callers_init(struct hot_callers *c, struct hot_grouping *g, const uint32_t *groups,
		     size_t n, struct err *err)
{
	uint32_t *rows = mem_zalloc(g->groups.n + 1, sizeof(*rows)); /* by group; 0: not shown */
	struct hot_chain_position at = { 0 };
	struct chained_group chained = { 0 };
	struct text path = { 0 }, value = { 0 };

	*c = (struct hot_callers){ .g = g };
	sorter_init(&c->paths, PATHS_BYTES);
	for (size_t i = 0; i < n; i++)
		rows[groups[i]] = (uint32_t)i + 1;
	while (hot_chain_next(g->hot, &at, &chained)) {
		uint32_t last = hot_group_at_place(g, chained.key, chained.key[DIM_PLACE]);
		size_t depth = 0;

		if (rows[last] == 0)
			continue;
		sort_key_u32(&path, rows[last]);
		for (size_t i = 0; i < chained.chain.n && depth < MAX_CALLER_DEPTH; i++) {
			uint32_t group = hot_group_at_place(g, chained.key, chained.chain.items[i]);

			if (group == last) /* recursion into itself is one level */
				continue;
			sort_key_u32(&path, group);
			last = group;
			depth++;
		}
		add_path(&c->paths, &path, &value, &chained.cost);
	}
	chained_group_release(&chained);
	text_release(&path);
	text_release(&value);
	free(rows);
	return sorter_finish(&c->paths, err);
}

void hot_callers_release(struct hot_callers *c)
{
	sorter_release(&c->paths);
}

void hot_callers_show(struct hot_callers *c, uint32_t group, struct table *out)
{
	const struct hot_grouping *g = c->g;
	uint64_t event = tuples_get(&g->keys, group)[0];
	uint64_t weight = hot_weight(g, event, &g->groups.items[group].cost);
	struct call_tree t = {
		.g = g,
		.least = least_of_row,
		.least_of_row = (uint64_t)((double)weight * least_caller_share) + 1,
	};
	struct text row = { 0 };

	sort_key_u32(&row, ++c->row);
	add_paths(&t, &c->paths, &c->at, &row);
	show_below(&t, 0, (uint32_t)table_n_rows(out) - 1, out);
	text_release(&row);
	vec_release(&t.nodes);
}

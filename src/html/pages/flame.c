/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks as a tree of functions, a block of data for each event and each value that it can be weighed by. */
#include <stdlib.h>

#include "base/alloc.h"
#include "callers/callers.h"
#include "html/pages/pages.h"
#include "stacks/tree.h"

/* Of a tree with more nodes the lightest are left out: they would be narrower than a hair. */
enum { MOST_NODES = 20000 };

enum flame_column {
	FLAME_FUNCTION,
	FLAME_MODULE,
	FLAME_INLINED,
	FLAME_SELF,
	FLAME_TOTAL,
	N_FLAME_COLUMNS
};

static const struct column flame_columns[N_FLAME_COLUMNS] = {
	[FLAME_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_TREE,
			     "function, below its caller" },
	[FLAME_MODULE] = { "module", NULL, "", CELL_TEXT, 0, "module of the function" },
	[FLAME_INLINED] = { "inlined", NULL, "", CELL_BOOL, 0, "it is inlined into its caller" },
	[FLAME_SELF] = { "self", NULL, "", CELL_COUNT, COLUMN_TRUST, "its own part" },
	[FLAME_TOTAL] = { "total", NULL, "", CELL_COUNT, COLUMN_TRUST, "with all that it calls" },
};

/* What a flame graph is drawn by, where an event has it; the weight of `hot` comes first. */
static const enum stack_value flame_values[] = { STACK_RECORDS, STACK_L1D_MISSES, STACK_LLC_MISSES,
						 STACK_WALKS, STACK_MISPREDICTED };

static bool have_callers(const struct stacks *stacks, uint64_t event)
{
	struct stack stack;

	for (uint64_t at = 0; stacks_next(stacks, &at, &stack);)
		if (stack.event == event && stack.n_callers > 0)
			return true;
	return false;
}

static int compare_descending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a < b) - (a > b);
}

/* The least total of a node that is kept: about MOST_NODES have it. */
static uint64_t least_total(const struct stack_tree *tree)
{
	size_t n = tree->nodes.n;
	uint64_t *totals = mem_alloc(n, sizeof(*totals)), least;

	for (size_t i = 0; i < n; i++)
		totals[i] = tree->nodes.items[i].total;
	qsort(totals, n, sizeof(*totals), compare_descending);
	least = n > MOST_NODES ? totals[MOST_NODES] + 1 : 0;
	free(totals);
	return least;
}

/* A parent has at least the total of its children, so what is kept is a tree. */
static void fill_flame(const struct stack_tree *tree, struct table *t)
{
	enum cell_mark mark =
		stack_value_is_estimate(tree->paths->wish.value) ? MARK_SCALED : MARK_EXACT;
	uint64_t least = least_total(tree), left_out = 0;
	uint32_t *rows = mem_zalloc(tree->nodes.n, sizeof(*rows));

	for (uint32_t i = 0; i != STACK_TREE_END; i = stack_tree_next(tree, i)) {
		const struct stack_node *node = &tree->nodes.items[i];
		const struct stack_label *label = stack_tree_label(tree, i);
		struct cell *row;

		if (node->total < least) {
			left_out++;
			continue;
		}
		rows[i] = (uint32_t)table_n_rows(t);
		row = i == 0 ? table_add_row(t) : table_add_child(t, rows[node->parent]);
		row[FLAME_FUNCTION] = cell_text(label->name);
		if (label->kind == STACK_LABEL_FUNCTION)
			row[FLAME_MODULE] = cell_text(
				names_module(tree->paths->stacks->session, label->module));
		row[FLAME_INLINED] = cell_bool(label->is_inlined);
		row[FLAME_SELF] = cell_marked(cell_count(node->self), mark);
		row[FLAME_TOTAL] = cell_marked(cell_count(node->total), mark);
	}
	if (left_out > 0)
		table_note(t,
			   "%llu nodes are left out, each with less than %llu; they count for "
			   "their callers",
			   (unsigned long long)left_out, (unsigned long long)least);
	free(rows);
}

static int add_flame(struct html *h, const struct stacks *stacks, const char *run, uint64_t event,
		     enum stack_value value, struct err *err)
{
	const struct stack_paths_wish wish = { .event = event, .value = value };
	struct tables tables = { 0 };
	struct text label = { 0 };
	struct stack_paths paths;
	struct stack_tree tree;
	struct column *own;
	struct table t;

	if (stack_paths_init(&paths, stacks, &wish, err) < 0)
		return -1;
	stack_tree_init(&tree, &paths, 0);
	table_init(&t, "flame", NULL, flame_columns, N_FLAME_COLUMNS);
	own = table_own_columns(&t, 0);
	own[FLAME_SELF].unit = own[FLAME_TOTAL].unit = stacks_unit(stacks, event, value);
	fill_flame(&tree, &t);
	if (stacks_are_lower_bound(stacks, event, value))
		table_note(&t, "at least so much: some latencies are saturated");
	if (value == STACK_CYCLES)
		table_note(&t, "latency is no run time: operations overlap");
	if (hot_is_spe(stacks->hot, event))
		callers_note(stacks->session, &t);
	stacks_event_name(stacks, event, &label);
	text_format(&label, ": %s", stack_value_name(value));
	text_char(&label, '\0');
	*vec_add(&tables.list) = &t;
	html_add_of_run(h, "flame", run, label.bytes, &tables);
	vec_release(&tables.list);
	text_release(&label);
	table_release(&t);
	stack_tree_release(&tree);
	stack_paths_release(&paths);
	return 0;
}

int html_add_flame(struct html *h, struct session *s, const struct select *select, struct err *err)
{
	return html_add_flame_of(h, s, select, NULL, err);
}

int html_add_flame_of(struct html *h, struct session *s, const struct select *select,
		      const char *run, struct err *err)
{
	const struct stacks_wish wish = {
		.records = { .event = -1, .branches_of = -1 },
		.depth = SYMBOLS_INLINED,
	};
	struct stacks stacks;
	int rc = 0;

	if (stacks_collect(&stacks, s, select, &wish, err) < 0)
		return -1;
	for (uint64_t event = 0; event < stacks.totals_end && rc == 0; event++) {
		enum stack_value weight = stacks_weight(&stacks, event);

		if (stacks.totals[event][STACK_RECORDS] == 0 || !have_callers(&stacks, event))
			continue;
		rc = add_flame(h, &stacks, run, event, weight, err);
		for (size_t i = 0; i < COUNT(flame_values) && rc == 0; i++)
			if (flame_values[i] != weight && stacks.totals[event][flame_values[i]] > 0)
				rc = add_flame(h, &stacks, run, event, flame_values[i], err);
	}
	stacks_release(&stacks);
	return rc;
}

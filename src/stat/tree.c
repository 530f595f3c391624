/* SPDX-License-Identifier: Apache-2.0 */
/* --tree: counts in the tree of cycle accounting of the CPU. */
#include <stdlib.h>

#include "base/alloc.h"
#include "cycles/tree/account.h"
#include "cycles/tree/counted.h"
#include "cycles/tree/node_table.h"
#include "stat/tables.h"

static size_t count_nodes(const struct stat *s, const struct cycle_template *tree,
			  struct cycle_count *counts, struct node_evidence *evidence)
{
	const struct stat_total **totals = mem_zalloc(tree->n_nodes, sizeof(*totals));
	size_t n = cycle_counts_of_totals(tree, s->pmu, &s->totals, counts, totals);

	for (size_t i = 0; i < tree->n_nodes; i++)
		if (totals[i] != NULL)
			evidence[i] = (struct node_evidence){
				.weight = totals[i]->value * stat_total_coverage(totals[i]),
				.events = totals[i]->value,
				.mux = stat_total_mark(totals[i], s->least_coverage),
			};
	free(totals);
	return n;
}

/* The columns for programs; none name an object, as counts are of the whole run. */
static void long_table(const struct node_view *view, struct table *out)
{
	table_init(out, "cycles", NULL, node_columns, N_NODE_COLUMNS);
	for (size_t i = 0; i < view->tree->n_nodes; i++)
		node_show(view, (int)i, out, table_add_row(out));
	node_show_not_explained(view, table_add_row(out));
}

static void make_table(const struct stat *s, const struct cycle_template *tree,
		       const struct cycle_count *counts, const struct node_evidence *evidence,
		       struct table *out)
{
	double *penalties = mem_zalloc(tree->n_nodes, sizeof(*penalties));
	struct cycle_value *values = mem_zalloc(tree->n_nodes, sizeof(*values));
	const struct cycle_account_options options = {
		.penalties = penalties,
		.is_counted = true,
		.wall_ns = stat_elapsed_ns(s),
		.issued_per_cycle = cycle_issued_per_cycle(tree, counts),
	};
	struct node_view view = {
		.tree = tree, .values = values, .evidence = evidence, .penalties = penalties
	};

	for (size_t i = 0; i < tree->n_nodes; i++)
		penalties[i] = cycle_node_penalty(tree, (int)i, 0);
	cycle_account(tree, counts, &options, values);
	view.cycles =
		values[tree->cycles].state == CYCLE_MEASURED ? values[tree->cycles].cycles : 0;
	if (s->options->for_programs)
		long_table(&view, out);
	else
		node_tree_table(&view, out);
	node_notes(&view, out);
	free(penalties);
	free(values);
}

int stat_tree_table(const struct stat *s, struct table *out, struct err *err)
{
	struct cycle_template *tree = NULL;
	struct cycle_count *counts;
	struct node_evidence *evidence;
	int rc = 0;

	if (cycle_template_choose(s->options->tree, cpu_id(s->pmu->cpu), "", &tree, err) < 0)
		return -1;
	counts = mem_zalloc(tree->n_nodes, sizeof(*counts));
	evidence = mem_zalloc(tree->n_nodes, sizeof(*evidence));
	if (count_nodes(s, tree, counts, evidence) == 0)
		rc = err_set(
			err, ERR_NO_DATA, ERR_NOWHERE,
			"--tree: none of the events of the cycle accounting tree %s was counted; "
			"'cyclops list penalties --cpu %s' lists them",
			tree->id, tree->id);
	else
		make_table(s, tree, counts, evidence, out);
	free(counts);
	free(evidence);
	cycle_template_free(tree);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of the tree of cycle accounting, of a whole capture or of counts. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cycles/cycles.h"
#include "cycles/tree/counted.h"
#include "diff/measures.h"
#include "metrics/errors.h"

/* Is it cycles that can be compared? Not events that cost nothing, nor the mean length of a period. */
static bool is_cost(const struct cycle_template *t, const double *penalties, size_t node)
{
	const struct cycle_node *n = &t->nodes[node];

	if (n->kind == NODE_EVENT)
		return n->is_cycles || (n->adds && penalties[node] > 0);
	return n->kind == NODE_BRANCH || n->formula != FORMULA_AVERAGE;
}

/*
 * Of a lower or upper bound the error is not known: what it lacks may have changed as well. A run that did
 * not collect a node has no measure of it.
 */
static void add_nodes(const struct cycle_template *t, const double *penalties,
		      const struct cycle_value *values, struct measures *out)
{
	const char *cycles = t->nodes[t->cycles].name;

	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct cycle_value *v = &values[i];
		bool is_bound = v->is_lower_bound || v->is_upper_bound;

		if (v->state != CYCLE_MEASURED || !is_cost(t, penalties, i))
			continue;
		*vec_add(&out->list) = (struct measure){
			.kind = MEASURE_CYCLES,
			.event = measures_text(out, cycles),
			.name = measures_text(out, t->nodes[i].name),
			.module = "",
			.unit = "cycles",
			.value = cycle_capped(v),
			.error = is_bound ? NAN : v->se,
			/* those behind a formula are not told: it is as of the cycles */
			.samples = t->nodes[i].kind == NODE_FORMULA ? values[t->cycles].n_samples
								    : v->n_samples,
		};
	}
	out->kinds |= 1u << MEASURE_CYCLES;
}

int measures_add_cycles(struct session *s, const struct select *select,
			const struct cycle_options *options, struct measures *out, struct err *err)
{
	struct cycle_totals totals;

	if (cycle_totals_init(&totals, s, select, options, err) < 0)
		return -1;
	add_nodes(totals.tree, totals.penalties, totals.values, out);
	cycle_totals_release(&totals);
	return 0;
}

int measures_add_cycles_of_counts(const struct counts *counts, const struct cpu_pmu *pmu,
				  const struct cycle_options *chosen, struct measures *out,
				  struct err *err)
{
	struct cycle_template *t = NULL;
	struct stat_totals all = { 0 };
	struct cycle_account_options options = { 0 };
	struct cycle_count *nodes;
	struct cycle_value *values;
	const struct stat_total **totals;
	double *penalties;
	int rc = 0;

	if (cycle_template_choose(chosen->tree, cpu_id(pmu->cpu), "", &t, err) < 0)
		return -1;
	penalties = cycle_options_penalties(chosen, t, err);
	if (penalties == NULL) {
		cycle_template_free(t);
		return -1;
	}
	stat_totals_init(&all, counts->items.items, counts->items.n);
	nodes = mem_zalloc(t->n_nodes, sizeof(*nodes));
	values = mem_zalloc(t->n_nodes, sizeof(*values));
	totals = mem_zalloc(t->n_nodes, sizeof(*totals));
	if (cycle_counts_of_totals(t, pmu, &all, nodes, totals) == 0)
		rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			     "--by cycles: none of the events of the cycle accounting tree %s was "
			     "counted",
			     t->id);
	for (size_t i = 0; i < t->n_nodes; i++) {
		double error = totals[i] != NULL ? stat_total_error(totals[i]) : 0;

		nodes[i].variance = error * error; /* NAN: not known, as is what it is a part of */
	}
	options.penalties = penalties;
	options.is_counted = true;
	options.wall_ns = counts_elapsed_ns(counts);
	options.issued_per_cycle = cycle_issued_per_cycle(t, nodes);
	if (rc == 0) {
		cycle_account(t, nodes, &options, values);
		add_nodes(t, penalties, values, out);
	}
	free(nodes);
	free(values);
	free(totals);
	free(penalties);
	stat_totals_release(&all);
	cycle_template_free(t);
	return rc;
}

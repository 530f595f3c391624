/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/tree/counted.h"

#include "cpu/event_name.h"

/* The node that an event is, by its code or, if the catalog does not know it, its name. */
static int node_of(const struct cycle_template *t, const struct cpu_pmu *pmu, const char *name)
{
	const struct cpu_event *event = cpu_event_of_name(pmu, name);

	for (size_t i = 0; event != NULL && i < t->n_nodes; i++)
		if (t->nodes[i].kind == NODE_EVENT && t->nodes[i].code == event->code)
			return (int)i;
	return cycle_template_node(t, name);
}

size_t cycle_counts_of_totals(const struct cycle_template *t, const struct cpu_pmu *pmu,
			      const struct stat_totals *all, struct cycle_count *counts,
			      const struct stat_total **totals)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_nodes; i++) {
		counts[i] = (struct cycle_count){ 0 };
		totals[i] = NULL;
	}
	for (size_t i = 0; i < all->list.n; i++) {
		const char *name = all->list.items[i].event;
		const struct stat_total *total = stat_totals_find(all, name);
		int node = node_of(t, pmu, name);

		if (node == NO_NODE || total == NULL || total->state != COUNT_COUNTED ||
		    counts[node].is_collected)
			continue;
		counts[node] = (struct cycle_count){ .is_collected = true, .events = total->value };
		totals[node] = total;
		n++;
	}
	return n;
}

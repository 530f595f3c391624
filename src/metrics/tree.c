/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/tree.h"

/* A tree deeper than this goes in circles. */
enum { DEPTH_MAX = 16 };

static bool list_has(const struct metric_list *list, const struct cpu_metric *metric)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i] == metric)
			return true;
	return false;
}

/* The node that names the metric among its parts, or NULL. */
static const struct cpu_node *parent_of(const struct cpu_pmu *pmu, const struct cpu_metric *metric)
{
	for (size_t i = 0; i < pmu->topdown.n_nodes; i++)
		if (list_has(&pmu->topdown.nodes[i].next_metrics, metric))
			return &pmu->topdown.nodes[i];
	return NULL;
}

/* 0: it does not hang on a root. */
static unsigned depth_below_root(const struct cpu_pmu *pmu, const struct cpu_node *node)
{
	for (unsigned depth = 1; node != NULL && depth <= DEPTH_MAX; depth++) {
		if (list_has(&pmu->topdown.roots, node->metric))
			return depth;
		node = parent_of(pmu, node->metric);
	}
	return 0;
}

unsigned topdown_depth(const struct cpu_pmu *pmu, const struct cpu_node *node)
{
	unsigned depth = depth_below_root(pmu, node);
	unsigned least = DEPTH_MAX;

	if (depth > 0)
		return depth;
	for (size_t i = 0; i < pmu->topdown.n_nodes; i++) {
		const struct cpu_node *other = &pmu->topdown.nodes[i];

		depth = other->group == node->group ? depth_below_root(pmu, other) : 0;
		if (depth > 0 && depth < least)
			least = depth;
	}
	return least;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the decision tree of the top-down method (Arm Neoverse N1 core: performance analysis methodology): of the nodes
 * beside each other the worst is taken, and those nearly as bad; its parts are looked at next.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "metrics/inside.h"
#include "metrics/tree.h"

/* Nodes beside each other. */
struct siblings {
	const struct metric_list *list;
	double worst; /* value of the worst that is not good to have; -INFINITY: none is known */
};

/* Values that are good when they are high do not compete with those that are bad. */
static bool is_good(const struct cpu_metric *m)
{
	return m->better == BETTER_HIGHER;
}

static bool value_if_firm(const struct stat *s, const struct cpu_metric *m, double *out)
{
	const struct stat_value *v = stat_value_of(s, m);

	*out = v->value;
	return stat_value_is_firm(v);
}

static struct siblings metrics_walk_compare(const struct stat *s, const struct metric_list *list)
{
	struct siblings out = { .list = list, .worst = -INFINITY };
	double value;

	for (size_t i = 0; i < list->n; i++)
		if (!is_good(list->items[i]) && value_if_firm(s, list->items[i], &value))
			out.worst = fmax(out.worst, value);
	return out;
}

/* A root above its threshold always is; of parts the worst, and those nearly as bad. */
static bool is_pointed(const struct stat *s, const struct siblings *siblings, unsigned depth,
		       const struct cpu_metric *m)
{
	double value, threshold, tie;

	if (!value_if_firm(s, m, &value))
		return false;
	if (!stat_threshold_of(s, m->name, &threshold))
		stat_threshold_of(s, THRESHOLD_LEAF, &threshold);
	stat_threshold_of(s, THRESHOLD_TIE, &tie);
	return value > threshold && (depth == 1 || is_good(m) || value >= siblings->worst - tie);
}

static bool has_step(const struct stat *s, const struct cpu_metric *m)
{
	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.items[i].metric == m)
			return true;
	return false;
}

static void metrics_walk_add_group(struct stat *s, const struct cpu_group *group)
{
	for (size_t i = 0; i < s->groups.n; i++)
		if (s->groups.items[i] == group)
			return;
	*vec_add(&s->groups) = group;
}

static uint32_t add_step(struct stat *s, struct stat_step step)
{
	*vec_add(&s->steps) = step;
	return (uint32_t)(s->steps.n - 1);
}

static void walk(struct stat *s, const struct metric_list *list, unsigned depth, uint32_t parent);

/* Nodes that nothing leads to are shown with those of their group. */
static void add_beside(struct stat *s, const struct metric_list *shown, unsigned depth,
		       uint32_t parent)
{
	const struct cpu_node *first = cpu_node_of(s->pmu, shown->items[0]);
	const struct metric_list *lonely = &s->pmu->topdown.unreachable;

	for (size_t i = 0; first != NULL && i < lonely->n; i++) {
		const struct cpu_node *node = cpu_node_of(s->pmu, lonely->items[i]);

		if (node == NULL || node->group != first->group ||
		    topdown_depth(s->pmu, node) != depth || has_step(s, node->metric))
			continue;
		add_step(s, (struct stat_step){ .metric = node->metric,
						.depth = depth,
						.parent = parent,
						.is_beside = true });
	}
}

/* What explains a node that the walk stops at or passes. */
static void go_below(struct stat *s, uint32_t step)
{
	const struct cpu_node *node = stat_node_of(s, s->steps.items[step].metric);
	unsigned depth = s->steps.items[step].depth;
	unsigned level = s->options->level;

	if (node == NULL || (level != 0 && depth >= level))
		return;
	for (size_t i = 0; i < node->next_groups.n; i++)
		metrics_walk_add_group(s, node->next_groups.items[i]);
	walk(s, &node->next_metrics, depth + 1, step);
}

static void walk(struct stat *s, const struct metric_list *list, unsigned depth, uint32_t parent)
{
	struct siblings siblings = metrics_walk_compare(s, list);

	for (size_t i = 0; i < list->n; i++) {
		const struct cpu_metric *m = list->items[i];
		struct stat_step step = { .metric = m,
					  .depth = depth,
					  .parent = parent,
					  .is_pointed = is_pointed(s, &siblings, depth, m) };

		if (has_step(s, m))
			continue;
		step.parent = parent;
		if (step.is_pointed)
			go_below(s, add_step(s, step));
		else
			add_step(s, step);
	}
	if (list->n > 0)
		add_beside(s, list, depth, parent);
}

/* Stalled cycles do not show what the wrong path costs, so branches are looked at always. */
static void add_branches(struct stat *s)
{
	const struct cpu_group *branches = cpu_group_find(s->pmu, "Branch_Effectiveness");

	for (size_t i = 0; i < s->roots->n; i++)
		if (strcasecmp(s->roots->items[i]->name, "bad_speculation") == 0)
			return;
	if (branches != NULL && s->options->level != 1)
		metrics_walk_add_group(s, branches);
}

static bool is_any_known(const struct stat *s, const struct metric_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (stat_value_of(s, list->items[i])->is_known)
			return true;
	return false;
}

const struct metric_list *stat_roots(const struct stat *s)
{
	const struct cpu_group *stalls = cpu_group_find(s->pmu, "Cycle_Accounting");

	if (stalls != NULL && !is_any_known(s, &s->pmu->topdown.roots) &&
	    is_any_known(s, &stalls->metrics))
		return &stalls->metrics;
	return &s->pmu->topdown.roots;
}

/* The first part of the name, "backend", with its underscore. */
static size_t subject_length(const char *name)
{
	size_t len = strcspn(name, "_");

	return name[len] == '_' ? len + 1 : len;
}

const struct cpu_node *stat_node_of(const struct stat *s, const struct cpu_metric *m)
{
	const struct cpu_node *node = cpu_node_of(s->pmu, m);
	const struct metric_list *real = &s->pmu->topdown.roots;
	size_t len = subject_length(m->name);

	if (node != NULL || s->roots == real)
		return node;
	for (size_t i = 0; i < real->n; i++)
		if (strncmp(real->items[i]->name, m->name, len) == 0)
			return cpu_node_of(s->pmu, real->items[i]);
	return NULL;
}

void stat_walk(struct stat *s)
{
	s->roots = stat_roots(s);
	walk(s, s->roots, 1, STEP_NO_PARENT);
	if (s->roots->n > 0)
		add_branches(s);
}

bool stat_has_picture(const struct stat *s)
{
	for (size_t i = 0; i < s->steps.n; i++)
		if (stat_value_of(s, s->steps.items[i].metric)->is_known)
			return true;
	return false;
}

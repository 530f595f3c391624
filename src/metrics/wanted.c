/* SPDX-License-Identifier: Apache-2.0 */
/* Which events have to be counted for what was asked. */
#include <string.h>

#include "base/alloc.h"
#include "metrics/inside.h"
#include "metrics/name_list.h"
#include "metrics/tree.h"

/* Sets being gathered. */
struct gathering {
	const struct cpu_pmu *pmu;
	struct event_sets *out;
	struct err *err;
};

static bool has_set_for(const struct event_sets *sets, const char *what)
{
	for (size_t i = 0; i < sets->list.n; i++)
		if (strcmp(sets->list.items[i].what, what) == 0)
			return true;
	return false;
}

void event_sets_add_metric(struct event_sets *sets, const struct cpu_metric *m)
{
	struct event_set set = { .what = m->name, .n = m->events.n };

	if (has_set_for(sets, m->name))
		return;
	set.events = event_sets_new(sets, set.n);
	for (size_t i = 0; i < set.n; i++)
		set.events[i] =
			(struct wanted_event){ m->events.items[i]->name, m->events.items[i] };
	*vec_add(&sets->list) = set;
}

static void metrics_wanted_add_metric(const struct gathering *g, const struct cpu_metric *m)
{
	event_sets_add_metric(g->out, m);
}

static void add_metrics(const struct gathering *g, const struct metric_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		metrics_wanted_add_metric(g, list->items[i]);
}

static void metrics_wanted_add_event(const struct gathering *g, const char *name)
{
	const struct cpu_event *event = cpu_event_find(g->pmu, name);
	struct event_set set = { .n = 1 };

	set.what = event != NULL ? event->name : arena_strndup(&g->out->memory, name, strlen(name));
	if (has_set_for(g->out, set.what))
		return;
	set.events = event_sets_new(g->out, 1);
	set.events[0] = (struct wanted_event){ set.what, event };
	*vec_add(&g->out->list) = set;
}

static int add_group_named(void *context, const char *name)
{
	const struct gathering *g = context;
	const struct cpu_group *group = stat_group(g->pmu, name, g->err);

	if (group == NULL)
		return -1;
	add_metrics(g, &group->metrics);
	return 0;
}

static int add_metric_named(void *context, const char *name)
{
	const struct gathering *g = context;
	const struct cpu_metric *metric = stat_metric(g->pmu, name, g->err);

	if (metric == NULL)
		return -1;
	metrics_wanted_add_metric(g, metric);
	return 0;
}

static int add_event_named(void *context, const char *name)
{
	metrics_wanted_add_event(context, name);
	return 0;
}

/* Cycles and instructions say how fast it went, whatever else is asked. */
static void add_speed(const struct gathering *g)
{
	const struct cpu_metric *ipc = cpu_metric_find(g->pmu, "ipc");

	if (ipc != NULL)
		metrics_wanted_add_metric(g, ipc);
}

static void add_all(const struct gathering *g)
{
	for (size_t i = 0; i < g->pmu->n_metrics; i++)
		metrics_wanted_add_metric(g, &g->pmu->metrics[i]);
}

/* What the tree has down to `level`, the groups that explain its metrics included. */
static void add_tree(const struct gathering *g, unsigned level)
{
	for (size_t i = 0; i < g->pmu->topdown.n_nodes; i++) {
		const struct cpu_node *node = &g->pmu->topdown.nodes[i];
		unsigned depth = topdown_depth(g->pmu, node);

		if (level != 0 && depth > level)
			continue;
		metrics_wanted_add_metric(g, node->metric);
	}
	for (size_t i = 0; i < g->pmu->topdown.n_nodes; i++) {
		const struct cpu_node *node = &g->pmu->topdown.nodes[i];

		if (level != 0 && topdown_depth(g->pmu, node) >= level)
			continue;
		for (size_t j = 0; j < node->next_groups.n; j++)
			add_metrics(g, &node->next_groups.items[j]->metrics);
	}
}

/* A CPU without a tree: everything it has is the first step and the last. */
static void add_method(const struct gathering *g, unsigned level)
{
	add_speed(g);
	add_metrics(g, &g->pmu->topdown.roots);
	if (g->pmu->topdown.roots.n > 0)
		add_tree(g, level);
	else
		add_all(g);
}

int stat_wanted(const struct cpu_pmu *pmu, const struct stat_options *options,
		struct event_sets *out, struct err *err)
{
	struct gathering g = { .pmu = pmu, .out = out, .err = err };

	if (options->groups == NULL && options->metrics == NULL && options->events == NULL &&
	    !options->all)
		add_method(&g, options->level);
	if (options->groups != NULL || options->metrics != NULL)
		add_speed(&g);
	if (options->all) {
		add_metrics(&g, &pmu->topdown.roots);
		add_all(&g);
	}
	if (stat_each_name(options->groups, add_group_named, &g) < 0 ||
	    stat_each_name(options->metrics, add_metric_named, &g) < 0)
		return -1;
	return stat_each_name(options->events, add_event_named, &g);
}

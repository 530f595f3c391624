/* SPDX-License-Identifier: Apache-2.0 */
/* The method step by step: what the counts at hand lead to, and what that lacks. */
#include <string.h>
#include <strings.h>

#include "metrics/inside.h"
#include "metrics/metric_words.h"

static bool metrics_next_is_known(const struct stat *s, const char *event)
{
	return stat_totals_find(&s->totals, event) != NULL;
}

/* Cannot be counted here, or is forbidden: counting once more does not help. */
static bool is_refused(const struct stat *s, const char *event)
{
	const struct stat_total *t = stat_totals_find(&s->totals, event);

	return t != NULL && (t->state == COUNT_NOT_SUPPORTED || t->state == COUNT_FORBIDDEN);
}

/* Would the metric be known if events were counted that nobody has tried to count? */
static bool is_lacking(const struct stat *s, const struct cpu_metric *m)
{
	bool has_new = false;

	if (stat_value_of(s, m)->is_known)
		return false;
	for (size_t i = 0; i < m->events.n; i++) {
		if (is_refused(s, m->events.items[i]->name))
			return false;
		has_new |= !metrics_next_is_known(s, m->events.items[i]->name);
	}
	return has_new;
}

static bool is_refused_metric(const struct stat *s, const struct cpu_metric *m)
{
	for (size_t i = 0; i < m->events.n; i++)
		if (is_refused(s, m->events.items[i]->name))
			return true;
	return false;
}

/* One metric is enough to know that the branch is not what costs most. */
static void find_lacking_below(const struct stat *s, const struct metric_list *branch,
			       struct stat_lacking *out)
{
	const struct cpu_metric *first = NULL;

	for (size_t i = 0; i < branch->n; i++) {
		const struct cpu_metric *m = branch->items[i];

		if (stat_value_is_firm(stat_value_of(s, m)))
			return;
		if (first == NULL && !is_refused_metric(s, m))
			first = m;
	}
	for (size_t i = 0; i < out->below.n; i++)
		if (out->below.items[i] == first)
			return;
	if (first != NULL)
		*vec_add(&out->below) = first;
}

static void find_lacking_root(const struct stat *s, const struct cpu_metric *root,
			      struct stat_lacking *out)
{
	const struct cpu_node *node = stat_node_of(s, root);

	out->has_roots = true;
	if (!stat_value_is_firm(stat_value_of(s, root)))
		*vec_add(&out->roots) = root;
	if (node == NULL || s->options->level == 1)
		return;
	find_lacking_below(s, &node->next_metrics, out);
	for (size_t i = 0; i < node->next_groups.n; i++)
		find_lacking_below(s, &node->next_groups.items[i]->metrics, out);
}

/* Groups about one part of the machine: "L1D_Cache_Effectiveness". */
static bool is_about_part(const struct cpu_group *group)
{
	static const char end[] = "_Effectiveness";
	size_t len = strlen(group->name), end_len = sizeof(end) - 1;

	return len > end_len && strcmp(group->name + len - end_len, end) == 0 &&
	       strncmp(group->name, "SPE", 3) != 0;
}

/* Without a tree, what says how much is lost are shares of cycles. */
void stat_find_lacking(const struct stat *s, struct stat_lacking *out)
{
	const struct cpu_pmu *pmu = s->pmu;

	for (size_t i = 0; i < s->roots->n; i++)
		find_lacking_root(s, s->roots->items[i], out);
	for (size_t i = 0; s->roots->n == 0 && i < pmu->n_metrics; i++)
		if (strcmp(metric_whole(&pmu->metrics[i]), "cycles") == 0)
			find_lacking_root(s, &pmu->metrics[i], out);
	for (size_t i = 0; s->roots->n == 0 && i < pmu->n_groups; i++)
		if (is_about_part(&pmu->groups[i]))
			find_lacking_below(s, &pmu->groups[i].metrics, out);
}

void stat_lacking_release(struct stat_lacking *l)
{
	vec_release(&l->roots);
	vec_release(&l->below);
}

/* That nothing stands out is said only if each branch below the roots was looked at. */
static void add_unexplored(const struct stat *s, struct event_sets *out)
{
	struct stat_lacking lacking = { 0 };

	stat_find_lacking(s, &lacking);
	for (size_t i = 0; lacking.roots.n == 0 && i < lacking.below.n; i++)
		if (is_lacking(s, lacking.below.items[i]))
			event_sets_add_metric(out, lacking.below.items[i]);
	stat_lacking_release(&lacking);
}

static bool has_pointed(const struct stat *s)
{
	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.items[i].is_pointed)
			return true;
	return false;
}

void stat_wanted_now(const struct cpu_pmu *pmu, const struct counts *counts,
		     const struct stat_options *options, struct event_sets *out)
{
	const struct cpu_metric *ipc = cpu_metric_find(pmu, "ipc");
	struct stat s;

	stat_init(&s, pmu, counts, options);
	if (ipc != NULL)
		event_sets_add_metric(out, ipc);
	for (size_t i = 0; i < pmu->topdown.roots.n; i++)
		event_sets_add_metric(out, pmu->topdown.roots.items[i]);
	for (size_t i = 0; i < s.steps.n; i++)
		event_sets_add_metric(out, s.steps.items[i].metric);
	for (size_t i = 0; i < s.groups.n && counts->items.n > 0; i++)
		for (size_t k = 0; k < s.groups.items[i]->metrics.n; k++)
			event_sets_add_metric(out, s.groups.items[i]->metrics.items[k]);
	if (counts->items.n > 0 && !has_pointed(&s))
		add_unexplored(&s, out);
	stat_release(&s);
}

void stat_wanted_next(const struct cpu_pmu *pmu, const struct counts *counts,
		      const struct stat_options *options, struct event_sets *out)
{
	struct stat s;

	stat_init(&s, pmu, counts, options);
	for (size_t i = 0; i < s.steps.n; i++)
		if (is_lacking(&s, s.steps.items[i].metric))
			event_sets_add_metric(out, s.steps.items[i].metric);
	for (size_t i = 0; i < s.groups.n; i++)
		for (size_t k = 0; k < s.groups.items[i]->metrics.n; k++)
			if (is_lacking(&s, s.groups.items[i]->metrics.items[k]))
				event_sets_add_metric(out, s.groups.items[i]->metrics.items[k]);
	if (!has_pointed(&s) && s.roots->n > 0)
		add_unexplored(&s, out);
	stat_release(&s);
}

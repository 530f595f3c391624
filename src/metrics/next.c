/* SPDX-License-Identifier: Apache-2.0 */
/* The method step by step: what the counts at hand lead to, and what that lacks. */
#include <strings.h>

#include "metrics/inside.h"

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
	stat_release(&s);
}

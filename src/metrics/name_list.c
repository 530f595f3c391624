/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/name_list.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/nearest.h"

/* The end of the name that begins at `at`. */
static const char *end_of_name(const char *at)
{
	bool is_inside = false;

	for (; *at != '\0' && (is_inside || *at != ','); at++)
		if (*at == '/')
			is_inside = !is_inside;
	return at;
}

static int each_of_list(const char *list, int (*take)(void *context, const char *name),
			void *context)
{
	const char *at = list;
	int rc = 0;

	while (*at != '\0' && rc == 0) {
		const char *end = end_of_name(at);
		char *name = mem_strndup(at, (size_t)(end - at));

		if (end > at)
			rc = take(context, name);
		free(name);
		at = *end == ',' ? end + 1 : end;
	}
	return rc;
}

int stat_each_name(const char *const *lists, int (*take)(void *context, const char *name),
		   void *context)
{
	for (; lists != NULL && *lists != NULL; lists++)
		if (each_of_list(*lists, take, context) < 0)
			return -1;
	return 0;
}

static const char *group_at(const void *context, size_t i)
{
	const struct cpu_pmu *pmu = context;

	return i < pmu->n_groups ? pmu->groups[i].name : NULL;
}

static const char *metric_at(const void *context, size_t i)
{
	const struct cpu_pmu *pmu = context;

	return i < pmu->n_metrics ? pmu->metrics[i].name : NULL;
}

static int name_list_unknown(const struct cpu_pmu *pmu, const char *what, const char *name,
			     word_at *at, struct err *err)
{
	char list[128], advice[256];

	snprintf(list, sizeof(list), " (cyclops list %ss --cpu %s shows them)", what,
		 cpu_id(pmu->cpu));
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%ss: %s has no %s '%s'%s", what,
		       cpu_name(pmu->cpu), what, name,
		       did_you_mean(name, at, pmu, list, advice, sizeof(advice)));
}

const struct cpu_group *stat_group(const struct cpu_pmu *pmu, const char *name, struct err *err)
{
	const struct cpu_group *group = cpu_group_find(pmu, name);

	if (group == NULL)
		name_list_unknown(pmu, "group", name, group_at, err);
	return group;
}

const struct cpu_metric *stat_metric(const struct cpu_pmu *pmu, const char *name, struct err *err)
{
	const struct cpu_metric *metric = cpu_metric_find(pmu, name);

	if (metric == NULL)
		name_list_unknown(pmu, "metric", name, metric_at, err);
	return metric;
}

struct search {
	const struct cpu_pmu *pmu;
	const struct cpu_metric *metric;
	bool is_found;
};

static int look_into_group(void *context, const char *name)
{
	struct search *s = context;
	const struct cpu_group *group = cpu_group_find(s->pmu, name);

	for (size_t i = 0; group != NULL && i < group->metrics.n; i++)
		s->is_found |= group->metrics.items[i] == s->metric;
	return 0;
}

static int look_at_metric(void *context, const char *name)
{
	struct search *s = context;

	s->is_found |= cpu_metric_find(s->pmu, name) == s->metric;
	return 0;
}

bool stat_names_have(const struct cpu_pmu *pmu, const char *const *groups,
		     const char *const *metrics, const struct cpu_metric *metric)
{
	struct search s = { .pmu = pmu, .metric = metric };

	stat_each_name(groups, look_into_group, &s);
	stat_each_name(metrics, look_at_metric, &s);
	return s.is_found;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A formula being evaluated: a total for each of its names, NULL for SLOTS. */
struct evaluation {
	const struct formula *formula;
	const struct stat_total **totals;
	double slots;
};

static bool event_value(void *context, size_t name, double *out)
{
	const struct evaluation *e = context;

	if (e->totals[name] == NULL) {
		*out = e->slots;
		return e->slots > 0;
	}
	*out = e->totals[name]->value;
	return true;
}

static bool is_slots(const struct evaluation *e, size_t name)
{
	return strcmp(e->formula->names[name], CPU_SLOTS) == 0;
}

/* Finds all events in one group, or (group 0) each where it was counted best. */
static bool metrics_values_choose(struct evaluation *e, const struct stat_totals *totals,
				  uint32_t group, const char **out_lacks)
{
	for (size_t i = 0; i < e->formula->n_names; i++) {
		const char *name = e->formula->names[i];

		e->totals[i] = NULL;
		if (is_slots(e, i))
			continue;
		e->totals[i] = group > 0 ? stat_totals_find_in(totals, name, group)
					 : stat_totals_find(totals, name);
		if (e->totals[i] != NULL && e->totals[i]->state == COUNT_COUNTED &&
		    !e->totals[i]->reads_zero)
			continue;
		*out_lacks = name;
		return false;
	}
	return true;
}

static double coverage_of(const struct evaluation *e)
{
	double least = 1;

	for (size_t i = 0; i < e->formula->n_names; i++)
		if (e->totals[i] != NULL)
			least = fmin(least, stat_total_coverage(e->totals[i]));
	return least;
}

/* The group with all events that was counted longest; 0: there is none. */
static uint32_t best_group(struct evaluation *e, const struct stat_totals *totals)
{
	const char *first = NULL, *lacks;
	double best_coverage = 0;
	uint32_t best = 0;

	for (size_t i = 0; i < e->formula->n_names && first == NULL; i++)
		first = is_slots(e, i) ? NULL : e->formula->names[i];
	for (size_t i = 0; first != NULL && i < totals->list.n; i++) {
		const struct stat_total *t = &totals->list.items[i];

		if (t->group == 0 || strcasecmp(t->event, first) != 0 ||
		    !metrics_values_choose(e, totals, t->group, &lacks) ||
		    coverage_of(e) <= best_coverage)
			continue;
		best = t->group;
		best_coverage = coverage_of(e);
	}
	return best;
}

/* Counts with and without the kernel's share are of different things. */
static bool is_mixed(const struct evaluation *e)
{
	const struct stat_total *first = NULL;

	for (size_t i = 0; i < e->formula->n_names; i++) {
		if (e->totals[i] == NULL)
			continue;
		if (first == NULL)
			first = e->totals[i];
		if (e->totals[i]->is_user_only != first->is_user_only)
			return true;
	}
	return false;
}

/* The worst mark of all events: saturated, sparse, scaled. */
static void metrics_values_judge(const struct evaluation *e, double least_coverage,
				 struct stat_value *out)
{
	out->coverage = coverage_of(e);
	for (size_t i = 0; i < e->formula->n_names; i++) {
		enum cell_mark mark;

		if (e->totals[i] == NULL)
			continue;
		mark = stat_total_mark(e->totals[i], least_coverage);
		out->mark = mark > out->mark ? mark : out->mark;
		out->spread = fmax(out->spread, e->totals[i]->spread);
	}
}

struct stat_value stat_evaluate(const struct cpu_metric *metric, const struct stat_totals *totals,
				unsigned slots, double least_coverage)
{
	struct evaluation e = { .formula = &metric->formula, .slots = slots };
	struct stat_value out = { 0 };

	e.totals = mem_zalloc(e.formula->n_names + 1, sizeof(*e.totals));
	if (!metrics_values_choose(&e, totals, best_group(&e, totals), &out.lacks)) {
		free(e.totals);
		return out;
	}
	if (is_mixed(&e))
		out.lacks = "events of the same modes: some exclude the kernel";
	else if (metric->needs_slots && slots == 0)
		out.lacks = CPU_SLOTS;
	else if (!formula_evaluate(e.formula, event_value, &e, &out.value))
		out.lacks = "a divisor above 0";
	else
		out.is_known = true;
	metrics_values_judge(&e, least_coverage, &out);
	free(e.totals);
	return out;
}

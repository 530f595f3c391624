/* SPDX-License-Identifier: Apache-2.0 */
/* Counts into values of metrics. */
#include <stdlib.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "metrics/inside.h"

const struct cpu_metric *stat_metric_told(const struct cpu_pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->n_metrics; i++)
		if (cpu_word_is_same(name, pmu->metrics[i].name))
			return &pmu->metrics[i];
	return NULL;
}

/*
 * The value over all intervals that another tool gave a value for: each weighs as much as it lasted.
 * How much of the time its events were counted is not known, so it is taken for scaled.
 */
static void take_told(const struct stat *s, const struct cpu_metric *m, struct stat_value *out)
{
	const struct counts *c = s->counts;
	double sum = 0, weights = 0;

	for (size_t i = 0; i < c->metrics.n; i++) {
		const struct count_metric *told = &c->metrics.items[i];
		double weight = 1;

		if (!cpu_word_is_same(told->name, m->name))
			continue;
		if (c->intervals.n > 1)
			weight = (double)counts_interval_ns(c, told->interval);
		else if (weights > 0)
			continue; /* it is said once more */
		sum += weight * told->value;
		weights += weight;
	}
	if (weights > 0)
		*out = (struct stat_value){
			.is_known = true,
			.value = sum / weights,
			.coverage = 1,
			.mark = MARK_SCALED,
			.is_told = true,
		};
}

static void evaluate_all(struct stat *s)
{
	s->values = mem_zalloc(s->pmu->n_metrics + 1, sizeof(*s->values));
	for (size_t i = 0; i < s->pmu->n_metrics; i++) {
		s->values[i] =
			stat_evaluate(&s->pmu->metrics[i], &s->totals, s->slots, s->least_coverage);
		if (!s->values[i].is_known)
			take_told(s, &s->pmu->metrics[i], &s->values[i]);
	}
}

void stat_init(struct stat *s, const struct cpu_pmu *pmu, const struct counts *counts,
	       const struct stat_options *options)
{
	double coverage;

	*s = (struct stat){ .pmu = pmu, .counts = counts, .options = options };
	s->slots = options->slots != 0 ? options->slots
		   : pmu->slots != 0   ? pmu->slots
				       : counts->slots;
	stat_threshold_of(s, THRESHOLD_COVERAGE, &coverage);
	s->least_coverage = coverage / 100;
	stat_totals_init(&s->totals, counts->items.items, counts->items.n);
	stat_check_totals(s);
	evaluate_all(s);
	stat_check_values(s);
	stat_walk(s);
}

void stat_release(struct stat *s)
{
	stat_totals_release(&s->totals);
	free(s->values);
	vec_release(&s->steps);
	vec_release(&s->groups);
	vec_release(&s->contradictions);
}

const struct stat_value *stat_value_of(const struct stat *s, const struct cpu_metric *m)
{
	return &s->values[m - s->pmu->metrics];
}

bool stat_value_named(const struct stat *s, const char *name, double *out)
{
	const struct cpu_metric *m = cpu_metric_find(s->pmu, name);
	const struct stat_value *v = m == NULL ? NULL : stat_value_of(s, m);

	if (v == NULL || !stat_value_is_firm(v))
		return false;
	*out = v->value;
	return true;
}

bool stat_threshold_of(const struct stat *s, const char *name, double *out)
{
	return stat_threshold(s->pmu, s->options->thresholds, name, out);
}

bool stat_is_above(const struct stat *s, const struct cpu_metric *m)
{
	const struct stat_value *v = stat_value_of(s, m);
	double threshold;

	return stat_value_is_firm(v) && stat_threshold_of(s, m->name, &threshold) &&
	       v->value > threshold;
}

const struct stat_total *stat_counted(const struct stat *s, const struct cpu_event *event)
{
	const struct stat_total *t =
		event == NULL ? NULL : stat_totals_find(&s->totals, event->name);

	return t != NULL && t->state == COUNT_COUNTED && !t->reads_zero ? t : NULL;
}

double stat_elapsed_ns(const struct stat *s)
{
	return counts_elapsed_ns(s->counts);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/gates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "metrics/errors.h"
#include "metrics/inside.h"

/* Where a quantity comes from. Neither metric nor total: the time of the run. */
struct source {
	const struct stat *stat;
	const struct cpu_metric *metric;
	const struct stat_total *total;
};

/* All quantities of a run. */
struct judging {
	struct stat *stats; /* by type of core */
	size_t n_stats;
	VEC_OF(struct quantity) quantities;
	VEC_OF(struct source) sources; /* by quantity */
	struct arena memory;
};

static bool is_percentage(const struct cpu_metric *m)
{
	return strncmp(m->unit, "percent", 7) == 0;
}

static const char *typed_name(struct judging *j, const char *name, const char *pmu)
{
	size_t size = strlen(name) + (pmu != NULL ? strlen(pmu) : 0) + 2;
	char *whole = arena_alloc(&j->memory, size);

	snprintf(whole, size, "%s%s%s", name, pmu != NULL ? "@" : "", pmu != NULL ? pmu : "");
	return whole;
}

static void add_quantity(struct judging *j, const char *name, const char *unit, bool is_share,
			 struct source source)
{
	*vec_add(&j->quantities) = (struct quantity){ name, NULL, unit, is_share, "" };
	*vec_add(&j->sources) = source;
}

/* Metrics first: an error lists those that come first. */
static void add_quantities(struct judging *j, const struct stat *s, const char *pmu)
{
	for (int known = 1; known >= 0; known--)
		for (size_t i = 0; i < s->pmu->n_metrics; i++) {
			const struct cpu_metric *m = &s->pmu->metrics[i];

			if (stat_value_of(s, m)->is_known == (known == 1))
				add_quantity(j, typed_name(j, m->name, pmu), "", is_percentage(m),
					     (struct source){ .stat = s, .metric = m });
		}
	for (size_t i = 0; i < s->totals.list.n; i++) {
		const struct stat_total *t = &s->totals.list.items[i];

		if (stat_totals_find(&s->totals, t->event) == t)
			add_quantity(j, typed_name(j, t->event, pmu),
				     t->unit != NULL ? t->unit : "events", false,
				     (struct source){ .stat = s, .total = t });
	}
}

static void judging_init(struct judging *j, struct stat_types *types, struct counts *counts,
			 const struct stat_options *options)
{
	*j = (struct judging){ .n_stats = types->list.n };
	j->stats = mem_zalloc(types->list.n, sizeof(*j->stats));
	for (size_t i = 0; i < types->list.n; i++) {
		struct stat_type *type = &types->list.items[i];
		struct counts *its = type->pmu != NULL ? &type->counts : counts;

		counts_name(its, type->facts);
		stat_init(&j->stats[i], type->facts, its, options);
		if (i == 0)
			add_quantity(j, "time", "ns", false,
				     (struct source){ .stat = &j->stats[0] });
		add_quantities(j, &j->stats[i], type->pmu);
	}
}

static void judging_release(struct judging *j)
{
	for (size_t i = 0; i < j->n_stats; i++)
		stat_release(&j->stats[i]);
	free(j->stats);
	vec_release(&j->quantities);
	vec_release(&j->sources);
	arena_release(&j->memory);
}

/* With the spread of `n_runs`; `error` NAN: that is not known. */
static struct measured spread_out(double value, double error, uint32_t n_runs, bool is_scaled)
{
	double half = interval_of_runs(error, n_runs);

	if (is_scaled || isnan(half))
		return measured_once(value);
	return measured_between(value, value - half, value + half);
}

static int measure_time(const struct stat *s, struct measured *out, struct err *err)
{
	double ns = stat_elapsed_ns(s), spread = s->counts->elapsed_spread;

	if (ns <= 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "the counts do not tell how long the run took");
	*out = spread_out(ns, spread > 0 ? ns * spread : NAN, s->counts->n_runs, false);
	return 0;
}

static int measure_event(const struct stat_total *t, struct measured *out, struct err *err)
{
	if (t->state != COUNT_COUNTED || t->reads_zero || t->is_implausible)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "%s was not counted%s", t->event,
			       t->is_implausible ? " rightly: counts contradict each other" : "");
	*out = spread_out(t->value, stat_total_error(t), t->n_runs, stat_total_is_multiplexed(t));
	if (t->is_full)
		out->most = INFINITY;
	return 0;
}

static int measure_metric(const struct stat *s, const struct cpu_metric *m, struct measured *out,
			  struct err *err)
{
	const struct stat_value *v = stat_value_of(s, m);
	double scale = is_percentage(m) ? 0.01 : 1;
	struct metric_estimate e = { .error = NAN };

	if (!v->is_known)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "%s needs %s, which was not counted",
			       m->name, v->lacks != NULL ? v->lacks : "an event");
	if (!stat_value_is_firm(v))
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE, "%s: %s", m->name,
			       v->mark == MARK_SPARSE
				       ? "its events were counted for too short a part of the time"
				       : "counts contradict each other");
	if (!v->is_told)
		metric_estimate_of(m, &s->totals, &e);
	*out = spread_out(v->value * scale, e.error * scale, e.n_runs,
			  e.is_scaled || v->mark == MARK_SCALED);
	if (v->mark == MARK_SATURATED) {
		out->least = -INFINITY;
		out->most = INFINITY;
	}
	return 0;
}

static int measure_stat_gate(void *context, const struct gate *g, struct measured *out,
			     struct err *err)
{
	const struct judging *j = context;
	const struct source *from = &j->sources.items[g->quantity];

	if (from->metric != NULL)
		return measure_metric(from->stat, from->metric, out, err);
	if (from->total != NULL)
		return measure_event(from->total, out, err);
	return measure_time(from->stat, out, err);
}

int stat_judge(const struct gate_options *gates, struct stat_types *types, struct counts *counts,
	       const struct stat_options *options, struct gates *out, struct err *err)
{
	struct judging j;
	int rc;

	if (gates->conditions.n == 0)
		return 0;
	judging_init(&j, types, counts, options);
	rc = gate_options_judge(gates, j.quantities.items, j.quantities.n, measure_stat_gate, &j,
				out, err);
	judging_release(&j);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/measures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/errors.h"

static const char *const kind_names[N_MEASURE_KINDS] = {
	[MEASURE_TOTAL] = "total",   [MEASURE_METRIC] = "metric",
	[MEASURE_EVENT] = "event",   [MEASURE_FUNCTION] = "function",
	[MEASURE_LINE] = "line",     [MEASURE_INSTRUCTION] = "instruction",
	[MEASURE_SOURCE] = "source", [MEASURE_SHARED] = "shared",
	[MEASURE_CYCLES] = "cycles",
};

void measures_release(struct measures *m)
{
	vec_release(&m->list);
	arena_release(&m->memory);
	*m = (struct measures){ 0 };
}

const char *measure_kind_name(enum measure_kind kind)
{
	return kind_names[kind];
}

int measure_kind_find(const char *name)
{
	for (int i = 0; i < N_MEASURE_KINDS; i++)
		if (strcmp(kind_names[i], name) == 0)
			return i;
	return -1;
}

static void measure_events(const struct stat_totals *totals, struct measures *out)
{
	for (size_t i = 0; i < totals->list.n; i++) {
		const struct stat_total *c = &totals->list.items[i];

		if (c->state != COUNT_COUNTED || stat_totals_find(totals, c->event) != c)
			continue;
		*vec_add(&out->list) = (struct measure){
			.kind = MEASURE_EVENT,
			.is_scaled = stat_total_is_multiplexed(c),
			.event = "",
			.name = measures_text(out, c->event),
			.module = "",
			.unit = c->unit != NULL ? measures_text(out, c->unit) : "events",
			.value = c->value,
			.error = stat_total_error(c),
		};
	}
}

static void measure_metric(const struct stat_totals *totals, const struct cpu_metric *metric,
			   struct measures *out)
{
	struct metric_estimate e;

	if (!metric_estimate_of(metric, totals, &e))
		return;
	*vec_add(&out->list) = (struct measure){
		.kind = MEASURE_METRIC,
		.is_scaled = e.is_scaled,
		.event = "",
		.name = measures_text(out, metric->name),
		.module = "",
		.unit = measures_text(out, metric->unit),
		.value = e.value,
		.error = e.error,
	};
}

static bool is_root(const struct cpu_pmu *pmu, const struct cpu_metric *metric)
{
	for (size_t i = 0; i < pmu->topdown.roots.n; i++)
		if (pmu->topdown.roots.items[i] == metric)
			return true;
	return strcmp(metric->name, "ipc") == 0;
}

/* Adds metrics, those of the top-down tree's root first. */
static void measure_metrics(const struct stat_totals *totals, const struct cpu_pmu *pmu,
			    struct measures *out)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < pmu->n_metrics; i++)
			if (is_root(pmu, &pmu->metrics[i]) == (pass == 0))
				measure_metric(totals, &pmu->metrics[i], out);
}

void measures_add_time(struct measures *out, double spread)
{
	double ns = (double)out->elapsed_ns;

	for (size_t i = 0; i < out->list.n; i++)
		if (out->list.items[i].kind == MEASURE_TOTAL && out->list.items[i].event[0] == '\0')
			return;
	out->kinds |= 1u << MEASURE_TOTAL;
	*vec_add(&out->list) = (struct measure){
		.kind = MEASURE_TOTAL,
		.event = "",
		.name = "time",
		.module = "",
		.unit = "ns",
		.value = ns,
		.error = spread > 0 ? ns * spread : NAN,
	};
}

void measures_of_counts(const struct counts *counts, const struct cpu_pmu *pmu,
			struct measures *out)
{
	struct stat_totals totals = { 0 };

	stat_totals_init(&totals, counts->items.items, counts->items.n);
	out->command = measures_text(out, counts->command);
	out->is_modelled |= counts->is_modelled;
	out->elapsed_ns = (uint64_t)llround(counts_elapsed_ns(counts));
	if (out->elapsed_ns > 0)
		measures_add_time(out, counts->elapsed_spread);
	out->kinds |= 1u << MEASURE_METRIC | 1u << MEASURE_EVENT;
	if (pmu != NULL) {
		char name[128];

		snprintf(name, sizeof(name), "%s%s", cpu_name(pmu->cpu),
			 pmu->is_architectural ? " (events of any PMUv3 core)" : "");
		out->cpu = measures_text(out, name);
		measure_metrics(&totals, pmu, out);
	}
	measure_events(&totals, out);
	stat_totals_release(&totals);
}

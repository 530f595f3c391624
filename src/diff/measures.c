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
	[MEASURE_CYCLES] = "cycles", [MEASURE_REGION] = "region",
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

/* Adds a number of a region. */
static struct measure *measure_region(struct measures *out, const struct count_region *region,
				      const char *what, const char *unit, double value)
{
	struct measure *m = vec_add(&out->list);
	char name[512];

	snprintf(name, sizeof(name), "%s:%s", region->name, what);
	*m = (struct measure){
		.kind = MEASURE_REGION,
		.event = "",
		.name = measures_text(out, name),
		.module = "",
		.unit = measures_text(out, unit),
		.value = value,
		.error = NAN,
	};
	return m;
}

/* Conditions are about "solve:cycles", whatever the CPU calls them. */
static const char *event_words(const struct cpu_pmu *pmu, const char *event)
{
	if (pmu != NULL && pmu->cycles != NULL && strcmp(event, pmu->cycles->name) == 0)
		return "cycles";
	if (pmu != NULL && pmu->instructions != NULL && strcmp(event, pmu->instructions->name) == 0)
		return "instructions";
	return event;
}

static void measure_regions(const struct counts *counts, const struct cpu_pmu *pmu,
			    struct measures *out)
{
	const struct cpu_metric *ipc = pmu == NULL ? NULL : cpu_metric_find(pmu, "ipc");

	for (size_t i = 0; i < counts->regions.n; i++) {
		const struct count_region *region = &counts->regions.items[i];
		struct stat_totals totals = { 0 };
		struct metric_estimate e;

		stat_totals_init(&totals, region->items.items, region->items.n);
		measure_region(out, region, "time", "ns", (double)region->time_ns);
		measure_region(out, region, "calls", "", (double)region->calls);
		for (size_t k = 0; k < totals.list.n; k++) {
			const struct stat_total *c = &totals.list.items[k];
			struct measure *m;

			if (c->state != COUNT_COUNTED || stat_totals_find(&totals, c->event) != c)
				continue;
			m = measure_region(out, region, event_words(pmu, c->event),
					   c->unit != NULL ? c->unit : "events", c->value);
			m->is_scaled = stat_total_is_multiplexed(c);
			m->error = stat_total_error(c);
		}
		if (ipc != NULL && metric_estimate_of(ipc, &totals, &e))
			measure_region(out, region, "ipc", "", e.value)->error = e.error;
		stat_totals_release(&totals);
	}
	if (counts->regions.n > 0)
		out->kinds |= 1u << MEASURE_REGION;
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
	measure_regions(counts, pmu, out);
	stat_totals_release(&totals);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tables for programs: every metric, event, count, tick. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "stat/tables.h"
#include "table/raw.h"

static const char *const state_words[] = {
	[COUNT_COUNTED] = "counted",
	[COUNT_NOT_COUNTED] = "not-counted",
	[COUNT_NOT_SUPPORTED] = "not-supported",
	[COUNT_FORBIDDEN] = "forbidden",
};

struct cell stat_count_cell(double value)
{
	if (value >= 0 && value < 0x1p63 && value == floor(value))
		return cell_count((uint64_t)value);
	return cell_number(value);
}

static struct cell time_cell(uint64_t ns, uint64_t enabled_ns)
{
	return enabled_ns == 0 ? (struct cell){ 0 } : cell_count(ns);
}

enum metric_column {
	METRIC,
	METRIC_VALUE,
	METRIC_UNIT,
	METRIC_TRUST,
	METRIC_COVERAGE,
	METRIC_SPREAD,
	METRIC_N_COLUMNS,
};

static const struct column metric_columns[METRIC_N_COLUMNS] = {
	[METRIC] = { "metric", NULL, "", CELL_TEXT, 0, "name in the catalog" },
	[METRIC_VALUE] = { "value", NULL, "", CELL_NUMBER, 0, "value in its unit" },
	[METRIC_UNIT] = { "unit", NULL, "", CELL_TEXT, 0, "unit of the value" },
	[METRIC_TRUST] = { "trust", NULL, "", CELL_TEXT, 0,
			   "exact, scaled (counted a part of the time), sparse (too small a part "
			   "for conclusions), saturated (a counter at its maximum), implausible "
			   "(contradicts other counts)" },
	[METRIC_COVERAGE] = { "coverage", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			      "part of the time that its events were counted" },
	[METRIC_SPREAD] = { "spread", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			    "largest relative deviation of its events over several runs" },
};

static void stat_lists_put_metric(struct table *t, const char *name, const char *unit,
				  const struct stat_value *v)
{
	struct cell *row = table_add_row(t);

	row[METRIC] = cell_text(name);
	row[METRIC_VALUE] = cell_number(v->value);
	row[METRIC_UNIT] = cell_text(unit);
	row[METRIC_TRUST] = cell_text(mark_word(v->mark));
	if (!v->is_told)
		row[METRIC_COVERAGE] = cell_number(v->coverage);
	if (v->spread > 0)
		row[METRIC_SPREAD] = cell_number(v->spread);
}

void stat_metrics_table(const struct stat *s, struct table *out)
{
	table_init(out, "metrics", "Metrics", metric_columns, COUNT(metric_columns));
	out->is_keyed = true;
	for (size_t i = 0; i < s->pmu->n_metrics; i++)
		if (s->values[i].is_known)
			stat_lists_put_metric(out, s->pmu->metrics[i].name, s->pmu->metrics[i].unit,
					      &s->values[i]);
}

enum event_column {
	EVENT,
	EVENT_COUNT,
	EVENT_ENABLED,
	EVENT_RUNNING,
	EVENT_UNIT,
	EVENT_SHOWN,
	EVENT_SHOWN_UNIT,
	EVENT_TIME,
	EVENT_RATE,
	EVENT_COVERAGE,
	EVENT_SPREAD,
	EVENT_STATE,
	EVENT_N_COLUMNS,
};

static const struct column event_columns[EVENT_N_COLUMNS] = {
	[EVENT] = { "event", NULL, "", CELL_TEXT, 0, "name in the catalog, or of the kernel" },
	[EVENT_COUNT] = { "count", NULL, "events", CELL_NUMBER, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
			  "count for the whole time; extrapolated if running_ns is less than "
			  "enabled_ns" },
	[EVENT_ENABLED] = { "enabled_ns", NULL, "ns", CELL_COUNT, COLUMN_MACHINE_ONLY,
			    "enabled time, summed over all CPUs or threads" },
	[EVENT_RUNNING] = { "running_ns", NULL, "ns", CELL_COUNT, COLUMN_MACHINE_ONLY,
			    "time on a counter" },
	[EVENT_UNIT] = { "unit", "", "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			 "unit of the count, if not events" },
	[EVENT_SHOWN] = { "shown_count", "count", "events", CELL_COUNT,
			  COLUMN_TEXT_ONLY | COLUMN_BLANK, "count, if it is not a time" },
	[EVENT_SHOWN_UNIT] = { "shown_unit", "", "", CELL_TEXT, COLUMN_TEXT_ONLY,
			       "its unit, if not events" },
	[EVENT_TIME] = { "shown_time", "time", "ns", CELL_COUNT, COLUMN_TEXT_ONLY | COLUMN_BLANK,
			 "count, if it is a time" },
	[EVENT_RATE] = { "per_1000", "PKI", "", CELL_NUMBER, COLUMN_TRUST,
			 "events per 1000 instructions" },
	[EVENT_COVERAGE] = { "coverage", "coverage", "", CELL_NUMBER, COLUMN_SHARE,
			     "part of the time on a counter" },
	[EVENT_SPREAD] = { "spread", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			   "relative deviation over several runs" },
	[EVENT_STATE] = { "state", NULL, "", CELL_TEXT, 0,
			  "counted, not-counted, not-supported, forbidden" },
};

/* Per thousand instructions, if both are events and of the same modes. */
static void put_rate(const struct stat *s, const struct stat_total *total, struct cell *out)
{
	const struct stat_total *instructions = stat_counted(s, s->pmu->instructions);

	if (instructions == NULL || instructions->value <= 0 || total->unit != NULL ||
	    instructions->is_user_only != total->is_user_only)
		return;
	*out = cell_marked(cell_number(1000 * total->value / instructions->value),
			   stat_total_mark(total, s->least_coverage));
}

/* What the catalog calls the kernel's generic events is for formulas only. */
static const char *stat_lists_name_of(const struct stat *s, const struct stat_total *total)
{
	const struct cpu_event *event =
		s->pmu->is_generic ? cpu_event_find(s->pmu, total->event) : NULL;

	return event != NULL && event->linux_name != NULL ? event->linux_name : total->event;
}

static void stat_lists_put_event(const struct stat *s, const struct stat_total *total,
				 struct table *t)
{
	bool is_time = total->unit != NULL && strcmp(total->unit, "ns") == 0;
	struct cell *row = table_add_row(t);

	row[EVENT] = cell_text(table_text(t, stat_lists_name_of(s, total)));
	row[EVENT_STATE] = cell_text(state_words[total->state]);
	if (total->unit != NULL)
		row[EVENT_UNIT] = cell_text(total->unit);
	row[EVENT_ENABLED] = time_cell(total->enabled_ns, total->enabled_ns);
	row[EVENT_RUNNING] = time_cell(total->running_ns, total->enabled_ns);
	if (total->state != COUNT_COUNTED)
		return;
	row[EVENT_COUNT] = cell_marked(stat_count_cell(total->value),
				       stat_total_mark(total, s->least_coverage));
	row[is_time ? EVENT_TIME : EVENT_SHOWN] = row[EVENT_COUNT];
	if (!is_time)
		row[EVENT_SHOWN_UNIT] = row[EVENT_UNIT];
	row[EVENT_COVERAGE] = cell_number(stat_total_coverage(total));
	if (total->n_runs > 1 || total->spread > 0)
		row[EVENT_SPREAD] = cell_number(total->spread);
	put_rate(s, total, &row[EVENT_RATE]);
}

/* An event that was counted several times is shown once, as it was counted best. */
void stat_events_table(const struct stat *s, struct table *out)
{
	table_init(out, "events", "Events", event_columns, COUNT(event_columns));
	out->is_keyed = true;
	for (size_t i = 0; i < s->totals.list.n; i++) {
		const struct stat_total *total = &s->totals.list.items[i];

		if (total->occurrence == 0)
			stat_lists_put_event(s, stat_totals_find(&s->totals, total->event), out);
	}
}

enum count_column {
	COUNTED,
	COUNTED_VALUE,
	COUNTED_ENABLED,
	COUNTED_RUNNING,
	COUNTED_UNIT,
	COUNTED_CPU,
	COUNTED_TID,
	COUNTED_WHERE,
	COUNTED_END,
	COUNTED_GROUP,
	COUNTED_SPREAD,
	COUNTED_STATE,
	COUNTED_PMU,
	COUNTED_N_COLUMNS,
};

static const struct column count_columns[COUNTED_N_COLUMNS] = {
	[COUNTED] = { "event", NULL, "", CELL_TEXT, 0, "name in the catalog, or of the kernel" },
	[COUNTED_VALUE] = { "count", NULL, "events", CELL_NUMBER, COLUMN_TRUST,
			    "count; extrapolated if running_ns is less than enabled_ns" },
	[COUNTED_ENABLED] = { "enabled_ns", NULL, "ns", CELL_COUNT, 0, "enabled time" },
	[COUNTED_RUNNING] = { "running_ns", NULL, "ns", CELL_COUNT, 0, "time on a counter" },
	[COUNTED_UNIT] = { "unit", NULL, "", CELL_TEXT, 0, "unit of the count, if not events" },
	[COUNTED_CPU] = { "cpu", NULL, "", CELL_COUNT, 0, "CPU of the count" },
	[COUNTED_TID] = { "tid", NULL, "", CELL_COUNT, 0, "thread of the count" },
	[COUNTED_WHERE] = { "where", NULL, "", CELL_TEXT, 0,
			    "part of the machine (S0-D0-C3), cgroup or name of the thread" },
	[COUNTED_END] = { "end_ns", NULL, "ns", CELL_COUNT, 0,
			  "end of the interval, from the start" },
	[COUNTED_GROUP] = { "group", NULL, "", CELL_COUNT, 0,
			    "events with the same number were counted at the same time" },
	[COUNTED_SPREAD] = { "spread", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			     "relative deviation over several runs" },
	[COUNTED_STATE] = { "state", NULL, "", CELL_TEXT, 0,
			    "counted, not-counted, not-supported, forbidden" },
	[COUNTED_PMU] = { "pmu", NULL, "", CELL_TEXT, 0,
			  "PMU that counted it, by its kernel name" },
};

static struct cell number_or_none(int32_t number)
{
	return number < 0 ? (struct cell){ 0 } : cell_count((uint64_t)number);
}

static void put_count(const struct counts *counts, const struct count *c, struct table *t)
{
	struct cell *row = table_add_row(t);
	bool is_scaled = c->running_ns < c->enabled_ns;

	row[COUNTED] = cell_text(c->event);
	row[COUNTED_STATE] = cell_text(state_words[c->state]);
	row[COUNTED_ENABLED] = time_cell(c->enabled_ns, c->enabled_ns);
	row[COUNTED_RUNNING] = time_cell(c->running_ns, c->enabled_ns);
	row[COUNTED_CPU] = number_or_none(c->cpu);
	row[COUNTED_TID] = number_or_none(c->tid);
	if (c->unit != NULL)
		row[COUNTED_UNIT] = cell_text(c->unit);
	if (c->where != NULL)
		row[COUNTED_WHERE] = cell_text(c->where);
	if (c->interval < counts->intervals.n)
		row[COUNTED_END] = cell_count(counts->intervals.items[c->interval].end_ns);
	if (c->group > 0)
		row[COUNTED_GROUP] = cell_count(c->group);
	if (c->pmu != NULL)
		row[COUNTED_PMU] = cell_text(c->pmu);
	if (c->state != COUNT_COUNTED)
		return;
	row[COUNTED_VALUE] =
		cell_marked(stat_count_cell(c->value), is_scaled ? MARK_SCALED : MARK_EXACT);
	if (c->n_runs > 1 || c->spread > 0)
		row[COUNTED_SPREAD] = cell_number(c->spread);
}

void stat_counts_init(struct table *out)
{
	table_init(out, "counts", "Counts", count_columns, COUNT(count_columns));
}

void stat_counts_add(const struct counts *counts, struct table *out)
{
	for (size_t i = 0; i < counts->items.n; i++)
		put_count(counts, &counts->items.items[i], out);
}

enum interval_column {
	INTERVAL_END,
	INTERVAL_METRIC,
	INTERVAL_VALUE,
	INTERVAL_UNIT,
	INTERVAL_TRUST,
	INTERVAL_PMU,
	INTERVAL_N_COLUMNS,
};

static const struct column interval_columns[INTERVAL_N_COLUMNS] = {
	[INTERVAL_END] = { "end_ns", "end", "ns", CELL_COUNT, 0, "time from the start" },
	[INTERVAL_METRIC] = { "metric", NULL, "", CELL_TEXT, 0, "name in the catalog" },
	[INTERVAL_VALUE] = { "value", NULL, "", CELL_NUMBER, 0, "value of the interval" },
	[INTERVAL_UNIT] = { "unit", NULL, "", CELL_TEXT, 0, "unit of the value" },
	[INTERVAL_TRUST] = { "trust", NULL, "", CELL_TEXT, 0,
			     "exact, scaled, sparse, saturated, implausible" },
	[INTERVAL_PMU] = { "pmu", NULL, "", CELL_TEXT, 0,
			   "type of the cores, on machines with several types" },
};

void stat_intervals_init(struct table *out)
{
	table_init(out, "intervals", "Intervals", interval_columns, COUNT(interval_columns));
}

void stat_intervals_add(const struct stat *s, const struct stat_totals *totals, uint64_t end_ns,
			const char *pmu, struct table *t)
{
	for (size_t i = 0; i < s->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &s->pmu->metrics[i];
		struct stat_value v = stat_evaluate(m, totals, s->slots, s->least_coverage);
		struct cell *row;

		if (!v.is_known)
			continue;
		row = table_add_row(t);
		row[INTERVAL_END] = cell_count(end_ns);
		row[INTERVAL_METRIC] = cell_text(m->name);
		row[INTERVAL_VALUE] = cell_number(v.value);
		row[INTERVAL_UNIT] = cell_text(m->unit);
		row[INTERVAL_TRUST] = cell_text(mark_word(v.mark));
		if (pmu != NULL)
			row[INTERVAL_PMU] = cell_text(pmu);
	}
}

/* What another tool told of an interval. */
static void add_told(const struct stat *s, uint32_t interval, struct table *t)
{
	const struct counts *c = s->counts;

	for (size_t i = 0; i < c->metrics.n; i++) {
		const struct count_metric *told = &c->metrics.items[i];
		const struct cpu_metric *m;
		struct cell *row;

		if (told->interval != interval)
			continue;
		m = stat_metric_told(s->pmu, told->name);
		if (m == NULL || !stat_value_of(s, m)->is_told)
			continue;
		row = table_add_row(t);
		row[INTERVAL_END] = cell_count(c->intervals.items[interval].end_ns);
		row[INTERVAL_METRIC] = cell_text(m->name);
		row[INTERVAL_VALUE] = cell_number(told->value);
		row[INTERVAL_UNIT] = cell_text(m->unit);
		row[INTERVAL_TRUST] = cell_text(mark_word(MARK_SCALED));
	}
}

void stat_intervals_table(const struct stat *s, struct table *out)
{
	const struct count *items = s->counts->items.items;
	size_t n = s->counts->items.n, first = 0;

	stat_intervals_init(out);
	for (uint32_t i = 0; i < s->counts->intervals.n; i++) {
		struct stat_totals totals;
		size_t end = first;

		while (end < n && items[end].interval == i)
			end++;
		stat_totals_init(&totals, end > first ? items + first : NULL, end - first);
		stat_intervals_add(s, &totals, s->counts->intervals.items[i].end_ns, NULL, out);
		add_told(s, i, out);
		stat_totals_release(&totals);
		first = end;
	}
}

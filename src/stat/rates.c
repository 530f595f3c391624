/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as they were read, scaled, and per thousand instructions; then the metrics, with three decimals. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "metrics/name_list.h"
#include "stat/tables.h"

enum column_index {
	EVENT,
	RAW,
	SCALED,
	RATE,
	COVERAGE,
	PERIODS,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[EVENT] = { "event", "", "", CELL_TEXT, COLUMN_GROW, "name in the catalog" },
	[RAW] = { "raw", "counted", "", CELL_COUNT, 0, "value read from the counter" },
	[SCALED] = { "scaled", "[scaled]", "", CELL_COUNT, COLUMN_TRUST,
		     "scaled to the whole time, where the counter was shared" },
	[RATE] = { "per_1000", "PKI", "", CELL_TEXT, 0, "rate" },
	[COVERAGE] = { "coverage", "coverage", "", CELL_NUMBER, COLUMN_SHARE,
		       "part of the time that it was counted" },
	[PERIODS] = { "periods", NULL, "", CELL_COUNT, 0,
		      "multiplexing periods in which it was counted" },
};

/* An event that is looked for in the lists of a user. */
struct sought {
	const struct cpu_pmu *pmu;
	const struct cpu_event *event;
	bool is_found;
};

static int seek_event(void *context, const char *name)
{
	struct sought *sought = context;

	sought->is_found |= cpu_event_of_name(sought->pmu, name) == sought->event;
	return 0;
}

/* Is the event among those that were asked for? Without a list: yes. */
static bool is_asked(const struct stat *s, const struct cpu_event *event)
{
	struct sought sought = { .pmu = s->pmu, .event = event };

	stat_each_name(s->options->events, seek_event, &sought);
	return s->options->events == NULL || sought.is_found;
}

static bool all_are_asked(const struct stat *s, const struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (!is_asked(s, events->items[i]))
			return false;
	return true;
}

/* Turns of a tool, or intervals. */
static uint64_t periods_of(const struct stat *s, const char *event)
{
	uint64_t n = 0, n_intervals = 0;

	for (size_t i = 0; i < s->counts->items.n; i++) {
		const struct count *c = &s->counts->items.items[i];

		if (strcmp(c->event, event) != 0 || c->state != COUNT_COUNTED)
			continue;
		n += c->n_periods;
		n_intervals += s->counts->intervals.n > 0;
	}
	return n > 0 ? n : n_intervals;
}

static void rate_row_add(const struct stat *s, const struct stat_total *t, struct table *out)
{
	uint64_t n_periods = periods_of(s, t->event);
	const struct stat_total *instructions = stat_counted(s, s->pmu->instructions);
	double coverage = stat_total_coverage(t);
	enum cell_mark mark = stat_total_mark(t, s->least_coverage);
	struct cell *row = table_add_row(out);

	row[EVENT] = cell_text(t->event);
	if (t->state != COUNT_COUNTED)
		return;
	row[RAW] = cell_count((uint64_t)llround(t->value * coverage));
	if (mark != MARK_EXACT)
		row[SCALED] = cell_marked(cell_count((uint64_t)llround(t->value)), mark);
	if (t->enabled_ns > 0)
		row[COVERAGE] = cell_number(coverage);
	if (n_periods > 0)
		row[PERIODS] = cell_count(n_periods);
	if (instructions != NULL && instructions->value > 0 && t->unit == NULL)
		row[RATE] = cell_text(
			table_format(out, "%15.3f", 1000 * t->value / instructions->value));
}

void stat_rates_table(const struct stat *s, struct table *out)
{
	table_init(out, "rates", "Events", columns, COUNT(columns));
	for (size_t i = 0; i < s->totals.list.n; i++) {
		const struct stat_total *t = &s->totals.list.items[i];

		/* Cycles are counted beside everything. */
		if (t->occurrence > 0 ||
		    (s->pmu->cycles != NULL && cpu_event_find(s->pmu, t->event) == s->pmu->cycles &&
		     !is_asked(s, s->pmu->cycles)))
			continue;
		rate_row_add(s, stat_totals_find(&s->totals, t->event), out);
	}
}

enum ratio_column { RATIO_NAME, RATIO_VALUE, RATIO_UNIT, RATIO_LABEL, N_RATIO_COLUMNS };

static const struct column ratio_columns[N_RATIO_COLUMNS] = {
	[RATIO_NAME] = { "metric", "", "", CELL_TEXT, 0, "name in the catalog" },
	[RATIO_VALUE] = { "value", "", "", CELL_TEXT, COLUMN_TRUST, "value with three decimals" },
	[RATIO_UNIT] = { "unit", "", "", CELL_TEXT, 0, "unit of the value" },
	[RATIO_LABEL] = { "label", "", "", CELL_TEXT, COLUMN_GROW, "what it means" },
};

void stat_ratios_table(const struct stat *s, struct table *out)
{
	table_init(out, "ratios", "Rates and ratios", ratio_columns, COUNT(ratio_columns));
	for (size_t i = 0; i < s->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &s->pmu->metrics[i];
		const struct stat_value *v = stat_value_of(s, m);
		struct cell *row;

		if (!v->is_known || !all_are_asked(s, &m->events))
			continue;
		row = table_add_row(out);
		row[RATIO_NAME] = cell_text(m->name);
		row[RATIO_VALUE] =
			cell_marked(cell_text(table_format(out, "%12.3f", v->value)), v->mark);
		row[RATIO_UNIT] = cell_text(m->unit);
		row[RATIO_LABEL] = cell_text(m->label);
	}
}

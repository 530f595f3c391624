/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as they were read, scaled, and per thousand instructions; ratios follow elsewhere. */
#include <math.h>

#include "base/alloc.h"
#include "stat/tables.h"

enum column_index {
	EVENT,
	RAW,
	SCALED,
	RATE,
	COVERAGE,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[EVENT] = { "event", "", "", CELL_TEXT, COLUMN_GROW, "name in the catalog" },
	[RAW] = { "raw", "counted", "", CELL_COUNT, 0, "as read from the counter" },
	[SCALED] = { "scaled", "[scaled]", "", CELL_COUNT, COLUMN_TRUST,
		     "to the whole time, where the counter was shared" },
	[RATE] = { "per_1000", "per 1000 instr.", "", CELL_TEXT, 0, "rate" },
	[COVERAGE] = { "coverage", "of the time", "", CELL_NUMBER, COLUMN_SHARE,
		       "part of the time in which it was counted" },
};

static void put(const struct stat *s, const struct stat_total *t, struct table *out)
{
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
	if (instructions != NULL && instructions->value > 0 && t->unit == NULL)
		row[RATE] = cell_text(
			table_format(out, "%15.3f", 1000 * t->value / instructions->value));
}

void stat_rates_table(const struct stat *s, struct table *out)
{
	table_init(out, "rates", "Events", columns, COUNT(columns));
	for (size_t i = 0; i < s->totals.list.n; i++)
		if (s->totals.list.items[i].occurrence == 0)
			put(s, stat_totals_find(&s->totals, s->totals.list.items[i].event), out);
}

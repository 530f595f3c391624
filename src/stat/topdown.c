/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of where slots or cycles go. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "stat/tables.h"

enum column_index {
	PART,
	SHOWN,
	SHARE,
	OF,
	REMARK,
	METRIC,
	THRESHOLD,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[PART] = { "part", "", "", CELL_TEXT, COLUMN_TREE, "node of the top-down tree" },
	[SHOWN] = { "shown", "share", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR | COLUMN_TEXT_ONLY,
		    "the share; at least 0" },
	[SHARE] = { "share", NULL, "", CELL_NUMBER,
		    COLUMN_SHARE | COLUMN_MACHINE_ONLY | COLUMN_TRUST,
		    "part of the whole; small negative values come from corrections" },
	[OF] = { "of", NULL, "", CELL_TEXT, 0,
		 "the whole that the share is of: slots, cycles or stalls" },
	[REMARK] = { "remark", "", "", CELL_TEXT, COLUMN_TEXT_ONLY,
		     "remark of the walk: why it went on here, or not" },
	[METRIC] = { "metric", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "name in the catalog" },
	[THRESHOLD] = { "threshold", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY | COLUMN_SHARE,
			"share from which on it is a finding" },
};

static struct cell topdown_share_cell(const struct stat_value *v)
{
	return cell_marked(cell_number(v->value / 100), v->mark);
}

static const char *remark_on(const struct stat *s, struct table *t, const struct stat_step *step)
{
	const struct stat_value *v = stat_value_of(s, step->metric);
	double threshold;

	if (!v->is_known)
		return table_format(t, "not known without %s", v->lacks);
	if (step->is_beside)
		return "not followed";
	if (!step->is_pointed)
		return NULL;
	if (stat_threshold_of(s, step->metric->name, &threshold))
		return table_format(t, "above %g %%", threshold);
	return "largest of these";
}

static void topdown_fill(const struct stat *s, struct table *t, const struct stat_step *step,
			 struct cell *row)
{
	const struct stat_value *v = stat_value_of(s, step->metric);
	const char *remark = remark_on(s, t, step);
	double threshold;

	row[PART] = cell_text(metric_node_words(t, step->metric));
	row[OF] = cell_text(metric_whole(step->metric));
	row[METRIC] = cell_text(step->metric->name);
	if (remark != NULL)
		row[REMARK] = cell_text(remark);
	if (stat_threshold_of(s, step->metric->name, &threshold))
		row[THRESHOLD] = cell_number(threshold / 100);
	if (!v->is_known)
		return;
	row[SHARE] = topdown_share_cell(v);
	row[SHOWN] = topdown_share_cell(v);
	row[SHOWN].number = fmax(0, row[SHOWN].number);
}

/* What is left of the cycles where only stalls are counted. */
static void add_useful(const struct stat *s, struct table *t)
{
	const struct metric_list *roots = s->roots;
	double stalled = 0;
	enum cell_mark mark = MARK_EXACT;
	struct cell *row;

	for (size_t i = 0; i < roots->n; i++) {
		const struct stat_value *v = stat_value_of(s, roots->items[i]);

		if (strstr(roots->items[i]->name, "_stalled_cycles") == NULL || !v->is_known)
			return;
		stalled += v->value;
		mark = v->mark > mark ? v->mark : mark;
	}
	row = table_add_row(t);
	row[PART] = cell_text("not stalled");
	row[SHARE] = cell_marked(cell_number(1 - stalled / 100), mark);
	row[SHOWN] = cell_marked(cell_number(fmax(0, 1 - stalled / 100)), mark);
	row[OF] = cell_text("cycles");
	row[METRIC] = cell_text("useful_cycles");
}

void stat_topdown_table(const struct stat *s, struct table *out)
{
	uint32_t *rows = mem_zalloc(s->steps.n + 1, sizeof(*rows));

	table_init(out, "topdown", "Where it goes", columns, COUNT(columns));
	for (size_t i = 0; stat_has_picture(s) && i < s->steps.n; i++) {
		const struct stat_step *step = &s->steps.items[i];

		rows[i] = (uint32_t)table_n_rows(out);
		topdown_fill(s, out, step,
			     step->parent == STEP_NO_PARENT
				     ? table_add_row(out)
				     : table_add_child(out, rows[step->parent]));
	}
	if (table_n_rows(out) > 0)
		add_useful(s, out);
	free(rows);
}

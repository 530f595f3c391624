/* SPDX-License-Identifier: Apache-2.0 */
/* What each cause costs at the most, the likeliest first: the ranking behind the findings. */
#include <math.h>

#include "base/alloc.h"
#include "findings/words.h"
#include "stat/causes/costs.h"
#include "stat/tables.h"

enum column_index {
	CAUSE,
	EVENT,
	RATE,
	PENALTY,
	SHARE,
	REMARK,
	ISSUE,
	SIDE,
	IS_ESTIMATE,
	IS_HIDDEN,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[CAUSE] = { "cause", "", "", CELL_TEXT, COLUMN_GROW, "event that may cost cycles" },
	[EVENT] = { "event", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "name of the event" },
	[RATE] = { "per_1000", "PKI", "", CELL_NUMBER, COLUMN_TRUST, "rate" },
	[PENALTY] = { "penalty_cycles", "cycles each", "cycles", CELL_NUMBER, 0,
		      "penalty in the catalog, beyond that of the previous level" },
	[SHARE] = { "share", "cycle share", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
		    "part of all cycles; at most the stalls of its side of the pipeline" },
	[REMARK] = { "remark", "", "", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_GROW,
		     "how good the estimate is" },
	[ISSUE] = { "issue", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "name in the catalog" },
	[SIDE] = { "side", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		   "side of the pipeline: frontend, backend, bad_speculation" },
	[IS_ESTIMATE] = { "is_estimate", NULL, "", CELL_BOOL, COLUMN_MACHINE_ONLY,
			  "the penalty is not published for this CPU" },
	[IS_HIDDEN] = { "is_hidden", NULL, "", CELL_BOOL, COLUMN_MACHINE_ONLY,
			"other work hides it: it costs little" },
};

static const char *remark_on_cost(const struct stat_cost *c)
{
	if (c->is_hidden)
		return "hidden by other work";
	return c->penalty->is_estimate ? "cycles estimated" : NULL;
}

static void cost_row_add(const struct stat *s, const struct stat_cost *c, struct table *t)
{
	enum cell_mark counted = stat_total_mark(c->total, s->least_coverage);
	struct cell *row = table_add_row(t);

	row[CAUSE] = cell_text(issue_words(c->penalty));
	row[EVENT] = cell_text(c->penalty->event->name);
	if (!isnan(c->per_1000) && c->penalty->cycles > 1)
		row[RATE] = cell_marked(cell_number(c->per_1000), counted);
	row[PENALTY] = cell_number(c->penalty->cycles);
	row[SHARE] = cell_marked(cell_number(c->bound), counted);
	if (remark_on_cost(c) != NULL)
		row[REMARK] = cell_text(remark_on_cost(c));
	row[ISSUE] = cell_text(c->penalty->issue);
	row[SIDE] = cell_text(cpu_side_name(c->penalty->side));
	row[IS_ESTIMATE] = cell_bool(c->penalty->is_estimate);
	row[IS_HIDDEN] = cell_bool(c->is_hidden);
}

void stat_costs_table(const struct stat *s, struct table *out)
{
	const double least_shown = 0.01;
	struct stat_costs costs = { 0 };

	table_init(out, "costs", "Costs (upper limits)", columns, COUNT(columns));
	stat_costs_find(s, &costs);
	for (size_t i = 0; i < costs.list.n; i++)
		if (s->options->for_programs || costs.list.items[i].bound >= least_shown)
			cost_row_add(s, &costs.list.items[i], out);
	stat_costs_release(&costs);
}

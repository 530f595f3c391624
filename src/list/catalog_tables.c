/* SPDX-License-Identifier: Apache-2.0 */
#include "list/catalog_tables.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"

static const char *const stage_words[] = {
	[EVENT_STAGE_RETIRED] = "retired",
	[EVENT_STAGE_SPECULATIVE] = "speculative",
};

static const char *const better_words[] = {
	[BETTER_NEUTRAL] = "neutral",
	[BETTER_HIGHER] = "higher",
	[BETTER_LOWER] = "lower",
};

enum event_column {
	EVENT,
	CODE,
	COUNTS, /* for people, who read it first; DESCRIPTION for programs */
	CLASS,
	STAGE,
	FIXED,
	HERE,
	NOTE,
	DESCRIPTION,
	N_EVENT_COLUMNS
};

static const struct column event_columns[N_EVENT_COLUMNS] = {
	[EVENT] = { "event", NULL, "", CELL_TEXT, COLUMN_GROW, "name in the catalog" },
	[CODE] = { "code", NULL, "", CELL_HEX, 0, "number, as perf stat -e rNN has it" },
	[COUNTS] = { "counts", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_TEXT_ONLY | COLUMN_BLANK,
		     "what it counts" },
	[CLASS] = { "class", NULL, "", CELL_TEXT, 0, "what it is about" },
	[STAGE] = { "stage", NULL, "", CELL_TEXT, 0,
		    "retired, or speculative if wrong paths are counted, too" },
	[FIXED] = { "architected", NULL, "", CELL_BOOL, COLUMN_MACHINE_ONLY,
		    "the architecture fixes its number" },
	[HERE] = { "here", NULL, "", CELL_TEXT, 0, "whether this machine can count it" },
	[NOTE] = { "note", "", "", CELL_TEXT, COLUMN_GROW, "a caution" },
	[DESCRIPTION] = { "description", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			  "what it counts, in words" },
};

static const char *here_word(int answer)
{
	return answer < 0 ? "not known" : answer > 0 ? "yes" : "no";
}

void catalog_events_table(const struct catalog_view *view, struct table *out)
{
	table_init(out, "events", NULL, event_columns, COUNT(event_columns));
	for (size_t i = 0; i < view->pmu->n_events; i++) {
		const struct cpu_event *e = &view->pmu->events[i];
		struct cell *row = table_add_row(out);

		row[EVENT] = cell_text(e->name);
		row[CODE] = cell_hex(e->code);
		row[CLASS] = cell_text(e->class);
		if (e->stage != EVENT_STAGE_NOT_TOLD)
			row[STAGE] = cell_text(stage_words[e->stage]);
		row[FIXED] = cell_bool(!e->is_impdef);
		if (view->can_count != NULL)
			row[HERE] = cell_text(here_word(view->can_count(view->context, e)));
		if (e->note != NULL)
			row[NOTE] = cell_text(e->note);
		if (e->description != NULL)
			row[COUNTS] = row[DESCRIPTION] = cell_text(e->description);
	}
}

enum metric_column {
	METRIC,
	FORMULA,
	UNIT,
	WORDS,
	METRIC_HERE,
	LABEL,
	BETTER,
	EVENTS,
	SAMPLES,
	ORIGIN,
	N_METRIC_COLUMNS
};

static const struct column metric_columns[N_METRIC_COLUMNS] = {
	[METRIC] = { "metric", NULL, "", CELL_TEXT, 0, "name in the catalog" },
	[FORMULA] = { "formula", NULL, "", CELL_TEXT, COLUMN_GROW, "of counts of events" },
	[UNIT] = { "unit", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "what the value is in" },
	[WORDS] = { "words", NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY, "unit and label" },
	[METRIC_HERE] = { "here", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			  "whether this machine can count all its events" },
	[LABEL] = { "label", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "in words" },
	[BETTER] = { "better", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		     "higher, lower or neutral" },
	[EVENTS] = { "events", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		     "to be counted at the same moments" },
	[SAMPLES] = { "sample_events", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		      "to be sampled to find the code" },
	[ORIGIN] = { "origin", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "where it is from" },
};

static const char *event_names(struct table *t, const struct event_list *list)
{
	struct text text = { 0 };

	for (size_t i = 0; i < list->n; i++) {
		text_str(&text, i == 0 ? "" : ",");
		text_str(&text, list->items[i]->name);
	}
	return table_take_text(t, &text);
}

/* Can all events of the metric be counted? "No" for one event decides, then "not known". */
static int can_count_metric(const struct catalog_view *view, const struct cpu_metric *m)
{
	int out = 1;

	for (size_t i = 0; i < m->events.n; i++) {
		int answer = view->can_count(view->context, m->events.items[i]);

		if (answer == 0)
			return 0;
		out = answer < 0 ? answer : out;
	}
	return out;
}

void catalog_metrics_table(const struct catalog_view *view, struct table *out)
{
	table_init(out, "metrics", NULL, metric_columns, COUNT(metric_columns));
	out->style = TABLE_FACTS; /* formulas are long */
	for (size_t i = 0; i < view->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &view->pmu->metrics[i];
		struct cell *row = table_add_row(out);
		int here = view->can_count != NULL ? can_count_metric(view, m) : -1;

		row[METRIC] = cell_text(m->name);
		row[UNIT] = cell_text(m->unit);
		row[FORMULA] = cell_text(m->formula.text);
		if (view->can_count != NULL)
			row[METRIC_HERE] = cell_text(here_word(here));
		row[WORDS] = cell_text(table_format(out, "(%s; %s%s)", m->unit, m->label,
						    here == 0 ? "; not here" : ""));
		row[LABEL] = cell_text(m->label);
		row[BETTER] = cell_text(better_words[m->better]);
		row[EVENTS] = cell_text(event_names(out, &m->events));
		row[SAMPLES] = cell_text(event_names(out, &m->samples));
		row[ORIGIN] = cell_text(m->origin);
	}
}

enum group_column { GROUP, GROUP_STAGE, METRICS, GROUP_LABEL, N_GROUP_COLUMNS };

static const struct column group_columns[N_GROUP_COLUMNS] = {
	[GROUP] = { "group", NULL, "", CELL_TEXT, 0, "name in the catalog" },
	[GROUP_STAGE] = { "stage", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			  "of the top-down method; none: not a part of it" },
	[METRICS] = { "metrics", NULL, "", CELL_TEXT, COLUMN_GROW, "in it" },
	[GROUP_LABEL] = { "label", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "in words" },
};

static bool catalog_tables_is_in(const struct group_list *list, const struct cpu_group *group)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i] == group)
			return true;
	return false;
}

static const char *metric_names(struct table *t, const struct metric_list *list)
{
	struct text text = { 0 };

	for (size_t i = 0; i < list->n; i++) {
		text_str(&text, i == 0 ? "" : ", ");
		text_str(&text, list->items[i]->name);
	}
	return table_take_text(t, &text);
}

void catalog_groups_table(const struct catalog_view *view, struct table *out)
{
	const struct cpu_topdown *t = &view->pmu->topdown;

	table_init(out, "groups", NULL, group_columns, COUNT(group_columns));
	out->style = TABLE_FACTS;
	for (size_t i = 0; i < view->pmu->n_groups; i++) {
		const struct cpu_group *g = &view->pmu->groups[i];
		struct cell *row = table_add_row(out);

		row[GROUP] = cell_text(g->name);
		if (catalog_tables_is_in(&t->stage_1, g))
			row[GROUP_STAGE] = cell_count(1);
		else if (catalog_tables_is_in(&t->stage_2, g))
			row[GROUP_STAGE] = cell_count(2);
		row[METRICS] = cell_text(metric_names(out, &g->metrics));
		row[GROUP_LABEL] = cell_text(g->label);
	}
}

enum { TEXT_MAX = 512 };

enum cpu_column {
	CPU,
	NAME,
	PRODUCTS,
	N_EVENTS,
	N_METRICS,
	METHOD,
	COUNTERS,
	SLOTS,
	ALSO,
	N_CPU_COLUMNS
};

static const struct column cpu_columns[N_CPU_COLUMNS] = {
	[CPU] = { "cpu", NULL, "", CELL_TEXT, COLUMN_WHOLE, "id, as --cpu takes it" },
	[NAME] = { "name", NULL, "", CELL_TEXT, COLUMN_GROW, "what people call it" },
	/* People look for these; the last columns are hidden first where there is no room. */
	[PRODUCTS] = { "products", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_TEXT_ONLY,
		       "products that have it, other names" },
	[N_EVENTS] = { "events", NULL, "", CELL_COUNT, 0, "known" },
	[N_METRICS] = { "metrics", NULL, "", CELL_COUNT, 0, "known" },
	[METHOD] = { "top_down", "top-down", "", CELL_TEXT, 0,
		     "what its first stage is in; none: no tree; any PMUv3: what all such cores "
		     "have" },
	[COUNTERS] = { "counters", NULL, "", CELL_COUNT, 0,
		       "programmable ones; none: not published" },
	[SLOTS] = { "slots", NULL, "", CELL_COUNT, 0,
		    "in a cycle; none: the kernel knows, or there are no events for it" },
	[ALSO] = { "also", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		   "products that have it, other names" },
};

static const char *cpu_aliases(const struct cpu *cpu, struct table *t)
{
	const char *all = NULL, *alias;

	for (size_t i = 0; (alias = cpu_alias_at(cpu, i)) != NULL; i++)
		all = i == 0 ? table_text(t, alias) : table_format(t, "%s, %s", all, alias);
	return all;
}

static void put_cpu(const struct cpu *cpu, const struct cpu_counts *counts, struct table *t)
{
	static const char percent_of[] = "percent of ";
	struct cell *row = table_add_row(t);

	row[CPU] = cell_text(cpu_id(cpu));
	row[NAME] = cell_text(cpu_name(cpu));
	row[ALSO] = row[PRODUCTS] = cell_text(cpu_aliases(cpu, t));
	row[N_EVENTS] = cell_count(counts->is_architectural ? 0 : counts->n_events);
	row[N_METRICS] = cell_count(counts->is_architectural ? 0 : counts->n_metrics);
	if (counts->unit[0] != '\0') {
		bool is_share = strncmp(counts->unit, percent_of, sizeof(percent_of) - 1) == 0;
		const char *unit = counts->unit + (is_share ? sizeof(percent_of) - 1 : 0);

		row[METHOD] =
			cell_text(counts->is_architectural ? table_format(t, "%s, any PMUv3", unit)
							   : table_text(t, unit));
	}
	if (counts->n_programmable > 0)
		row[COUNTERS] = cell_count(counts->n_programmable);
	if (counts->slots > 0)
		row[SLOTS] = cell_count(counts->slots);
}

int catalog_cpus_table(const struct catalog *catalog, struct table *out, struct err *err)
{
	table_init(out, "cpus", NULL, cpu_columns, COUNT(cpu_columns));
	for (size_t i = 0; i < catalog_n_cpus(catalog); i++) {
		const struct cpu *cpu = catalog_cpu_at(catalog, i);
		const struct cpu_counts *known = cpu_counts_known(catalog, cpu);
		struct cpu_pmu *pmu = NULL;
		struct cpu_counts counts;

		if (known == NULL) {
			if (cpu_pmu_open(catalog, cpu, 0, &pmu, err) < 0)
				return -1;
			counts = cpu_pmu_counts(pmu);
			known = &counts;
		}
		put_cpu(cpu, known, out);
		cpu_pmu_free(pmu);
	}
	return 0;
}

/* Removes all but letters and digits, so that "graviton 4" is found in "AWS Graviton4". */
static const char *without_spaces(const char *text, char out[TEXT_MAX])
{
	size_t n = 0;

	for (; *text != '\0' && n < TEXT_MAX - 1; text++)
		if (isalnum((unsigned char)*text))
			out[n++] = *text;
	out[n] = '\0';
	return out;
}

static bool names_cpu(const char *text, const char *pattern)
{
	char all[TEXT_MAX], wanted[TEXT_MAX];

	without_spaces(pattern, wanted);
	return wanted[0] != '\0' && strcasestr(without_spaces(text, all), wanted) != NULL;
}

/* Compares the pattern with the first column, the catalog's name, and with names for people. */
static bool row_matches(const struct table *t, size_t row, const void *pattern)
{
	static const char *const others[] = { "name", "label", "also" };
	bool is_glob = strpbrk(pattern, "*?") != NULL, is_of_cpus = strcmp(t->name, "cpus") == 0;
	int column = 0;

	for (size_t i = 0; i <= COUNT(others); i++) {
		const struct cell *cell = column < 0 ? NULL : table_cell(t, row, (size_t)column);

		if (cell != NULL && cell->type == CELL_TEXT && cell->text != NULL &&
		    (is_glob ? fnmatch(pattern, cell->text, FNM_CASEFOLD) == 0
			     : strcasestr(cell->text, pattern) != NULL ||
				       (is_of_cpus && names_cpu(cell->text, pattern))))
			return true;
		column = i < COUNT(others) ? table_column(t, others[i]) : -1;
	}
	return false;
}

static const char *first_cell_at(const void *context, size_t row)
{
	const struct table *t = context;

	return row < table_n_rows(t) ? table_cell(t, row, 0)->text : NULL;
}

int catalog_keep_matches(struct table *t, const char *pattern, struct err *err)
{
	size_t n = table_n_rows(t);
	char advice[256];

	did_you_mean(pattern, first_cell_at, t, "", advice, sizeof(advice));
	if (table_keep(t, row_matches, pattern) > 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "none of the %zu %s matches '%s'%s", n, t->name,
		       pattern, advice);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs side by side with the change in per cent, as tables 7 to 9 of the Neoverse N1
 * methodology have it.
 */
#include <math.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cpu/event_name.h"
#include "findings/words.h"
#include "metrics/name_list.h"
#include "stat/causes/causes.h"
#include "stat/stat.h"
#include "stat/tables.h"

enum column_index {
	NAME,
	BEFORE,
	AFTER,
	CHANGE,
	UNIT,
	KIND,
	N_COLUMNS,
};

/* Metrics have different sizes, so that each number needs decimals of its own in text. */
enum metric_column {
	METRIC_NAME,
	METRIC_BEFORE,
	METRIC_AFTER,
	METRIC_BEFORE_WORDS,
	METRIC_AFTER_WORDS,
	METRIC_CHANGE,
	METRIC_UNIT,
	METRIC_KIND,
	METRIC_N_COLUMNS,
};

static const struct column event_columns[N_COLUMNS] = {
	[NAME] = { "event", "", "", CELL_TEXT, COLUMN_GROW, "name in the catalog" },
	[BEFORE] = { "before", NULL, "events", CELL_NUMBER, COLUMN_TRUST, "value of --against" },
	[AFTER] = { "after", NULL, "events", CELL_NUMBER, COLUMN_TRUST, "value of --import" },
	[CHANGE] = { "change", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
		     "(after - before) / before" },
	[UNIT] = { "unit", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		   "unit of the count, if not events" },
	[KIND] = { "kind", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "event" },
};

static const struct column metric_columns[METRIC_N_COLUMNS] = {
	[METRIC_NAME] = { "metric", "", "", CELL_TEXT, COLUMN_GROW, "name in the catalog" },
	[METRIC_BEFORE] = { "before", NULL, "", CELL_NUMBER, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
			    "value of --against" },
	[METRIC_AFTER] = { "after", NULL, "", CELL_NUMBER, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
			   "value of --import" },
	[METRIC_BEFORE_WORDS] = { "before_words", "    before", "", CELL_TEXT, COLUMN_TEXT_ONLY,
				  "value of --against" },
	[METRIC_AFTER_WORDS] = { "after_words", "     after", "", CELL_TEXT, COLUMN_TEXT_ONLY,
				 "value of --import" },
	[METRIC_CHANGE] = { "change", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			    "(after - before) / before" },
	[METRIC_UNIT] = { "unit", NULL, "", CELL_TEXT, 0, "unit of the value" },
	[METRIC_KIND] = { "kind", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			  "per-instruction: changes with the number of instructions; else plain" },
};

/* From here on the number of instructions makes rates per instruction hard to compare. */
static const double same_instructions = 0.02;

static enum cell_mark worse(enum cell_mark a, enum cell_mark b)
{
	return a > b ? a : b;
}

static struct cell change_cell(double before, double after, enum cell_mark mark)
{
	if (before == 0)
		return (struct cell){ 0 };
	return cell_marked(cell_number((after - before) / before), mark);
}

static struct cell count_cell(const struct stat_total *t, enum cell_mark mark)
{
	return cell_marked(cell_count((uint64_t)llround(t->value)), mark);
}

static void stat_compare_put_event(const struct stat *before, const struct stat_total *b,
				   const struct stat *after, const struct stat_total *a,
				   struct table *t)
{
	struct cell *row = table_add_row(t);
	enum cell_mark mark_b = stat_total_mark(b, before->least_coverage);
	enum cell_mark mark_a = stat_total_mark(a, after->least_coverage);

	row[NAME] = cell_text(a->event);
	row[KIND] = cell_text("event");
	if (a->unit != NULL)
		row[UNIT] = cell_text(a->unit);
	row[BEFORE] = count_cell(b, mark_b);
	row[AFTER] = count_cell(a, mark_a);
	row[CHANGE] = change_cell(b->value, a->value, worse(mark_a, mark_b));
}

static void events_table(const struct stat *before, const struct stat *after, struct table *t)
{
	size_t n_alone = 0;

	table_init(t, "events", "Events", event_columns, COUNT(event_columns));
	t->is_keyed = true;
	for (size_t i = 0; i < after->totals.list.n; i++) {
		const char *event = after->totals.list.items[i].event;
		const struct stat_total *a = stat_totals_find(&after->totals, event);
		const struct stat_total *b = stat_totals_find(&before->totals, event);

		if (after->totals.list.items[i].occurrence > 0)
			continue;
		if (b == NULL || b->state != COUNT_COUNTED || a->state != COUNT_COUNTED)
			n_alone++;
		else if (a->is_user_only != b->is_user_only)
			table_note(t, "%s: not compared: only one run includes the kernel", event);
		else
			stat_compare_put_event(before, b, after, a, t);
	}
	if (n_alone > 0)
		table_note(t, "%zu event%s counted in one run only", n_alone, plural(n_alone));
}

static bool is_per_instruction(const struct stat *s, const struct cpu_metric *m)
{
	const struct formula *f = &m->formula;

	for (size_t i = 0; s->pmu->instructions != NULL && i < f->n_names; i++)
		if (cpu_word_is_same(f->names[i], s->pmu->instructions->name))
			return true;
	return false;
}

static bool is_asked_for(const struct stat *s, const struct cpu_metric *m)
{
	const struct stat_options *o = s->options;

	return (o->groups == NULL && o->metrics == NULL) ||
	       stat_names_have(s->pmu, o->groups, o->metrics, m);
}

static void stat_compare_put_metric(const struct stat *s, const struct cpu_metric *m,
				    const struct stat_value *b, const struct stat_value *a,
				    struct table *t)
{
	struct cell *row = table_add_row(t);

	row[METRIC_NAME] = cell_text(m->name);
	row[METRIC_BEFORE] = cell_marked(cell_number(b->value), b->mark);
	row[METRIC_AFTER] = cell_marked(cell_number(a->value), a->mark);
	row[METRIC_BEFORE_WORDS] = cell_text(table_significant(t, b->value));
	row[METRIC_AFTER_WORDS] = cell_text(table_significant(t, a->value));
	row[METRIC_CHANGE] = change_cell(b->value, a->value, worse(a->mark, b->mark));
	row[METRIC_UNIT] = cell_text(m->unit);
	row[METRIC_KIND] = cell_text(is_per_instruction(s, m) ? "per-instruction" : "plain");
}

/* How long a run took, where both tell it. */
static void put_time(double before_ns, double after_ns, struct table *t)
{
	double before = before_ns / 1e9, after = after_ns / 1e9;
	struct cell *row;

	if (before <= 0 || after <= 0)
		return;
	row = table_add_row(t);
	row[METRIC_NAME] = cell_text("time");
	row[METRIC_BEFORE] = cell_number(before);
	row[METRIC_AFTER] = cell_number(after);
	row[METRIC_BEFORE_WORDS] = cell_text(table_significant(t, before));
	row[METRIC_AFTER_WORDS] = cell_text(table_significant(t, after));
	row[METRIC_CHANGE] = cell_number((after - before) / before);
	row[METRIC_UNIT] = cell_text("seconds");
	row[METRIC_KIND] = cell_text("plain");
}

static void metrics_table(const struct stat *before, const struct stat *after, struct table *t)
{
	table_init(t, "metrics", "Metrics", metric_columns, COUNT(metric_columns));
	t->is_keyed = true;
	put_time(stat_elapsed_ns(before), stat_elapsed_ns(after), t);
	for (size_t i = 0; i < after->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &after->pmu->metrics[i];
		const struct stat_value *a = &after->values[i], *b = &before->values[i];

		if (!a->is_known || !b->is_known || !is_asked_for(after, m))
			continue;
		stat_compare_put_metric(after, m, b, a, t);
	}
}

/* What does not mislead stands first: time and totals. */
static void caution(const struct stat *before, const struct stat *after, struct table *t)
{
	const struct stat_total *b = stat_counted(before, before->pmu->instructions);
	const struct stat_total *a = stat_counted(after, after->pmu->instructions);
	double change;

	if (a == NULL || b == NULL || b->value <= 0)
		return;
	change = (a->value - b->value) / b->value;
	if (fabs(change) < same_instructions)
		return;
	table_note(t,
		   "the runs differ by %+.1f %% in instructions: this alone changes IPC and rates "
		   "per 1000 instructions. Compare time, cycles and totals.",
		   100 * change);
}

int stat_answer_compare(const struct cpu_pmu *pmu, struct counts *before, struct counts *after,
			const struct stat_options *options, struct stat_answer *out,
			struct err *err)
{
	struct stat b, a;

	*out = (struct stat_answer){ 0 };
	if (stat_options_check(pmu, options, err) < 0)
		return -1;
	counts_name(before, pmu);
	counts_name(after, pmu);
	stat_init(&b, pmu, before, options);
	stat_init(&a, pmu, after, options);
	stat_facts_table(&a, &out->facts);
	stat_run_table(&a, &out->run);
	events_table(&b, &a, &out->events);
	metrics_table(&b, &a, &out->metrics);
	caution(&b, &a, &out->metrics);
	*vec_add(&out->shown.list) = &out->facts;
	*vec_add(&out->shown.list) = &out->run;
	*vec_add(&out->shown.list) = &out->events;
	*vec_add(&out->shown.list) = &out->metrics;
	stat_find_contradictions(&b, &out->found);
	stat_find_contradictions(&a, &out->found);
	if (out->found.silences.n > 0) {
		findings_table(&out->found, NULL, &out->findings);
		*vec_add(&out->shown.list) = &out->findings;
	}
	stat_release(&b);
	stat_release(&a);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What changed, as tables: the two runs, the conditions, then a table for each kind of measure. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "diff/diff.h"
#include "estimate/shares.h"
#include "table/answer.h"

/* A 95 % confidence interval reaches so many standard errors to either side. */
static const double deviations_95 = 1.96;

enum { MANY_TIMES = 10 }; /* from here on a change is told as a factor */

/* Constant headings of the tables of kinds. */
static const struct heading {
	const char *name, *title, *key_title;
} headings[N_MEASURE_KINDS] = {
	[MEASURE_TOTAL] = { "totals", "Totals", "total" },
	[MEASURE_METRIC] = { "metrics", "Metrics", "metric" },
	[MEASURE_EVENT] = { "events", "Events", "event" },
	[MEASURE_FUNCTION] = { "functions", "Functions", "function" },
	[MEASURE_LINE] = { "lines", "Source lines", "line" },
	[MEASURE_INSTRUCTION] = { "instructions", "Instructions", "instruction" },
	[MEASURE_SOURCE] = { "sources", "Data sources", "source" },
	[MEASURE_SHARED] = { "shared", "Contended cache lines", "data" },
	[MEASURE_CYCLES] = { "cycles", "Cycle accounting", "node" },
	[MEASURE_REGION] = { "regions", "Regions", "region" },
};

enum run_column { RUN_NAME, RUN_FILE, RUN_CPU, RUN_TIME, RUN_COMMAND, N_RUN_COLUMNS };

static const struct column run_columns[N_RUN_COLUMNS] = {
	[RUN_NAME] = { "run", "", "", CELL_TEXT, 0, "a is what it was, b what it is" },
	[RUN_FILE] = { "file", NULL, "", CELL_TEXT, COLUMN_PATH, "where it is from" },
	[RUN_CPU] = { "cpu", NULL, "", CELL_TEXT, 0, "that it ran on" },
	[RUN_TIME] = { "elapsed_ns", "time", "ns", CELL_COUNT, 0, "from its start to its end" },
	[RUN_COMMAND] = { "command", NULL, "", CELL_TEXT, COLUMN_GROW, "that ran" },
};

enum row_column {
	ROW_EVENT,
	ROW_NAME,
	ROW_MODULE,
	ROW_UNIT,
	ROW_A,
	ROW_B,
	ROW_CHANGE,
	ROW_A_WORDS,
	ROW_B_WORDS,
	ROW_CHANGE_WORDS,
	ROW_SHARE,
	ROW_ERROR,
	ROW_INTERVAL,
	ROW_CERTAINTY,
	ROW_A_SAMPLES,
	ROW_B_SAMPLES,
	ROW_A_FULL,
	ROW_B_FULL,
	N_ROW_COLUMNS,
};

static const struct column row_columns[N_ROW_COLUMNS] = {
	[ROW_EVENT] = { "event", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "that was sampled" },
	[ROW_NAME] = { "name", NULL, "", CELL_TEXT, COLUMN_GROW, "of what is compared" },
	[ROW_MODULE] = { "module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "that it is in" },
	[ROW_UNIT] = { "unit", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "of a, b and change" },
	[ROW_A] = { "a", NULL, "", CELL_NUMBER, COLUMN_TRUST, "what it was; absent: not there" },
	[ROW_B] = { "b", NULL, "", CELL_NUMBER, COLUMN_TRUST, "what it is; absent: not there" },
	[ROW_CHANGE] = { "change", NULL, "", CELL_NUMBER, COLUMN_TRUST,
			 "b - a; absent: not known" },
	/*
	 * Only metrics need the two columns: their values differ in size, so each has its own
	 * number of decimals.
	 */
	[ROW_A_WORDS] = { "a_words", "         a", "", CELL_TEXT, COLUMN_TEXT_ONLY, "what it was" },
	[ROW_B_WORDS] = { "b_words", "         b", "", CELL_TEXT, COLUMN_TEXT_ONLY, "what it is" },
	[ROW_CHANGE_WORDS] = { "change_words", "    change", "", CELL_TEXT, COLUMN_TEXT_ONLY,
			       "b - a" },
	[ROW_SHARE] = { "change_share", "", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			"the change as a part of a" },
	[ROW_ERROR] = { "error", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			"standard error of the change; absent: not known" },
	[ROW_INTERVAL] = { "interval", "\xc2\xb1 (95 %)", "", CELL_NUMBER, COLUMN_TEXT_ONLY,
			   "so far the change may be off, 19 times out of 20" },
	[ROW_CERTAINTY] = { "certainty", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			    "certain: at 99 % for the whole table; noise: not significant; "
			    "unknown: nothing is known of the error; saturated: full latency "
			    "counters hide what changed" },
	[ROW_A_SAMPLES] = { "a_samples", NULL, "samples", CELL_COUNT, COLUMN_MACHINE_ONLY,
			    "that a rests on; absent: counted" },
	[ROW_B_SAMPLES] = { "b_samples", NULL, "samples", CELL_COUNT, COLUMN_MACHINE_ONLY,
			    "that b rests on; absent: counted" },
	[ROW_A_FULL] = { "a_full_share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			 "part of a that full latency counters show, which is at least that" },
	[ROW_B_FULL] = { "b_full_share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			 "the same of b" },
};

static const char *const certainty_words[] = {
	[DIFF_CERTAIN] = "certain",
	[DIFF_NOISE] = "noise",
	[DIFF_UNKNOWN] = "unknown",
	[DIFF_SATURATED] = "saturated",
};

/* Saturated counters that make up less than this part of a value do not mark it as a bound. */
static const double little = 0.01;

static struct cell text_or_absent(struct table *t, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return (struct cell){ 0 };
	return cell_text(table_text(t, text));
}

static void add_run_row(struct table *t, const char *name, const struct measures *m)
{
	struct cell *row = table_add_row(t);

	row[RUN_NAME] = cell_text(name);
	row[RUN_FILE] = text_or_absent(t, m->origin);
	row[RUN_CPU] = text_or_absent(t, m->cpu);
	if (m->elapsed_ns > 0)
		row[RUN_TIME] = cell_count(m->elapsed_ns);
	row[RUN_COMMAND] = text_or_absent(t, m->command);
}

static const char *const per_notes[N_DIFF_PER] = {
	[DIFF_PER_SECOND] = "costs are for a second of recorded time",
	[DIFF_PER_TOTAL] = "costs are shares of the event's total in each run",
};

/*
 * The first row of a kind and event that is certain, or the first one if `is_any`; NULL if there is
 * none.
 */
static const struct diff_row *first_row(const struct diff *d, enum measure_kind kind,
					const char *event, bool is_any)
{
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct diff_row *r = &d->rows.items[i];
		const struct measure *m = diff_measure(r);

		if (m->kind == kind && m->event[0] != '\0' &&
		    (event == NULL || strcmp(m->event, event) == 0) &&
		    (is_any || r->certainty == DIFF_CERTAIN))
			return r;
	}
	return NULL;
}

/* In which direction saturated counters may hide a part of the value. */
static enum cell_mark bound_of(const struct diff_row *r, double value, struct diff_range range)
{
	double times =
		r->certainty == DIFF_SATURATED ? 1 : 1 + little * (LATENCY_SATURATED_TIMES - 1);

	return mark_bound(range.high > value * times, range.low * times < value);
}

static enum cell_mark mark_of_a(const struct diff_row *r)
{
	return bound_of(r, r->from, r->from_range);
}

static enum cell_mark mark_of_b(const struct diff_row *r)
{
	return bound_of(r, r->to, r->to_range);
}

static bool may_be_more(enum cell_mark mark)
{
	return mark == MARK_SATURATED || mark == MARK_UNCERTAIN;
}

static bool may_be_less(enum cell_mark mark)
{
	return mark == MARK_AT_MOST || mark == MARK_UNCERTAIN;
}

static enum cell_mark mark_of(const struct diff_row *r)
{
	enum cell_mark a = mark_of_a(r), b = mark_of_b(r);

	if (r->certainty == DIFF_NOISE)
		return MARK_NOISE;
	if (diff_is_scaled(r))
		return MARK_SCALED;
	return mark_bound(may_be_more(b) || may_be_less(a), may_be_less(b) || may_be_more(a));
}

/* "+19.2 M cycles", "at least +19.2 M cycles" */
static const char *change_words(struct table *t, const struct diff_row *r)
{
	double change = r->to - r->from;
	enum cell_mark mark = mark_of(r);
	bool is_least = change > 0 ? mark == MARK_SATURATED : mark == MARK_AT_MOST;

	return table_format(t, "%s%s%s", is_least ? "at least " : "", change > 0 ? "+" : "",
			    table_human(t, cell_number(change), diff_measure(r)->unit));
}

/* "full counters hold 97.3 % of its latency cycles in a, 98.0 % in b" */
static const char *saturated_words(struct table *t, const struct diff_row *r)
{
	double a = 100 * diff_saturated_part(r->a), b = 100 * diff_saturated_part(r->b);

	if (r->a == NULL || r->b == NULL)
		return table_format(
			t, "saturated latencies have at least %.1f %% of its latency cycles",
			r->a == NULL ? b : a);
	return table_format(t,
			    "saturated latencies have at least %.1f %% of its latency cycles in a, "
			    "%.1f %% in b",
			    a, b);
}

/* How long the runs took: "time: b takes 56.9 % less than a, -289.9 us"; NULL: not known. */
static bool is_time(const struct measure *m)
{
	return m->kind == MEASURE_TOTAL && m->event[0] == '\0' && strcmp(m->name, "time") == 0;
}

static const char *time_words(const struct diff *d, struct table *t)
{
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct diff_row *r = &d->rows.items[i];
		const char *change;

		if (!is_time(diff_measure(r)) || r->from <= 0 || r->to <= 0)
			continue;
		if (r->to >= MANY_TIMES * r->from)
			change = table_format(t, "%s times as long as",
					      table_human(t, cell_number(r->to / r->from), ""));
		else
			change = table_format(t, "%.1f %% %s than", fabs(100 * diff_share(r)),
					      r->to > r->from ? "more" : "less");
		return table_format(
			t, "time: b takes %s a, %s%s", change, change_words(t, r),
			r->certainty == DIFF_UNKNOWN ? " (one run each: error not known)" : "");
	}
	return NULL;
}

/* Notes the answer in a few lines: the time, the total, the function that changed most. */
static void add_headline(const struct diff *d, struct table *t)
{
	const struct diff_row *total = first_row(d, MEASURE_TOTAL, NULL, true), *function;
	const char *event, *time = time_words(d, t);
	double share;
	bool is_spe;

	if (time != NULL)
		table_note(t, "%s", time);
	if (total == NULL || d->per == DIFF_PER_TOTAL || total->a == NULL || total->b == NULL)
		return;
	event = diff_measure(total)->event;
	share = diff_share(total);
	/* latencies overlap: their sum is not the run time */
	is_spe = strcmp(event, "arm_spe") == 0;
	function = first_row(d, MEASURE_FUNCTION, event, false);
	if (total->certainty == DIFF_CERTAIN && isfinite(share))
		table_note(t, "%s: %s %.1f %% %s%s, %s", event,
			   is_spe ? "summed latency of sampled operations (they overlap):"
				  : "b takes",
			   fabs(100 * share), share > 0 ? "more" : "less", is_spe ? "" : " than a",
			   change_words(t, total));
	else if (total->certainty == DIFF_SATURATED)
		table_note(t, "%s: summed latency cannot be compared: %s", event,
			   saturated_words(t, total));
	else
		table_note(t, "%s: the change of the total is not significant", event);
	if (function != NULL)
		table_note(t, "the largest change of a function: %s, %s",
			   diff_measure(function)->name, change_words(t, function));
}

static void make_runs(const struct diff *d, bool is_screen, struct table *t)
{
	table_init(t, "runs", NULL, run_columns, N_RUN_COLUMNS);
	add_run_row(t, "a", d->a);
	add_run_row(t, "b", d->b);
	if (!is_screen)
		add_headline(d, t);
	if (per_notes[d->per] != NULL)
		table_note(t, "%s", per_notes[d->per]);
	if (d->per != DIFF_PER_TOTAL && (d->a->is_unscaled || d->b->is_unscaled))
		table_note(t, "the SPE sampling interval is not known: costs are of the sampled "
			      "operations only; use --per total, or give --interval");
	if (d->a->cpu != NULL && d->b->cpu != NULL && strcmp(d->a->cpu, d->b->cpu) != 0)
		table_note(t, "the runs are of different CPUs");
	if (d->a->is_modelled != d->b->is_modelled)
		table_note(t, "run %s is modelled, the other one measured",
			   d->a->is_modelled ? "a" : "b");
}

static struct cell number_or_absent(double value, enum cell_mark mark)
{
	if (!isfinite(value))
		return (struct cell){ 0 };
	return cell_marked(cell_number(value), mark);
}

/* A number in words: metrics with four significant digits, costs with a unit, as in "4.11 ms". */
static struct cell words_or_absent(struct table *t, const struct measure *m, struct cell number,
				   double value)
{
	if (m->kind != MEASURE_METRIC)
		return cell_text(number.type == CELL_NONE ? "-" : table_human(t, number, m->unit));
	return cell_text(number.type == CELL_NONE ? table_format(t, "%10s", "-")
						  : table_significant(t, value));
}

/* The same with the mark of the number. */
static struct cell marked_words(struct table *t, const struct measure *m, struct cell number,
				double value)
{
	return cell_marked(words_or_absent(t, m, number, value), number.mark);
}

/* Fills the cells of the change; they stay empty if saturated counters hide it. */
static void show_change(struct table *t, const struct diff_row *r, struct cell *row)
{
	double change = r->certainty == DIFF_SATURATED ? NAN : r->to - r->from;
	double error = r->certainty == DIFF_SATURATED ? NAN : r->error;

	row[ROW_CHANGE] = number_or_absent(change, mark_of(r));
	row[ROW_CHANGE_WORDS] = words_or_absent(t, diff_measure(r), row[ROW_CHANGE], change);
	row[ROW_ERROR] = number_or_absent(error, MARK_EXACT);
	row[ROW_INTERVAL] = number_or_absent(deviations_95 * error, MARK_EXACT);
	if (r->certainty != DIFF_SATURATED)
		row[ROW_SHARE] = number_or_absent(diff_share(r), mark_of(r));
}

static void show_saturated(const struct measure *m, struct cell *row)
{
	if (m != NULL && m->n_saturated > 0)
		*row = cell_number(diff_saturated_part(m));
}

static void add_change_row(struct table *t, const struct diff_row *r)
{
	const struct measure *m = diff_measure(r);
	struct cell *row = table_add_row(t);

	row[ROW_EVENT] = text_or_absent(t, m->event);
	row[ROW_NAME] = cell_text(table_text(t, diff_row_name(r)));
	row[ROW_MODULE] = text_or_absent(t, m->module);
	row[ROW_UNIT] = text_or_absent(t, m->unit);
	if (r->a != NULL)
		row[ROW_A] = number_or_absent(r->from, mark_of_a(r));
	if (r->b != NULL)
		row[ROW_B] = number_or_absent(r->to, mark_of_b(r));
	row[ROW_A_WORDS] = marked_words(t, m, row[ROW_A], r->from);
	row[ROW_B_WORDS] = marked_words(t, m, row[ROW_B], r->to);
	show_change(t, r, row);
	show_saturated(r->a, &row[ROW_A_FULL]);
	show_saturated(r->b, &row[ROW_B_FULL]);
	row[ROW_CERTAINTY] = cell_text(certainty_words[r->certainty]);
	if (r->a != NULL && r->a->samples > 0)
		row[ROW_A_SAMPLES] = cell_count(r->a->samples);
	if (r->b != NULL && r->b->samples > 0)
		row[ROW_B_SAMPLES] = cell_count(r->b->samples);
}

/* The unit that all measures of a kind share, to be shown in the headings; NULL if they differ. */
static const char *common_unit(const struct diff *d, enum measure_kind kind)
{
	const char *unit = NULL;

	for (size_t i = 0; i < d->rows.n; i++) {
		const struct measure *m = diff_measure(&d->rows.items[i]);

		if (m->kind != kind)
			continue;
		if (unit != NULL && strcmp(unit, m->unit) != 0)
			return NULL;
		unit = m->unit;
	}
	return d->per == DIFF_PER_TOTAL && kind != MEASURE_TOTAL ? "" : unit;
}

/* Notes how many rows saturated counters hide, with the first of them. */
static void note_saturated(const struct diff_row *first, size_t n_hidden, size_t n, struct table *t)
{
	table_note(t, "%zu of %zu cannot be compared; %s: %s", n_hidden, n, diff_row_name(first),
		   saturated_words(t, first));
	if (diff_measure(first)->kind == MEASURE_FUNCTION)
		table_note(t,
			   "cyclops mem --region %s of each run derives the latency of its loads "
			   "from time",
			   diff_measure(first)->name);
}

static void note_changes(const struct diff *d, enum measure_kind kind, size_t cut, struct table *t)
{
	size_t n = 0, n_by_certainty[N_DIFF_CERTAINTIES] = { 0 };
	const struct diff_row *first_hidden = NULL;

	for (size_t i = 0; i < d->rows.n; i++) {
		const struct diff_row *row = &d->rows.items[i];

		if (diff_measure(row)->kind != kind)
			continue;
		n++;
		n_by_certainty[row->certainty]++;
		if (first_hidden == NULL && row->certainty == DIFF_SATURATED)
			first_hidden = row;
	}
	if (kind == MEASURE_TOTAL && first_row(d, MEASURE_TOTAL, "arm_spe", true) != NULL)
		table_note(t, "arm_spe: summed latency of sampled operations; they overlap");
	if (kind != MEASURE_TOTAL && n > n_by_certainty[DIFF_UNKNOWN])
		table_note(t, "%zu of %zu changes %s significant (over all rows)",
			   n_by_certainty[DIFF_CERTAIN], n - n_by_certainty[DIFF_UNKNOWN],
			   n_by_certainty[DIFF_CERTAIN] == 1 ? "is" : "are");
	if (kind != MEASURE_TOTAL && n_by_certainty[DIFF_UNKNOWN] > 0)
		table_note(t,
			   "the error of %zu of %zu changes is not known: repeat the counting "
			   "(cyclops stat --repeat)",
			   n_by_certainty[DIFF_UNKNOWN], n);
	if (first_hidden != NULL && (kind != MEASURE_TOTAL || d->per == DIFF_PER_TOTAL))
		note_saturated(first_hidden, n_by_certainty[DIFF_SATURATED], n, t);
	if (cut > 0)
		table_note(t, "%zu more; --all shows them", cut);
}

/* The columns of a kind: the heading of its names, units, and shares instead of costs. */
static struct column *columns_of(const struct diff *d, enum measure_kind kind, struct table *t)
{
	struct column *columns = arena_alloc(&t->memory, sizeof(row_columns));
	const char *unit = common_unit(d, kind);

	memcpy(columns, row_columns, sizeof(row_columns));
	columns[ROW_NAME].title = headings[kind].key_title;
	if (kind == MEASURE_METRIC && unit == NULL)
		columns[ROW_UNIT].flags = 0;
	for (int i = 0; i < 3; i++) { /* text shows the number or the words, not both */
		bool has_words = kind == MEASURE_METRIC || unit == NULL;

		columns[(has_words ? ROW_A : ROW_A_WORDS) + i].flags |= COLUMN_MACHINE_ONLY;
		if (kind != MEASURE_METRIC)
			columns[ROW_A_WORDS + i].title = row_columns[ROW_A + i].title != NULL
								 ? row_columns[ROW_A + i].title
								 : row_columns[ROW_A + i].name;
	}
	for (int i = ROW_A; i <= ROW_INTERVAL; i++) {
		if (i == ROW_SHARE || columns[i].type == CELL_TEXT)
			continue;
		if (unit != NULL)
			columns[i].unit = arena_strndup(&t->memory, unit, strlen(unit));
		if (d->per == DIFF_PER_TOTAL && kind >= MEASURE_FUNCTION)
			columns[i].flags |= COLUMN_SHARE;
	}
	return columns;
}

/* Do rows of several modules have one name? */
static bool has_same_names(const struct table *t)
{
	struct strings names;
	bool has_same = false;

	strings_init(&names);
	for (size_t i = 0; i < table_n_rows(t) && !has_same; i++) {
		size_t n = names.texts.n;

		has_same = strings_addz(&names, table_cell(t, i, ROW_NAME)->text).v < n;
	}
	strings_release(&names);
	return has_same;
}

static void make_kind(const struct diff *d, enum measure_kind kind, size_t top, struct table *t)
{
	struct column *columns;
	size_t cut = 0;

	table_init(t, headings[kind].name, headings[kind].title, row_columns, N_ROW_COLUMNS);
	columns = columns_of(d, kind, t);
	t->columns = columns;
	for (size_t i = 0; i < d->rows.n; i++)
		if (diff_measure(&d->rows.items[i])->kind == kind)
			add_change_row(t, &d->rows.items[i]);
	if (top > 0)
		cut = table_keep_top(t, top);
	if (kind == MEASURE_FUNCTION && has_same_names(t))
		columns[ROW_MODULE].flags = COLUMN_GROW;
	note_changes(d, kind, cut, t);
}

/* Is the limit for the relative change, and is there one? */
static bool is_relative(const struct diff_gate *g, const struct diff_row *r)
{
	return g->condition.unit == CONDITION_PERCENT && isfinite(diff_share(r));
}

/* The change as the condition gives its limit: relative or absolute. */
static const char *gate_words(struct table *t, const struct diff_gate *g, const struct diff_row *r)
{
	if (is_relative(g, r))
		return table_format(t, "%+.1f %%", 100 * diff_share(r));
	return r->a == NULL ? table_format(t, "new, %s", change_words(t, r)) : change_words(t, r);
}

static const char *limit_words(struct table *t, const struct condition *c)
{
	switch (c->unit) {
	case CONDITION_PERCENT:
		return table_format(t, "%+g %%", 100 * c->limit);
	case CONDITION_TIME:
		return table_format(t, "%s%s", c->limit < 0 ? "-" : "+",
				    table_human(t, cell_number(fabs(c->limit)), "ns"));
	default:
		return table_format(t, "%+g", c->limit);
	}
}

/* How far the change may be off, as the limit is given; NULL: not known. */
static const char *error_words(struct table *t, const struct diff_gate *g, const struct diff_row *r)
{
	double error = deviations_95 * r->error;

	if (!isfinite(error) || error == 0)
		return NULL;
	if (is_relative(g, r))
		return table_format(t, "%.1f %%", 100 * error / fabs(r->from));
	return table_human(t, cell_number(error), diff_measure(r)->unit);
}

/* What the result rests on. */
static enum gate_certainty certainty_of(const struct diff_gate *g,
					const struct diff_gate_result *result)
{
	const struct diff_row *worst = result->worst;
	double change, error;

	if (result->n_tripped == 0 && result->undecided != NULL)
		return GATE_UNDECIDED;
	if (worst->certainty == DIFF_UNKNOWN)
		return GATE_UNKNOWN;
	if (worst->certainty == DIFF_NOISE && result->n_met > 0)
		return GATE_NOISE;
	change = is_relative(g, worst) ? diff_share(worst) : worst->to - worst->from;
	error = deviations_95 * worst->error / (is_relative(g, worst) ? fabs(worst->from) : 1);
	return fabs(change - g->condition.limit) <= error ? GATE_WITHIN : GATE_CERTAIN;
}

/* The same in words; NULL: nothing to add. */
static const char *gate_remark(struct table *t, enum gate_certainty certainty,
			       const struct diff_row *r)
{
	switch (certainty) {
	case GATE_UNDECIDED:
		return table_format(t, "undecided, which counts as failed: %s: %s",
				    diff_row_name(r), saturated_words(t, r));
	case GATE_UNKNOWN:
		return table_format(t, "error not known: %s",
				    diff_is_scaled(r) ? "counted for only a part of the run"
						      : "one run each");
	case GATE_NOISE:
		return "not significant";
	case GATE_WITHIN:
		return "the limit is within the error, the measured value decides";
	default:
		return NULL;
	}
}

/* A condition may be about several measures: the line is about the one that decides. */
static int add_gate(const struct diff *d, const struct diff_gate *g, struct gates *results,
		    struct err *err)
{
	bool is_part = g->condition.unit == CONDITION_PERCENT;
	struct table *t = &results->table;
	struct diff_gate_result result;
	struct gate_line line = { 0 };
	const struct diff_row *r;
	const char *name;
	double error;

	if (diff_gate_check(g, d, &result, err) < 0)
		return -1;
	line.verdict.certainty = certainty_of(g, &result);
	line.verdict.is_failed = result.n_tripped + result.n_undecided > 0;
	r = line.verdict.certainty == GATE_UNDECIDED ? result.undecided : result.worst;
	name = diff_row_name(r);
	if (strncasecmp(name, g->name, g->name_size) != 0 || name[g->name_size] != '\0')
		line.measure = table_text(t, name);
	line.measured = gate_words(t, g, r);
	line.error = error_words(t, g, r);
	line.limit = limit_words(t, &g->condition);
	line.remark = gate_remark(t, line.verdict.certainty, r);
	line.value = is_part ? diff_share(r) : r->to - r->from;
	error = deviations_95 * r->error / (is_part ? fabs(r->from) : 1);
	line.low = line.value - error;
	line.high = line.value + error;
	gates_add_line(results, &g->condition, &line);
	return 0;
}

/* Are there rows of this kind? "Nothing is shared" in both runs is not shown. */
static bool is_worth_showing(const struct diff *d, enum measure_kind kind)
{
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct diff_row *r = &d->rows.items[i];

		if (diff_measure(r)->kind == kind &&
		    (kind != MEASURE_SHARED || r->from != 0 || r->to != 0))
			return true;
	}
	return false;
}

/* The time, how many changes are significant, and the first one of a function, or else of the tables below. */
static void say_changes(const struct diff *d, struct table *answer)
{
	const struct diff_row *first = NULL, *total = first_row(d, MEASURE_TOTAL, NULL, true),
			      *function;
	const char *time = time_words(d, answer);
	size_t n = 0, n_certain = 0;
	bool has_in_common = false;

	for (int kind = 0; kind < N_MEASURE_KINDS; kind++)
		for (size_t i = 0; i < d->rows.n; i++) {
			const struct diff_row *r = &d->rows.items[i];

			has_in_common |= r->a != NULL && r->b != NULL && !is_time(diff_measure(r));
			if (diff_measure(r)->kind != (enum measure_kind)kind ||
			    r->certainty == DIFF_UNKNOWN)
				continue;
			n++;
			n_certain += r->certainty == DIFF_CERTAIN;
			if (first == NULL && r->certainty == DIFF_CERTAIN)
				first = r;
		}
	if (time != NULL)
		answer_say_sentence(answer, time);
	if (!has_in_common) {
		answer_say(answer, "Nothing else compares: a and b have no event in common.");
		return;
	}
	if (n == 0)
		return;
	function = total != NULL ? first_row(d, MEASURE_FUNCTION, diff_measure(total)->event, false)
				 : NULL;
	if (function != NULL && function->certainty == DIFF_CERTAIN)
		first = function;
	if (total != NULL && d->per != DIFF_PER_TOTAL && total->certainty == DIFF_SATURATED)
		answer_say(answer, "The sums of latency cannot be compared: %s.",
			   saturated_words(answer, total));
	if (first == NULL)
		answer_say(answer, "No change is significant, of %zu.", n);
	else
		answer_say(answer, "%zu of %zu changes %s significant. %s: %s, %s.", n_certain, n,
			   n_certain == 1 ? "is" : "are",
			   first == function ? "The largest of a function" : "The first",
			   diff_row_name(first), change_words(answer, first));
}

int diff_tables(const struct diff *d, const struct diff_gate *gates, size_t n_gates, size_t top,
		struct diff_tables *out, struct gates *results, struct err *err)
{
	make_runs(d, out->is_for_screen, &out->runs);
	for (int kind = 0; kind < N_MEASURE_KINDS; kind++)
		make_kind(d, (enum measure_kind)kind, top, &out->kinds[kind]);
	answer_init(&out->answer);
	say_changes(d, &out->answer);
	*vec_add(&out->shown.list) = &out->answer;
	*vec_add(&out->shown.list) = &out->runs;
	for (size_t i = 0; i < n_gates; i++)
		if (add_gate(d, &gates[i], results, err) < 0)
			return -1;
	if (n_gates > 0)
		*vec_add(&out->shown.list) = &results->table;
	for (int kind = 0; kind < N_MEASURE_KINDS; kind++)
		if (is_worth_showing(d, (enum measure_kind)kind))
			*vec_add(&out->shown.list) = &out->kinds[kind];
	return 0;
}

void diff_tables_release(struct diff_tables *t)
{
	table_release(&t->answer);
	table_release(&t->runs);
	for (int kind = 0; kind < N_MEASURE_KINDS; kind++)
		table_release(&t->kinds[kind]);
	vec_release(&t->shown.list);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include "stat/ticks.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"
#include "metrics/name_list.h"
#include "stat/tables.h"

static const struct column line_columns[] = {
	{ "end", "", "", CELL_TEXT, 0, "end of the interval, from the start" },
	{ "counted", "", "", CELL_TEXT, COLUMN_GROW, "text" },
};

/* A line being put together. */
struct line {
	struct table *out;
	struct text text;
};

int stat_ticks_init(struct stat_ticks *t, const struct catalog *catalog, const char *cpu_name,
		    const struct counts *first, const struct stat_options *options, struct err *err)
{
	*t = (struct stat_ticks){ .options = options };
	stat_counts_init(&t->counts);
	stat_intervals_init(&t->intervals);
	table_init(&t->lines, "lines", NULL, line_columns, COUNT(line_columns));
	t->lines.style = TABLE_FACTS;
	return stat_types_open(catalog, cpu_name, first, &t->types, err);
}

void stat_ticks_release(struct stat_ticks *t)
{
	table_release(&t->counts);
	table_release(&t->intervals);
	table_release(&t->lines);
	stat_types_release(&t->types);
}

/* As the text format marks numbers. */
static const char *sign_of(enum cell_mark mark)
{
	static const char *const signs[] = {
		[MARK_SCALED] = "~", [MARK_SPARSE] = "?", [MARK_SATURATED] = "+"
	};

	return (size_t)mark < COUNT(signs) && signs[mark] != NULL ? signs[mark] : "";
}

/* "1.24 ms task-clock", "36.8 G~ CPU_CYCLES" */
static void put_count(struct line *l, const struct stat_total *total, double least_coverage)
{
	bool has_unit = total->unit != NULL;

	text_part(&l->text);
	if (total->state != COUNT_COUNTED) {
		text_format(&l->text, "%s not counted", total->event);
		return;
	}
	text_str(&l->text, table_human(l->out, stat_count_cell(round(total->value)),
				       has_unit ? total->unit : total->event));
	if (has_unit)
		text_format(&l->text, " %s", total->event);
	text_str(&l->text, sign_of(stat_total_mark(total, least_coverage)));
}

/* "IPC 0.83", "back end stalled 40.2 %", "l1d_cache_mpki 3.4 MPKI" */
static void stat_ticks_put_metric(struct line *l, const struct cpu_metric *m,
				  const struct stat_value *v)
{
	if (!v->is_known)
		return;
	text_part(&l->text);
	if (strcasecmp(m->name, "ipc") == 0)
		text_format(&l->text, "IPC %.2f", v->value);
	else if (metric_whole(m)[0] != '\0')
		text_format(&l->text, "%s %.1f %% of %s", metric_node_words(l->out, m), v->value,
			    metric_whole(m));
	else
		text_format(&l->text, "%s %.4g %s", m->name, v->value, m->unit);
	text_str(&l->text, sign_of(v->mark));
}

static int look_for(void *context, const char *name)
{
	return strcasecmp(context, name) == 0 ? -1 : 0;
}

/* Is the event worth its place in the line: asked for, or nobody's metric? */
static bool stat_ticks_is_shown(const struct stat *s, const char *event)
{
	union {
		const char *in;
		void *out;
	} name = { .in = event };

	return cpu_event_find(s->pmu, event) == NULL ||
	       stat_each_name(s->options->events, look_for, name.out) < 0;
}

static bool is_metric_shown(const struct stat *s, const struct cpu_metric *m)
{
	const struct stat_options *o = s->options;

	if (o->all || stat_names_have(s->pmu, o->groups, o->metrics, m))
		return true;
	if (o->events != NULL && o->groups == NULL && o->metrics == NULL)
		return false;
	if (strcasecmp(m->name, "ipc") == 0)
		return true;
	for (size_t i = 0; i < s->roots->n && o->groups == NULL && o->metrics == NULL; i++)
		if (s->roots->items[i] == m)
			return true;
	return false;
}

static bool is_same_place(const struct count *a, const struct count *b)
{
	return a->cpu == b->cpu && a->tid == b->tid &&
	       strcmp(a->where != NULL ? a->where : "", b->where != NULL ? b->where : "") == 0;
}

/* "CPU 3: ", "thread 4711 worker: ", "armv8_cortex_a53: " */
static const char *place_words(struct table *t, const struct count *c, const char *pmu)
{
	struct text text = { 0 };

	if (c->cpu >= 0)
		text_format(&text, "CPU %d ", c->cpu);
	if (c->tid >= 0)
		text_format(&text, "thread %d ", c->tid);
	if (c->where != NULL)
		text_format(&text, "%s ", c->where);
	if (pmu != NULL)
		text_format(&text, "%s ", pmu);
	if (text.n > 0)
		text.bytes[text.n - 1] = ':';
	text_str(&text, text.n > 0 ? " " : "");
	return table_take_text(t, &text);
}

/* The counts of one place; those of no core are told with the first type alone. */
static void stat_ticks_add_line(struct stat_ticks *t, const struct stat *s,
				const struct stat_totals *totals, const struct count *first,
				const char *pmu, bool is_first_type)
{
	struct line l = { .out = &t->lines };
	uint64_t end_ns = s->counts->intervals.items[0].end_ns;
	struct cell *row;

	for (size_t i = 0; i < totals->list.n; i++) {
		const struct stat_total *total = &totals->list.items[i];
		bool is_core = cpu_event_find(s->pmu, total->event) != NULL;

		if (total->occurrence == 0 && (is_core || is_first_type) &&
		    stat_ticks_is_shown(s, total->event))
			put_count(&l, stat_totals_find(totals, total->event), s->least_coverage);
	}
	for (size_t i = 0; i < s->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &s->pmu->metrics[i];
		struct stat_value v;

		if (!is_metric_shown(s, m))
			continue;
		v = stat_evaluate(m, totals, s->slots, s->least_coverage);
		stat_ticks_put_metric(&l, m, &v);
	}
	if (l.text.n > 0) {
		text_char(&l.text, '\0');
		row = table_add_row(&t->lines);
		row[0] = cell_text(table_format(&t->lines, "%.3f s", (double)end_ns / 1e9));
		row[1] = cell_text(table_format(&t->lines, "%s%s",
						place_words(&t->lines, first, pmu), l.text.bytes));
	}
	text_release(&l.text);
}

static void take_type(struct stat_ticks *t, const struct stat_type *type,
		      const struct counts *counts, bool is_first_type)
{
	const struct count *items = counts->items.items;
	struct stat s;

	stat_init(&s, type->facts, counts, t->options);
	stat_intervals_add(&s, &s.totals, counts->intervals.items[0].end_ns, type->pmu,
			   &t->intervals);
	for (size_t first = 0, end = 0; first < counts->items.n; first = end) {
		struct stat_totals totals;

		while (end < counts->items.n && is_same_place(&items[first], &items[end]))
			end++;
		stat_totals_init(&totals, items + first, end - first);
		stat_ticks_add_line(t, &s, &totals, &items[first], type->pmu, is_first_type);
		stat_totals_release(&totals);
	}
	stat_release(&s);
}

void stat_ticks_take(struct stat_ticks *t, const struct counts *counts)
{
	table_reset(&t->counts);
	table_reset(&t->intervals);
	table_reset(&t->lines);
	stat_counts_add(counts, &t->counts);
	for (size_t i = 0; i < t->types.list.n; i++) {
		const struct stat_type *type = &t->types.list.items[i];
		struct counts its = { 0 };

		if (type->pmu == NULL) {
			take_type(t, type, counts, true);
			continue;
		}
		stat_counts_of_pmu(counts, type->pmu, &its);
		take_type(t, type, &its, i == 0);
		counts_release(&its);
	}
}

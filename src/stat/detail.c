/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics for people: groups that explain what the walk found, or that were asked for. A rate and
 * a ratio of the same thing ("l1d_cache_mpki", "l1d_cache_miss_ratio") share a line.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "metrics/name_list.h"
#include "stat/tables.h"

enum column_index {
	GROUP,
	WHAT,
	RATE,
	SHARE,
	VALUE,
	UNIT,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[GROUP] = { "group", "", "", CELL_TEXT, 0, "group of the metric" },
	[WHAT] = { "what", "", "", CELL_TEXT, COLUMN_GROW, "metric" },
	[RATE] = { "per_1000", "PKI", "", CELL_NUMBER, 0, "rate" },
	[SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE, "ratio or percentage" },
	[VALUE] = { "value", NULL, "", CELL_NUMBER, 0, "values that are neither" },
	[UNIT] = { "unit", "of", "", CELL_TEXT, COLUMN_GROW, "what the share or value is of" },
};

/* Lines being gathered: each metric once. */
struct detail {
	const struct stat *s;
	struct table *out;
	const char *group; /* to be said in its first row; NULL: said, or none */
	bool *is_done;	   /* by metric */
	size_t n_missing;
	size_t n_above, n_above_scaled; /* shares that show more than all */
	bool shows_missing;
	struct err *err;
};

enum { PER_THOUSAND = 1000, PERCENT = 100 };

/* Up to here a share reads as 100.0 %. */
#define SHOWN_AS_ALL 1.0005

static bool is_ratio(const struct cpu_metric *m)
{
	return m->scale == PERCENT || strstr(m->name, "_ratio") != NULL;
}

/* Length of the name without what tells the ways of saying it apart. */
static size_t stem_length(const char *name)
{
	static const char *const ends[] = { "_miss_ratio", "_misprediction_ratio", "_walk_ratio",
					    "_ratio", "_mpki" };
	size_t len = strlen(name);

	for (size_t i = 0; i < COUNT(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strcmp(name + len - end, ends[i]) == 0)
			return len - end;
	}
	return 0;
}

static bool is_same_thing(const struct cpu_metric *a, const struct cpu_metric *b)
{
	size_t len = stem_length(a->name);

	return len > 0 && len == stem_length(b->name) && strncmp(a->name, b->name, len) == 0;
}

/* The ratio that belongs to a rate, in the same group; NULL if there is none or it is done. */
static const struct cpu_metric *partner(const struct detail *d, const struct metric_list *list,
					const struct cpu_metric *rate)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct cpu_metric *m = list->items[i];

		if (m != rate && is_ratio(m) && is_same_thing(m, rate) &&
		    !d->is_done[m - d->s->pmu->metrics] && stat_value_of(d->s, m)->is_known)
			return m;
	}
	return NULL;
}

/* The label without what the heading says. */
static const char *label_of(struct table *t, const struct cpu_metric *m)
{
	static const char tail[] = " per 1000 instructions";
	size_t len = strlen(m->label), end = sizeof(tail) - 1;

	if (m->scale == PER_THOUSAND && len > end && strcmp(m->label + len - end, tail) == 0)
		return table_format(t, "%.*s", (int)(len - end), m->label);
	return table_text(t, m->label);
}

/* "percent of operations" and "per cache access" as "operations" and "cache access". */
static const char *unit_of(const struct cpu_metric *m)
{
	const char *whole = metric_whole(m);

	if (whole[0] != '\0')
		return whole;
	return is_ratio(m) && strncmp(m->unit, "per ", 4) == 0 ? m->unit + 4 : m->unit;
}

static void stat_detail_put_value(struct detail *d, const struct cpu_metric *m, struct cell *row)
{
	const struct stat_value *v = stat_value_of(d->s, m);
	double factor = m->scale == PERCENT ? PERCENT : 1;

	d->is_done[m - d->s->pmu->metrics] = true;
	if (m->scale == PER_THOUSAND) {
		row[RATE] = cell_marked(cell_number(v->value), v->mark);
		return;
	}
	if (is_ratio(m) && v->value / factor > SHOWN_AS_ALL) {
		d->n_above++;
		d->n_above_scaled += v->mark == MARK_SCALED || v->mark == MARK_SPARSE;
	}
	row[is_ratio(m) ? SHARE : VALUE] = cell_marked(cell_number(v->value / factor), v->mark);
	row[UNIT] = cell_text(unit_of(m));
}

static struct cell *stat_detail_add_row(struct detail *d)
{
	struct cell *row = table_add_row(d->out);

	if (d->group != NULL)
		row[GROUP] = cell_text(d->group);
	d->group = NULL;
	return row;
}

static void put_missing(struct detail *d, const struct cpu_metric *m)
{
	d->is_done[m - d->s->pmu->metrics] = true;
	d->n_missing++;
	if (d->shows_missing)
		stat_detail_add_row(d)[WHAT] = cell_text(table_format(
			d->out, "%s lacks %s", m->name, stat_value_of(d->s, m)->lacks));
}

static void stat_detail_put_metric(struct detail *d, const struct metric_list *list,
				   const struct cpu_metric *m)
{
	const struct cpu_metric *other;
	struct cell *row;

	if (d->is_done[m - d->s->pmu->metrics])
		return;
	if (!stat_value_of(d->s, m)->is_known) {
		put_missing(d, m);
		return;
	}
	row = stat_detail_add_row(d);
	row[WHAT] = cell_text(label_of(d->out, m));
	stat_detail_put_value(d, m, row);
	other = m->scale == PER_THOUSAND ? partner(d, list, m) : NULL;
	if (other != NULL)
		stat_detail_put_value(d, other, row);
}

/* "L1D Cache" for "L1D Cache Effectiveness". */
static const char *heading_of(struct table *t, const struct cpu_group *group)
{
	static const char tail[] = " Effectiveness";
	size_t len = strlen(group->label), end = sizeof(tail) - 1;

	if (len > end && strcmp(group->label + len - end, tail) == 0)
		len -= end;
	return table_format(t, "%.*s", (int)len, group->label);
}

/* Rates first, so that they find their ratios. */
static void put_group(struct detail *d, const struct cpu_group *group)
{
	const struct metric_list *list = &group->metrics;

	d->group = heading_of(d->out, group);
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i]->scale == PER_THOUSAND)
			stat_detail_put_metric(d, list, list->items[i]);
	for (size_t i = 0; i < list->n; i++)
		stat_detail_put_metric(d, list, list->items[i]);
	d->group = NULL;
}

static int put_group_named(void *context, const char *name)
{
	struct detail *d = context;
	const struct cpu_group *group = stat_group(d->s->pmu, name, d->err);

	if (group == NULL)
		return -1;
	put_group(d, group);
	return 0;
}

static int put_metric_named(void *context, const char *name)
{
	struct detail *d = context;
	const struct cpu_metric *metric = stat_metric(d->s->pmu, name, d->err);
	const struct metric_list none = { 0 };

	if (metric == NULL)
		return -1;
	stat_detail_put_metric(d, &none, metric);
	return 0;
}

/* Everything there is: without a tree, or without the counts for its roots. */
static void put_all(struct detail *d)
{
	const struct metric_list none = { 0 };

	for (size_t i = 0; i < d->s->pmu->n_groups; i++) {
		const struct cpu_group *g = &d->s->pmu->groups[i];

		/* These repeat by kind what others have by subject. */
		if (strcmp(g->name, "MPKI") != 0 && strcmp(g->name, "Miss_Ratio") != 0)
			put_group(d, g);
	}
	for (size_t i = 0; i < d->s->pmu->n_metrics; i++)
		stat_detail_put_metric(d, &none, &d->s->pmu->metrics[i]);
}

static void put_method(struct detail *d)
{
	/* The nodes are in the picture already. */
	for (size_t i = 0; i < d->s->steps.n; i++)
		d->is_done[d->s->steps.items[i].metric - d->s->pmu->metrics] = true;
	if (!stat_has_picture(d->s)) {
		put_all(d);
		return;
	}
	for (size_t i = 0; i < d->s->groups.n; i++)
		put_group(d, d->s->groups.items[i]);
	if (d->n_missing > 0)
		table_note(d->out,
			   "%zu metric%s of these groups were not counted; --all names them",
			   d->n_missing, plural(d->n_missing));
}

/* A hit rate over 100 % looks like a fault of the tool, if nothing is said. */
static void note_above(struct detail *d)
{
	if (d->n_above == 0)
		return;
	table_note(d->out,
		   "above 100 %%: one event is not a part of the other; prefetches, page walks and "
		   "mispredicted paths are in only one of them%s",
		   d->n_above_scaled == 0 ? ""
		   : d->n_above_scaled < d->n_above
			   ? "; values with ~ were also scaled up from different times"
			   : "; these values were also scaled up from different times");
}

int stat_detail_table(const struct stat *s, struct table *out, struct err *err)
{
	const struct stat_options *o = s->options;
	struct detail d = { .s = s, .out = out, .err = err };
	int rc = 0;

	table_init(out, "detail", "Explaining metrics", columns, COUNT(columns));
	d.is_done = mem_zalloc(s->pmu->n_metrics + 1, sizeof(*d.is_done));
	d.shows_missing = (o->all && !o->as_rates) || o->groups != NULL || o->metrics != NULL;
	if (stat_each_name(o->groups, put_group_named, &d) < 0 ||
	    stat_each_name(o->metrics, put_metric_named, &d) < 0)
		rc = -1;
	else if (o->all)
		put_all(&d);
	else if (o->groups == NULL && o->metrics == NULL && o->events == NULL)
		put_method(&d);
	note_above(&d);
	free(d.is_done);
	return rc;
}

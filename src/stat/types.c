/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/types.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cpu/event_name.h"
#include "metrics/cpu_choice.h"
#include "metrics/inside.h"

/* The PMU of a count, copied to `out`; "" if none is told. */
static void pmu_of(const struct count *c, struct event_name *out)
{
	event_name_split(c->event, out);
	if (c->pmu != NULL)
		snprintf(out->pmu, sizeof(out->pmu), "%s", c->pmu);
}

static void add_type(struct stat_types *types, const char *pmu)
{
	for (size_t i = 0; i < types->list.n; i++)
		if (strcmp(types->list.items[i].pmu, pmu) == 0)
			return;
	vec_add(&types->list)->pmu = arena_strndup(&types->memory, pmu, strlen(pmu));
}

/* One type for each PMU of cores; a single one stands for all counts. */
static void find_types(struct stat_types *types, const struct counts *counts)
{
	for (size_t i = 0; i < counts->items.n; i++) {
		struct event_name name;

		pmu_of(&counts->items.items[i], &name);
		if (name.pmu[0] != '\0' && cpu_is_core_pmu(name.pmu))
			add_type(types, name.pmu);
	}
	if (types->list.n == 1)
		types->list.items[0].pmu = NULL;
	if (types->list.n == 0)
		vec_add(&types->list);
}

/* What the counts say of the cores of that PMU, in place of what they say of all. */
static void take_head(struct counts *out, const struct counts *all, const char *pmu)
{
	for (size_t i = 0; i < all->pmus.n; i++) {
		const struct count_pmu *p = &all->pmus.items[i];

		if (strcmp(p->name, pmu) != 0)
			continue;
		out->midr = p->midr;
		out->cpu = p->cpu;
		out->n_counters = p->n_counters;
		out->slots = p->slots;
	}
}

void stat_counts_of_pmu(const struct counts *all, const char *pmu, struct counts *out)
{
	*out = *all;
	out->memory = (struct arena){ 0 };
	memset(&out->items, 0, sizeof(out->items));
	memset(&out->metrics, 0, sizeof(out->metrics));
	memset(&out->intervals, 0, sizeof(out->intervals));
	memset(&out->pmus, 0, sizeof(out->pmus));
	take_head(out, all, pmu);
	for (size_t i = 0; i < all->intervals.n; i++)
		*vec_add(&out->intervals) = all->intervals.items[i];
	for (size_t i = 0; i < all->items.n; i++) {
		struct count c = all->items.items[i];
		struct event_name name;

		pmu_of(&c, &name);
		if (name.pmu[0] != '\0' && cpu_is_core_pmu(name.pmu)) {
			if (strcmp(name.pmu, pmu) != 0)
				continue;
			if (!all->has_own_times) {
				c.value *= count_coverage(&c);
				c.enabled_ns = c.running_ns;
			}
		}
		*vec_add(&out->items) = c;
	}
}

/*
 * A file may have metrics only, of another tool. Then they must be metrics of this CPU: without any,
 * nothing of the file would be shown.
 */
static int check_told_metrics(const struct counts *counts, const struct cpu_pmu *pmu,
			      struct err *err)
{
	struct text names = { 0 };
	int rc;

	if (counts->items.n > 0 || counts->metrics.n == 0)
		return 0;
	for (size_t i = 0; i < counts->metrics.n; i++) {
		const char *name = counts->metrics.items[i].name;

		if (stat_metric_told(pmu, name) != NULL)
			return 0;
		if (i < 3)
			text_format(&names, "%s%s", i > 0 ? ", " : "", name);
	}
	text_char(&names, '\0');
	rc = err_set(err, ERR_NO_DATA, ERR_NOWHERE,
		     "counts: %s has %s%s: %s%s; give --cpu NAME (cyclops list cpus)",
		     counts->source, names.bytes, counts->metrics.n > 3 ? ", …" : "",
		     pmu->is_generic ? "of which CPU is not known" : "not metrics of ",
		     pmu->is_generic ? "" : cpu_name(pmu->cpu));
	text_release(&names);
	return rc;
}

int stat_facts(const struct catalog *catalog, const char *name, const struct counts *counts,
	       struct cpu_pmu **out, struct err *err)
{
	uint64_t midr = counts->midr;
	const struct cpu *cpu = name == NULL ? stat_cpu(catalog, counts)
					     : catalog_cpu_named(catalog, name, &midr, err);

	if (cpu == NULL)
		return -1;
	if (cpu_pmu_open(catalog, cpu, midr, out, err) < 0)
		return -1;
	if (check_told_metrics(counts, *out, err) == 0)
		return 0;
	cpu_pmu_free(*out);
	*out = NULL;
	return -1;
}

/* Tables of several types are told apart by their names. */
static void list_tables(struct stat_types *types, struct stat_type *type)
{
	for (size_t i = 0; i < type->answer.shown.list.n; i++) {
		struct table *t = type->answer.shown.list.items[i];

		if (type->pmu != NULL && t->style == TABLE_ANSWER) {
			if (table_n_rows(t) > 0)
				t->cells.items[0] = cell_text(table_format(t, "%s: %s", type->pmu,
									   t->cells.items[0].text));
		} else if (type->pmu != NULL) {
			t->name = table_format(t, "%s@%s", t->name, type->pmu);
			t->title = t->title == NULL
					   ? type->pmu
					   : table_format(t, "%s (%s)", t->title, type->pmu);
		}
		*vec_add(&types->shown.list) = t;
	}
}

int stat_types_open(const struct catalog *catalog, const char *cpu_name,
		    const struct counts *counts, struct stat_types *out, struct err *err)
{
	*out = (struct stat_types){ 0 };
	find_types(out, counts);
	for (size_t i = 0; i < out->list.n; i++) {
		struct stat_type *type = &out->list.items[i];
		const struct counts *its = counts;

		if (type->pmu != NULL) {
			stat_counts_of_pmu(counts, type->pmu, &type->counts);
			its = &type->counts;
		}
		if (stat_facts(catalog, cpu_name, its, &type->facts, err) < 0)
			return -1;
	}
	return 0;
}

int stat_types_make(const struct catalog *catalog, const char *cpu_name, struct counts *counts,
		    const struct stat_options *options, struct stat_types *out, struct err *err)
{
	if (stat_types_open(catalog, cpu_name, counts, out, err) < 0)
		return -1;
	for (size_t i = 0; i < out->list.n; i++) {
		struct stat_type *type = &out->list.items[i];

		if (stat_answer_make(type->facts, type->pmu != NULL ? &type->counts : counts,
				     options, &type->answer, err) < 0)
			return -1;
		list_tables(out, type);
	}
	return 0;
}

/* The type of that PMU; of a run on a single type the only one. */
static struct stat_type *find_type(struct stat_types *types, const char *pmu)
{
	for (size_t i = 0; i < types->list.n; i++) {
		const char *its = types->list.items[i].pmu;

		if (its == pmu || (its != NULL && pmu != NULL && strcmp(its, pmu) == 0))
			return &types->list.items[i];
	}
	return NULL;
}

int stat_types_compare(const struct catalog *catalog, const char *cpu_name,
		       struct counts *counts_before, struct counts *counts_after,
		       const struct stat_options *options, struct stat_types *before,
		       struct stat_types *out, struct err *err)
{
	if (stat_types_open(catalog, cpu_name, counts_before, before, err) < 0 ||
	    stat_types_open(catalog, cpu_name, counts_after, out, err) < 0)
		return -1;
	for (size_t i = 0; i < out->list.n; i++) {
		struct stat_type *type = &out->list.items[i];
		struct stat_type *old = find_type(before, type->pmu);

		if (old == NULL || before->list.n != out->list.n)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "the runs used different core types: the first counted %zu, "
				       "this one %zu%s%s",
				       before->list.n, out->list.n,
				       type->pmu != NULL ? ", among them " : "",
				       type->pmu != NULL ? type->pmu : "");
		if (stat_answer_compare(type->facts,
					old->pmu != NULL ? &old->counts : counts_before,
					type->pmu != NULL ? &type->counts : counts_after, options,
					&type->answer, err) < 0)
			return -1;
		list_tables(out, type);
	}
	return 0;
}

/* Tables of events, "events" or "events@PMU" and "rates", one after the other. */
static struct table *events_table_at(const struct stat_types *types, size_t i)
{
	for (size_t k = 0; k < types->shown.list.n; k++) {
		struct table *t = types->shown.list.items[k];

		if ((strncmp(t->name, "events", 6) == 0 || strncmp(t->name, "rates", 5) == 0) &&
		    i-- == 0)
			return t;
	}
	return NULL;
}

/* Is it this word of a list, or what the catalog calls it? What stands behind a colon are modes. */
static bool stat_types_is_word(const struct stat_types *types, const char *name, const char *word,
			       size_t len)
{
	char text[64];

	if (strlen(name) == len && strncasecmp(name, word, len) == 0)
		return true;
	snprintf(text, sizeof(text), "%.*s", (int)len, word);
	for (size_t i = 0; len < sizeof(text) && i < types->list.n; i++) {
		const struct cpu_event *event = cpu_event_of_name(types->list.items[i].facts, text);

		if (event != NULL && strcasecmp(event->name, name) == 0)
			return true;
	}
	return false;
}

/* Events that were asked for. */
struct listed {
	const struct stat_types *types;
	const char *const *lists;
};

/* The next event of a list; its length is 0 at the end. */
static const char *next_word(const char *at, size_t *out_len)
{
	at += strspn(at, ",{}");
	*out_len = strcspn(at, ",{}:");
	return at;
}

static bool type_row_is_listed(const struct table *t, size_t row, const void *context)
{
	const struct listed *listed = context;
	const char *name = table_cell(t, row, 0)->text;
	size_t len;

	for (const char *const *list = listed->lists; *list != NULL; list++)
		for (const char *at = next_word(*list, &len); len > 0;
		     at = next_word(at + strcspn(at, ",{}"), &len))
			if (stat_types_is_word(listed->types, name, at, len))
				return true;
	return false;
}

/* All events of all tables. */
static const char *event_at(const void *context, size_t i)
{
	const struct table *t;

	for (size_t k = 0; (t = events_table_at(context, k)) != NULL; k++) {
		if (i < table_n_rows(t))
			return table_cell(t, i, 0)->text;
		i -= table_n_rows(t);
	}
	return NULL;
}

static int check_word(const struct stat_types *types, const char *word, size_t len, struct err *err)
{
	char name[64];
	const char *event, *nearest;

	for (size_t i = 0; (event = event_at(types, i)) != NULL; i++)
		if (stat_types_is_word(types, event, word, len))
			return 0;
	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	nearest = nearest_word(name, event_at, types);
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--events: '%s' was not counted in that run%s%s%s", name,
		       nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
		       nearest != NULL ? "?" : "");
}

int stat_types_keep_events(struct stat_types *types, const char *const *lists, struct err *err)
{
	const struct listed listed = { types, lists };
	struct table *t;
	size_t len;

	for (const char *const *list = lists; *list != NULL; list++)
		for (const char *at = next_word(*list, &len); len > 0;
		     at = next_word(at + strcspn(at, ",{}"), &len))
			if (check_word(types, at, len, err) < 0)
				return -1;
	for (size_t i = 0; (t = events_table_at(types, i)) != NULL; i++)
		table_keep(t, type_row_is_listed, &listed);
	return 0;
}

void stat_types_release(struct stat_types *types)
{
	for (size_t i = 0; i < types->list.n; i++) {
		stat_answer_release(&types->list.items[i].answer);
		counts_release(&types->list.items[i].counts);
		cpu_pmu_free(types->list.items[i].facts);
	}
	vec_release(&types->list);
	vec_release(&types->shown.list);
	arena_release(&types->memory);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/changes.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/text.h"

enum { COL_CPU, COL_KIND, COL_NAME, COL_CHANGE, COL_BEFORE, COL_AFTER, N_COLS };

static const struct column change_columns[N_COLS] = {
	[COL_CPU] = { "cpu", NULL, "", CELL_TEXT, 0, "id of the CPU" },
	[COL_KIND] = { "kind", NULL, "", CELL_TEXT, 0, "event, metric or group" },
	[COL_NAME] = { "name", NULL, "", CELL_TEXT, 0, "of the event, metric or group" },
	[COL_CHANGE] = { "change", NULL, "", CELL_TEXT, 0, "added, removed or changed" },
	[COL_BEFORE] = { "before", NULL, "", CELL_TEXT, COLUMN_GROW,
			 "code of the event, formula of the metric, metrics of the group, as they "
			 "were" },
	[COL_AFTER] = { "after", NULL, "", CELL_TEXT, COLUMN_GROW,
			"the same, as they are in the file" },
};

static const char *const change_names[N_CHANGE_KINDS] = {
	[CHANGE_ADDED] = "added",
	[CHANGE_REMOVED] = "removed",
	[CHANGE_OTHER] = "changed",
};

/* Of a list of a CPU: how many, the name of one, and what is compared. */
struct facts_class {
	const char *kind;
	size_t (*n)(const struct cpu_pmu *);
	const char *(*name)(const struct cpu_pmu *, size_t i);
	void (*put)(const struct cpu_pmu *, size_t i, struct text *out);
};

static size_t n_events(const struct cpu_pmu *pmu)
{
	return pmu->n_events;
}

static const char *event_name(const struct cpu_pmu *pmu, size_t i)
{
	return pmu->events[i].name;
}

static void put_event(const struct cpu_pmu *pmu, size_t i, struct text *out)
{
	text_hex(out, pmu->events[i].code);
}

/* Ratios of SPE sampling stand last; they are not of the file. */
static size_t n_metrics(const struct cpu_pmu *pmu)
{
	return pmu->n_metrics - pmu->n_spe_ratios;
}

static const char *metric_name(const struct cpu_pmu *pmu, size_t i)
{
	return pmu->metrics[i].name;
}

/* Blanks around operators are nobody's change. */
static void put_metric(const struct cpu_pmu *pmu, size_t i, struct text *out)
{
	for (const char *at = pmu->metrics[i].formula.text; *at != '\0'; at++)
		if (*at != ' ')
			text_char(out, *at);
}

static size_t n_groups(const struct cpu_pmu *pmu)
{
	return pmu->n_groups;
}

static const char *group_name(const struct cpu_pmu *pmu, size_t i)
{
	return pmu->groups[i].name;
}

static void put_group(const struct cpu_pmu *pmu, size_t i, struct text *out)
{
	for (size_t m = 0; m < pmu->groups[i].metrics.n; m++)
		text_format(out, "%s%s", m > 0 ? " " : "", pmu->groups[i].metrics.items[m]->name);
}

static const struct facts_class classes[] = {
	{ "event", n_events, event_name, put_event },
	{ "metric", n_metrics, metric_name, put_metric },
	{ "group", n_groups, group_name, put_group },
};

void changes_init(struct table *t)
{
	table_init(t, "changes", NULL, change_columns, COUNT(change_columns));
}

/* Where names stand in a list; a file may have very many. */
struct places {
	struct strings names;
	VEC_OF(size_t) firsts; /* by id of the name: its first number + 1; 0: it is not there */
};

/* `pmu` NULL: an empty list. */
static void places_init(struct places *p, const struct facts_class *class,
			const struct cpu_pmu *pmu)
{
	*p = (struct places){ 0 };
	strings_init(&p->names);
	for (size_t i = 0; pmu != NULL && i < class->n(pmu); i++) {
		struct str_id id = strings_addz(&p->names, class->name(pmu, i));

		while (p->firsts.n <= id.v)
			vec_add(&p->firsts);
		if (p->firsts.items[id.v] == 0)
			p->firsts.items[id.v] = i + 1;
	}
}

static void places_release(struct places *p)
{
	strings_release(&p->names);
	vec_release(&p->firsts);
}

/* Fills the number of a name; false: it is not in the list. */
static bool places_find(struct places *p, const char *name, size_t *out)
{
	struct str_id id = strings_addz(&p->names, name);

	if (id.v >= p->firsts.n || p->firsts.items[id.v] == 0)
		return false;
	*out = p->firsts.items[id.v] - 1;
	return true;
}

struct change {
	const struct facts_class *class;
	const char *cpu, *name;
	enum change_kind kind;
	const char *before, *after; /* NULL: it was not, or is not, there */
};

static void add_change(struct table *t, const struct change *c, struct change_counts *counts)
{
	struct cell *row = table_add_row(t);

	row[COL_CPU] = cell_text(table_text(t, c->cpu));
	row[COL_KIND] = cell_text(c->class->kind);
	row[COL_NAME] = cell_text(table_text(t, c->name));
	row[COL_CHANGE] = cell_text(change_names[c->kind]);
	if (c->before != NULL)
		row[COL_BEFORE] = cell_text(table_text(t, c->before));
	if (c->after != NULL)
		row[COL_AFTER] = cell_text(table_text(t, c->after));
	counts->of[c->kind]++;
}

/* What is in `of` and not in `in`, or other there. Removed ones are found with the two exchanged. */
static void compare_class(struct table *t, const struct facts_class *class,
			  const struct cpu_pmu *of, const struct cpu_pmu *in, bool is_after,
			  struct change_counts *counts)
{
	struct places places;

	places_init(&places, class, in);
	for (size_t i = 0; i < class->n(of); i++) {
		struct change change = { .class = class,
					 .cpu = cpu_id(of->cpu),
					 .name = class->name(of, i) };
		size_t there = 0;
		bool is_there = places_find(&places, change.name, &there);
		struct text ours = { 0 }, theirs = { 0 };

		class->put(of, i, &ours);
		text_char(&ours, '\0');
		if (is_there)
			class->put(in, there, &theirs);
		text_char(&theirs, '\0');
		change.kind = is_there ? CHANGE_OTHER : is_after ? CHANGE_ADDED : CHANGE_REMOVED;
		change.after = is_after ? ours.bytes : NULL;
		change.before = !is_after ? ours.bytes : is_there ? theirs.bytes : NULL;
		if (!is_there || (is_after && strcmp(ours.bytes, theirs.bytes) != 0))
			add_change(t, &change, counts);
		text_release(&ours);
		text_release(&theirs);
	}
	places_release(&places);
}

void changes_add(struct table *t, const struct cpu_pmu *before, const struct cpu_pmu *after,
		 struct change_counts *counts)
{
	for (size_t i = 0; i < COUNT(classes); i++) {
		compare_class(t, &classes[i], after, before, true, counts);
		if (before != NULL)
			compare_class(t, &classes[i], before, after, false, counts);
	}
}

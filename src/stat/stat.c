/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables make the answer. */
#include "cpu/event_name.h"
#include "findings/words.h"
#include "metrics/name_list.h"
#include "stat/causes/causes.h"
#include "stat/stat.h"
#include "stat/tables.h"

static void stat_show(struct stat_answer *a, struct table *t)
{
	*vec_add(&a->shown.list) = t;
}

static void show_if_any(struct stat_answer *a, struct table *t)
{
	if (table_n_rows(t) > 0)
		stat_show(a, t);
}

/* Are there several counts of one event? */
static bool is_in_parts(const struct stat *s)
{
	return s->counts->items.n > s->totals.list.n;
}

static bool has_several_windows(const struct stat *s)
{
	for (size_t i = 0; i < s->totals.list.n; i++)
		if (s->totals.list.items[i].occurrence > 0)
			return true;
	return false;
}

static void for_programs(const struct stat *s, struct stat_answer *a)
{
	stat_metrics_table(s, &a->metrics);
	stat_events_table(s, &a->events);
	show_if_any(a, &a->topdown);
	stat_costs_table(s, &a->costs);
	show_if_any(a, &a->costs);
	stat_show(a, &a->metrics);
	stat_show(a, &a->events);
	if (is_in_parts(s) || has_several_windows(s)) {
		stat_counts_init(&a->counts);
		stat_counts_add(s->counts, &a->counts);
		stat_show(a, &a->counts);
	}
	if (s->counts->intervals.n > 0) {
		stat_intervals_table(s, &a->intervals);
		stat_show(a, &a->intervals);
	}
}

/* Nothing in particular was asked for. */
static bool is_method(const struct stat_options *o)
{
	return o->groups == NULL && o->metrics == NULL && o->events == NULL;
}

static int for_people(const struct stat *s, struct stat_answer *a, struct err *err)
{
	if (stat_detail_table(s, &a->detail, err) < 0)
		return -1;
	if (is_method(s->options)) {
		show_if_any(a, &a->topdown);
		stat_costs_table(s, &a->costs);
		show_if_any(a, &a->costs);
	}
	show_if_any(a, &a->detail);
	if (s->options->all || s->options->events != NULL || table_n_rows(&a->detail) == 0) {
		stat_events_table(s, &a->events);
		show_if_any(a, &a->events);
	}
	return 0;
}

static void show_rates(const struct stat *s, struct stat_answer *a)
{
	stat_rates_table(s, &a->rates);
	stat_ratios_table(s, &a->detail);
	stat_show(a, &a->rates);
	show_if_any(a, &a->detail);
}

static int make(const struct stat *s, struct stat_answer *a, struct err *err)
{
	bool has_findings =
		!s->options->as_rates && (s->options->for_programs || is_method(s->options));

	if (s->options->tree != NULL) {
		stat_show(a, &a->tree);
		return stat_tree_table(s, &a->tree, err);
	}
	if (has_findings)
		stat_find(s, &a->found);
	if (has_findings && !s->options->for_programs) {
		findings_answer(&a->found, NULL, &a->answer);
		stat_show(a, &a->answer);
	}
	stat_facts_table(s, &a->facts);
	stat_run_table(s, &a->run);
	stat_topdown_table(s, &a->topdown);
	stat_show(a, &a->facts);
	stat_show(a, &a->run);
	if (s->options->for_programs)
		for_programs(s, a);
	else if (s->options->as_rates)
		show_rates(s, a);
	else if (for_people(s, a, err) < 0)
		return -1;
	if (!has_findings)
		return 0;
	findings_table(&a->found, NULL, &a->findings);
	findings_evidence_table(&a->found, &a->evidence);
	stat_show(a, &a->findings);
	stat_show(a, &a->evidence);
	return 0;
}

int stat_options_check(const struct cpu_pmu *pmu, const struct stat_options *options,
		       struct err *err)
{
	struct event_sets sets = { 0 };
	int rc = stat_wanted(pmu, options, &sets, err);

	event_sets_release(&sets);
	return rc < 0 ? -1 : stat_thresholds_check(pmu, options->thresholds, err);
}

int stat_answer_make(const struct cpu_pmu *pmu, struct counts *counts,
		     const struct stat_options *options, struct stat_answer *out, struct err *err)
{
	struct stat s;
	int rc;

	*out = (struct stat_answer){ 0 };
	if (stat_options_check(pmu, options, err) < 0)
		return -1;
	counts_name(counts, pmu);
	stat_init(&s, pmu, counts, options);
	rc = make(&s, out, err);
	stat_release(&s);
	return rc;
}

void stat_answer_release(struct stat_answer *a)
{
	struct table *const tables[] = { &a->facts,  &a->run,	    &a->topdown,  &a->costs,
					 &a->detail, &a->rates,	    &a->metrics,  &a->events,
					 &a->counts, &a->intervals, &a->findings, &a->evidence,
					 &a->answer, &a->tree };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		table_release(tables[i]);
	vec_release(&a->shown.list);
	findings_release(&a->found);
}

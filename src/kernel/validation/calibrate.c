/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/validation/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { EVENTS_MAX = 16, CYCLES = 0 };

/* A run with what it counted in all repeats: each kernel runs once, however many rules it is in. */
struct measured_run {
	struct kernel_setting setting;
	const char *text;
	struct kernel_count *counts; /* by repeat and event */
};

struct calibrating {
	const struct calibration_request *request;
	struct calibration *out;
	const char *events[EVENTS_MAX]; /* the first are the cycles; then those of the rules */
	size_t n_events;
	VEC_OF(struct measured_run) runs;
};

/* The first name of a rule's event that the tree has; NULL: none. */
static const char *event_of(const struct cycle_template *tree, const struct penalty_rule *rule)
{
	for (size_t i = 0; i < PENALTY_NAMES && rule->events[i] != NULL; i++)
		if (cycle_template_node(tree, rule->events[i]) != NO_NODE)
			return rule->events[i];
	return NULL;
}

/* The number of an event among those that are counted; -1: it is not among them. */
static int number_of(const struct calibrating *c, const char *event)
{
	for (size_t i = 0; event != NULL && i < c->n_events; i++)
		if (strcmp(c->events[i], event) == 0)
			return (int)i;
	return -1;
}

/* The penalty that a rule for this event came to; NULL: there is none. */
static const struct calibrated *result_of(const struct calibrating *c, const char *name)
{
	for (size_t i = 0; name != NULL && i < c->out->list.n; i++)
		if (strcmp(c->out->list.items[i].rule->events[0], name) == 0)
			return &c->out->list.items[i];
	return NULL;
}

/* Runs it, unless that was done for another rule. NULL and an error if it cannot. */
static const struct measured_run *run_of(struct calibrating *c,
					 const struct kernel_setting *setting, struct err *err)
{
	const struct calibration_request *r = c->request;
	struct measured_run run = { .setting = *setting };
	struct text text = { 0 };

	for (size_t i = 0; i < c->runs.n; i++)
		if (c->runs.items[i].setting.what == setting->what &&
		    memcmp(c->runs.items[i].setting.values, setting->values,
			   sizeof(setting->values)) == 0)
			return &c->runs.items[i];
	run.counts = mem_zalloc(r->n_repeats * c->n_events, sizeof(*run.counts));
	if (r->measurer->count(r->measurer->context, setting, c->events, c->n_events, r->n_repeats,
			       run.counts, err) < 0) {
		free(run.counts);
		return NULL;
	}
	kernel_setting_text(setting, &text);
	run.text = arena_strndup(&c->out->memory, text.bytes, text.n);
	text_release(&text);
	*vec_add(&c->runs) = run;
	return &c->runs.items[c->runs.n - 1];
}

static double per_step(const struct measured_run *run, const struct kernel_count *counts, int event)
{
	if (event < 0 || !counts[event].is_counted)
		return NAN;
	return counts[event].count / penalty_steps(&run->setting);
}

static struct penalty_run repeat_of(const struct calibrating *c, const struct calibrated *of,
				    const struct measured_run *run, unsigned repeat)
{
	const struct kernel_count *counts = &run->counts[repeat * c->n_events];
	struct penalty_run out = {
		.cycles = per_step(run, counts, CYCLES),
		.events = per_step(run, counts, number_of(c, of->event)),
	};

	for (size_t i = 0; i < PENALTY_KNOWN; i++) {
		const struct calibrated *known = result_of(c, of->rule->known[i]);

		out.known[i] =
			known != NULL ? per_step(run, counts, number_of(c, known->event)) : NAN;
	}
	return out;
}

/* Median and spread of what the repeats come to. */
static void set_cycles(const struct calibrating *c, struct calibrated *of,
		       const struct measured_run *with, const struct measured_run *without)
{
	unsigned n = c->request->n_repeats;
	double *values = mem_alloc(n, sizeof(*values)), costs[PENALTY_KNOWN];

	for (size_t i = 0; i < PENALTY_KNOWN; i++) {
		const struct calibrated *known = result_of(c, of->rule->known[i]);

		costs[i] = known != NULL ? known->cycles.median : NAN;
	}
	for (unsigned i = 0; i < n; i++) {
		const struct penalty_run a = repeat_of(c, of, with, i);
		const struct penalty_run b = repeat_of(c, of, without, i);

		values[i] = penalty_of_runs(of->rule, &a, &b, costs);
	}
	of->cycles = repeated_of(values, n);
	free(values);
}

static void judge_penalty(struct calibrating *c, struct calibrated *of)
{
	if (isnan(of->cycles.median))
		of->why_not = "the event or the cycles were not counted";
	else if (of->cycles.median <= 0)
		of->why_not = "the kernel that has the event is not slower";
	else if (of->cycles.spread > c->request->largest_spread)
		of->why_not = "the repeats differ too much";
	of->is_written = of->why_not == NULL;
	if (isnan(of->cycles.median))
		return;
	c->out->n_measured++;
	c->out->n_unsteady += !of->is_written;
	if (of->cycles.spread > c->out->widest)
		c->out->widest = of->cycles.spread;
}

static int apply_rule(struct calibrating *c, const struct penalty_rule *rule, struct err *err)
{
	const struct calibration_request *r = c->request;
	uint64_t n = rule->iterations * r->n_times;
	struct calibrated of = { .rule = rule, .event = event_of(r->tree, rule), .old = NAN };
	struct kernel_setting with, without;
	struct err why;

	if (of.event == NULL)
		return 0;
	if (penalty_kernel_set(&rule->with, n, r->sizes, &with, &why) < 0 ||
	    penalty_kernel_set(&rule->without, n, r->sizes, &without, &why) < 0) {
		of.cycles = (struct repeated){ NAN, NAN, NAN, NAN };
		of.why_not = arena_strndup(&c->out->memory, why.text, strlen(why.text));
	} else {
		size_t first, second;
		const struct measured_run *run = run_of(c, &with, err);

		if (run == NULL)
			return -1;
		first = (size_t)(run - c->runs.items);
		run = run_of(c, &without, err);
		if (run == NULL)
			return -1;
		second = (size_t)(run - c->runs.items);
		of.with = c->runs.items[first].text;
		of.without = c->runs.items[second].text;
		set_cycles(c, &of, &c->runs.items[first], &c->runs.items[second]);
		judge_penalty(c, &of);
	}
	*vec_add(&c->out->list) = of;
	return 0;
}

/* What has to be counted in each run. */
static void choose_events(struct calibrating *c)
{
	const struct cycle_template *tree = c->request->tree;
	const struct penalty_rule *rule;

	c->events[c->n_events++] = tree->nodes[tree->cycles].name;
	for (size_t i = 0; (rule = penalty_rule_at(i)) != NULL && c->n_events < EVENTS_MAX; i++)
		if (event_of(tree, rule) != NULL)
			c->events[c->n_events++] = event_of(tree, rule);
}

int calibrate(const struct calibration_request *request, struct calibration *out, struct err *err)
{
	struct calibrating c = { .request = request, .out = out };
	const struct penalty_rule *rule;
	int rc = 0;

	*out = (struct calibration){ 0 };
	choose_events(&c);
	if (c.n_events < 2)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "no kernel measures an event of the tree of %s",
			       request->tree->name);
	for (size_t i = 0; (rule = penalty_rule_at(i)) != NULL && rc == 0; i++)
		rc = apply_rule(&c, rule, err);
	out->ghz = request->measurer->ghz(request->measurer->context);
	for (size_t i = 0; i < out->list.n; i++) {
		struct calibrated *of = &out->list.items[i];
		double old = cycle_node_penalty(
			request->tree, cycle_template_node(request->tree, of->event), out->ghz);

		of->old = old > 0 ? old : NAN;
	}
	for (size_t i = 0; i < c.runs.n; i++)
		free(c.runs.items[i].counts);
	vec_release(&c.runs);
	return rc;
}

void calibration_release(struct calibration *c)
{
	vec_release(&c->list);
	arena_release(&c->memory);
	*c = (struct calibration){ 0 };
}

enum column_index {
	EVENT,
	PENALTY,
	LEAST,
	MOST,
	SPREAD,
	OLD,
	WITH,
	WITHOUT,
	WITH_VALUES,
	WITHOUT_VALUES,
	WHY_NOT,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[EVENT] = { "event", NULL, "", CELL_TEXT, COLUMN_WHOLE,
		    "event of the tree of cycle accounting" },
	[PENALTY] = { "penalty", NULL, "cycles", CELL_NUMBER, 0,
		      "cycles that one event costs: median of the repeats" },
	[LEAST] = { "least", NULL, "cycles", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		    "the same of the repeat with the least" },
	[MOST] = { "most", NULL, "cycles", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		   "the same of the repeat with the most" },
	[SPREAD] = { "spread", NULL, "", CELL_NUMBER, COLUMN_SHARE,
		     "(most - least) / median of the repeats" },
	[OLD] = { "tree", "in the tree", "cycles", CELL_NUMBER, 0,
		  "cycles in the tree that is built in, at the clock of this machine" },
	[WITH] = { "with", NULL, "", CELL_TEXT, COLUMN_GROW, "kernel that has the event" },
	[WITHOUT] = { "without", NULL, "", CELL_TEXT, COLUMN_GROW,
		      "kernel that is the same but for the event" },
	[WITH_VALUES] = { "with_values", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			  "the kernel that has the event, with its parameters" },
	[WITHOUT_VALUES] = { "without_values", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			     "the other kernel, with its parameters" },
	[WHY_NOT] = { "not_written", "not written", "", CELL_TEXT,
		      COLUMN_GROW | COLUMN_BLANK | COLUMN_MESSAGE,
		      "why the penalty is not written; absent: it is" },
};

static struct cell kernel_cell(const struct penalty_kernel *k, struct table *t)
{
	struct text text = { 0 };
	struct cell cell;

	penalty_kernel_text(k, &text);
	text_char(&text, '\0');
	cell = table_text_cell(t, text.bytes);
	text_release(&text);
	return cell;
}

void calibration_table(const struct calibration *c, struct table *out)
{
	table_init(out, "penalties", NULL, columns, N_COLUMNS);
	for (size_t i = 0; i < c->list.n; i++) {
		const struct calibrated *of = &c->list.items[i];
		struct cell *row = table_add_row(out);

		row[EVENT] = table_text_cell(out, of->event);
		row[WITH] = kernel_cell(&of->rule->with, out);
		row[WITHOUT] = kernel_cell(&of->rule->without, out);
		row[WITH_VALUES] = table_text_cell(out, of->with);
		row[WITHOUT_VALUES] = table_text_cell(out, of->without);
		row[WHY_NOT] = table_text_cell(out, of->why_not);
		if (!isnan(of->old))
			row[OLD] = cell_number(of->old);
		if (isnan(of->cycles.median))
			continue;
		row[PENALTY] = cell_number(of->cycles.median);
		row[LEAST] = cell_number(of->cycles.least);
		row[MOST] = cell_number(of->cycles.most);
		if (isfinite(of->cycles.spread))
			row[SPREAD] = cell_number(of->cycles.spread);
	}
}

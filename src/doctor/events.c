/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/events.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "counting/counters.h"
#include "cpu/event_name.h"
#include "kernel/expected/expected.h"
#include "kernel/validation/on_machine.h"

enum { NAME_MAX = 192 };

enum column_index {
	EVENT,
	VERDICT,
	FACTOR,
	EXPECTED,
	STEP_LEAST,
	STEP_MOST,
	COUNTED,
	KERNEL,
	WHAT,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[EVENT] = { "event", NULL, "", CELL_TEXT, 0, "name in the catalog" },
	[VERDICT] = { "verdict", NULL, "", CELL_TEXT, 0,
		      "ok, reads 0, off, not counted, or no kernel (no test loop for this event)" },
	[FACTOR] = { "factor", "by \303\227", "", CELL_NUMBER, 0,
		     "counted / nearest expected value, where it is off" },
	[EXPECTED] = { "expected", NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY,
		       "counted per step of the loop" },
	[STEP_LEAST] = { "least", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			 "least expected per step" },
	[STEP_MOST] = { "most", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			"most expected per step" },
	[COUNTED] = { "counted", "counted", "", CELL_NUMBER, 0, "counted per step of the loop" },
	[KERNEL] = { "kernel", NULL, "", CELL_TEXT, 0, "the loop that ran" },
	[WHAT] = { "step", "a step is", "", CELL_TEXT, COLUMN_GROW, "what one step does" },
};

/* An event, and the first case that makes it count. */
struct event_to_check {
	const struct cpu_event *event;
	const struct expected_case *which; /* NULL: none here */
	const struct expectation *expectation;
	struct kernel_count counted;
};

struct checks {
	const struct doctor_counter *counter;
	struct expected expected;
	struct cache_sizes sizes;
	VEC_OF(struct event_to_check) list;
};

/* The sizes of a machine that does not tell them: its data is in L1 and beyond every private cache. */
static const struct cache_sizes usual_sizes = { 32 << 10, 1 << 20, 32 << 20, 0, 0 };

/* Does the case, which can run here, make the event count for certain? */
static bool makes_count(const struct checks *c, const struct expected_case *which,
			const struct expectation *x)
{
	uint64_t values[N_PARAMETERS];
	struct expected_count count;
	struct err unused;

	return (x->architectures & MICROBENCHMARK_ARCHITECTURE) != 0 &&
	       microbenchmark_is_here(which->kernel) &&
	       expected_set_values(which, &c->sizes, values, &unused) == 0 &&
	       expected_count_of(&c->expected, x, values, &count) && count.from > 0;
}

/* Adds the event with the first case that makes it count. */
static void add_event(struct checks *c, const struct cpu_event *event)
{
	struct event_to_check *out = vec_add(&c->list);

	*out = (struct event_to_check){ .event = event };
	for (size_t i = 0; i < c->expected.n_cases && out->which == NULL; i++) {
		const struct expected_case *which = &c->expected.cases[i];

		for (size_t k = 0; k < which->n_expectations && out->which == NULL; k++) {
			const struct expectation *x = &which->expectations[k];

			if (strcmp(x->event, event->name) == 0 && makes_count(c, which, x)) {
				out->which = which;
				out->expectation = x;
			}
		}
	}
}

static bool has_event(const struct checks *c, const char *name)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (strcmp(c->list.items[i].event->name, name) == 0)
			return true;
	return false;
}

/* All events of the CPU that a case makes count, in the order of the cases. */
static void add_known_events(struct checks *c)
{
	const struct doctor_counter *counter = c->counter;

	for (size_t i = 0; i < c->expected.n_cases; i++) {
		const struct expected_case *which = &c->expected.cases[i];

		for (size_t k = 0; k < which->n_expectations; k++) {
			const struct expectation *x = &which->expectations[k];
			const struct cpu_event *event = cpu_event_find(counter->facts, x->event);

			if (event != NULL && makes_count(c, which, x) &&
			    !has_event(c, event->name) &&
			    (event->linux_name != NULL ||
			     pmu_has_event(counter->core, event->code)))
				add_event(c, event);
		}
	}
}

/* Counts the events of one case, each in a run of its own. Those of a case that cannot run are not counted. */
static void count_case(struct checks *c, const struct expected_case *which)
{
	struct on_machine machine = {
		.kernel = c->counter->kernel,
		.pmus = c->counter->pmus,
		.core = c->counter->core,
		.facts = c->counter->facts,
		.n_counters = 1,
	};
	const struct measurer measurer = on_machine_measurer(&machine);
	struct kernel_setting setting = { .what = which->kernel };
	const char **names = mem_alloc(c->list.n, sizeof(*names));
	struct kernel_count *counts = mem_zalloc(c->list.n, sizeof(*counts));
	struct err unused;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.items[i].which == which)
			names[n++] = c->list.items[i].event->name;
	if (n > 0 && expected_set_values(which, &c->sizes, setting.values, &unused) == 0 &&
	    measurer.count(measurer.context, &setting, names, n, 1, counts, &unused) == 0)
		for (size_t i = 0; i < c->list.n; i++)
			if (c->list.items[i].which == which)
				c->list.items[i].counted = counts[at++];
	free(names);
	free(counts);
}

/* The verdict on the count of one run. */
static struct event_check judge_event(const struct event_to_check *e,
				      const struct expected_count *x)
{
	double count = e->counted.count;
	struct event_check check = { e->event->name, EVENT_OK, 1 };

	if (count == 0)
		return (struct event_check){ e->event->name, EVENT_READS_0, 1 };
	switch (expected_judge(x, count)) {
	case EXPECTED_OVER:
		return (struct event_check){ e->event->name, EVENT_IS_OFF, count / x->most };
	case EXPECTED_UNDER:
		return (struct event_check){ e->event->name, EVENT_IS_OFF, count / x->least };
	case EXPECTED_OK:
		break;
	}
	return check;
}

static void add_verdict_row(const struct checks *c, const struct event_to_check *e, struct table *t,
			    struct event_checks *found)
{
	struct cell *row = table_add_row(t);
	uint64_t values[N_PARAMETERS] = { 0 };
	struct event_check check;
	struct expected_count x;
	struct err unused;
	double steps;

	row[EVENT] = cell_text(e->event->name);
	row[VERDICT] = cell_text("no kernel");
	if (e->which == NULL || expected_set_values(e->which, &c->sizes, values, &unused) < 0 ||
	    !expected_count_of(&c->expected, e->expectation, values, &x))
		return;
	steps = (double)values[ITERATIONS];
	row[VERDICT] = cell_text("not counted");
	row[EXPECTED] = cell_text(
		x.least == x.most ? table_format(t, "%g", x.least / steps)
				  : table_format(t, "%g to %g", x.least / steps, x.most / steps));
	row[STEP_LEAST] = cell_number(x.least / steps);
	row[STEP_MOST] = cell_number(x.most / steps);
	row[KERNEL] = table_text_cell(t, e->which->name);
	row[WHAT] = table_text_cell(t, e->which->what);
	if (!e->counted.is_counted)
		return;
	check = judge_event(e, &x);
	event_checks_add(found, e->event->name, check.verdict, check.factor);
	row[VERDICT] = cell_text(event_verdict_name(check.verdict));
	row[COUNTED] = cell_number(e->counted.count / steps);
	if (check.factor != 1)
		row[FACTOR] = cell_number(check.factor);
}

static const char *pmu_event_name_at(const void *context, size_t i)
{
	const struct cpu_pmu *pmu = context;

	return i < pmu->n_events ? pmu->events[i].name : NULL;
}

static int add_named_events(struct checks *c, const char *names, struct err *err)
{
	const struct cpu_pmu *facts = c->counter->facts;

	while (*names != '\0') {
		size_t length = strcspn(names, ",");
		const struct cpu_event *event;
		char name[NAME_MAX];

		snprintf(name, sizeof(name), "%.*s",
			 (int)(length < NAME_MAX ? length : NAME_MAX - 1), names);
		event = cpu_event_of_name(facts, name);
		if (event == NULL) {
			char advice[NAME_MAX + 32];

			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--events: %s has no event '%s'%s", cpu_name(facts->cpu),
				       name,
				       did_you_mean(name, pmu_event_name_at, facts, "", advice,
						    sizeof(advice)));
		}
		if (!has_event(c, event->name))
			add_event(c, event);
		names += length + (names[length] == ',');
	}
	return 0;
}

/* The table's title: how many events have which verdict. */
static void set_events_title(const struct event_checks *found, struct table *out)
{
	size_t n[N_EVENT_VERDICTS] = { 0 };

	for (size_t i = 0; i < found->list.n; i++)
		n[found->list.items[i].verdict]++;
	out->title = table_format(
		out, "%zu ok, %zu read 0, %zu off%s", n[EVENT_OK], n[EVENT_READS_0],
		n[EVENT_IS_OFF],
		n[EVENT_READS_0] > 0 ? "; events that read 0 are treated as missing from now on"
				     : "");
}

int doctor_events(const struct doctor_counter *counter, const char *names, struct table *out,
		  struct event_checks *found, struct err *err)
{
	struct checks c = { .counter = counter, .sizes = on_machine_sizes("") };
	cpu_set_t old;
	int rc = 0;

	if (c.sizes.l1d_bytes == 0)
		c.sizes = usual_sizes;
	expected_open(&c.expected);
	table_init(out, "events", NULL, columns, COUNT(columns));
	if (names[0] != '\0')
		rc = add_named_events(&c, names, err);
	else
		add_known_events(&c);
	counters_move_to(counter->core, &old);
	for (size_t i = 0; i < c.expected.n_cases && rc == 0; i++)
		count_case(&c, &c.expected.cases[i]);
	sched_setaffinity(0, sizeof(old), &old);
	for (size_t i = 0; i < c.list.n && rc == 0; i++)
		add_verdict_row(&c, &c.list.items[i], out, found);
	set_events_title(found, out);
	if ((c.expected.unverified & MICROBENCHMARK_ARCHITECTURE) != 0 && rc == 0)
		table_note(out, "what is expected is unverified on %s",
			   microbenchmark_architecture_name(MICROBENCHMARK_ARCHITECTURE));
	vec_release(&c.list);
	expected_release(&c.expected);
	return rc;
}

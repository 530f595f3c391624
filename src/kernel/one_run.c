/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/one_run.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cpu/event_name.h"
#include "kernel/expected/expected.h"
#include "pmu/launch.h"
#include "table/answer.h"

static const char command_name[] = "kernel";

struct option_set one_run_option_set(struct one_run *o)
{
	static const struct option others[] = {
		{ "level", 0, OPTION_TEXT, offsetof(struct one_run, level), "LEVEL",
		  "lines so that data is in l1, l2, llc, dram; or pages (tlb2, walk)" },
		{ "cpu", 0, OPTION_TEXT, offsetof(struct one_run, cpu), "N", "run on this CPU" },
		{ "all", 0, OPTION_FLAG, offsetof(struct one_run, shows_all), NULL,
		  "show events, too, that must not count and did not" },
	};

	for (enum parameter p = 0; p < N_PARAMETERS; p++)
		o->options[p] = (struct option){ microbenchmark_parameters[p].name,
						 0,
						 OPTION_TEXT,
						 offsetof(struct one_run, values) +
							 p * sizeof(o->values[0]),
						 "N",
						 microbenchmark_parameters[p].help };
	memcpy(o->options + N_PARAMETERS, others, sizeof(others));
	return (struct option_set){ "One run:", o->options, ONE_RUN_OPTIONS, o };
}

const char *one_run_given(const struct one_run *o)
{
	for (enum parameter p = 0; p < N_PARAMETERS; p++)
		if (o->values[p] != NULL)
			return microbenchmark_parameters[p].name;
	return o->level != NULL ? "level" : o->cpu != NULL ? "cpu" : o->shows_all ? "all" : NULL;
}

/* A whole number, also with K, M or G, 1024 times as large each. */
static int read_number(const char *option, const char *text, uint64_t *out, struct err *err)
{
	static const char units[] = "KMG";
	const char *unit;
	unsigned shift = 0;
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	unit = *end != '\0' ? strchr(units, *end & ~0x20) : NULL;
	if (unit != NULL) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (end == text || *end != '\0' || errno != 0 || text[0] == '-' ||
	    *out > UINT64_MAX >> shift)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--%s: '%s' is not a number", option,
			       text);
	*out <<= shift;
	return 0;
}

/* What runs. */
struct choice {
	struct kernel_setting setting;
	const struct expected_case *which; /* NULL: nothing is expected of these parameters */
};

/* Names that can be asked for: microbenchmarks, then cases. */
static const char *name_at(const void *context, size_t i)
{
	const struct expected *e = context;
	size_t n = 0;

	while (microbenchmark_at(n) != NULL)
		n++;
	if (i < n)
		return microbenchmark_at(i)->name;
	return i - n < e->n_cases ? e->cases[i - n].name : NULL;
}

/* The values of a microbenchmark of which nothing else is said: those of its first case that can be reached. */
static void set_first_case(const struct expected *e, const struct microbenchmark *m,
			   const struct cache_sizes *sizes, uint64_t values[N_PARAMETERS])
{
	struct err unused;

	for (size_t i = 0; i < e->n_cases; i++)
		if (e->cases[i].kernel == m &&
		    expected_set_values(&e->cases[i], sizes, values, &unused) == 0)
			return;
	microbenchmark_set_usual(m, values);
}

static int choose(const struct one_run *o, const char *name, const struct expected *e,
		  const struct cache_sizes *sizes, struct choice *out, struct err *err)
{
	const struct expected_case *named = expected_find(e, name);
	const struct microbenchmark *m = microbenchmark_find(name);
	uint64_t *values = out->setting.values;
	int rc = 0;

	if (m == NULL && named == NULL) {
		char advice[128];

		return err_set(err, ERR_USAGE, ERR_NOWHERE, "there is no kernel '%s'%s", name,
			       did_you_mean(name, name_at, e, "; cyclops list kernels has them",
					    advice, sizeof(advice)));
	}
	out->setting.what = m != NULL ? m : named->kernel;
	if (m != NULL && o->level != NULL) {
		microbenchmark_set_usual(m, values);
		rc = microbenchmark_set_level(m, o->level, sizes, values, err);
	} else if (o->level != NULL) {
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE, "%s has a level; --level is for %s", name,
			     named->kernel->name);
	} else if (m != NULL) {
		set_first_case(e, m, sizes, values);
	} else {
		rc = expected_set_values(named, sizes, values, err);
	}
	for (size_t p = 0; p < N_PARAMETERS && rc == 0; p++) {
		const char *parameter = microbenchmark_parameters[p].name;
		uint64_t value;

		if (o->values[p] == NULL)
			continue;
		rc = read_number(parameter, o->values[p], &value, err);
		if (rc == 0)
			rc = microbenchmark_set(out->setting.what, parameter, value, values, err);
	}
	for (size_t i = 0; i < e->n_cases && rc == 0 && out->which == NULL; i++)
		if (e->cases[i].kernel == out->setting.what &&
		    expected_is_case(&e->cases[i], sizes, values))
			out->which = &e->cases[i];
	return rc;
}

/* An event to count, and what is expected of it. */
struct wanted_event {
	const char *name;
	const struct expectation *expectation; /* NULL: nothing */
};

struct wanted_events {
	VEC_OF(struct wanted_event) list;
};

static bool can_be_asked(const struct subject *s, const char *event)
{
	if (on_machine_is_software(event))
		return !s->is_modelled;
	return s->facts != NULL && cpu_event_find(s->facts, event) != NULL;
}

/* Those of the case that the CPU has, and in any case time and work. */
static void choose_events(const struct subject *s, const struct choice *choice,
			  struct wanted_events *out)
{
	static const char *const always[] = { "CPU_CYCLES",   "CYCLES",	     "INST_RETIRED",
					      "INSTRUCTIONS", "page-faults", "context-switches" };
	const struct expected_case *c = choice->which;

	for (size_t i = 0; i < COUNT(always); i++)
		if (can_be_asked(s, always[i]))
			*vec_add(&out->list) = (struct wanted_event){ always[i], NULL };
	for (size_t i = 0; c != NULL && i < c->n_expectations; i++) {
		const struct expectation *x = &c->expectations[i];
		size_t at = 0;

		if ((x->architectures & s->architecture) == 0 || !can_be_asked(s, x->event))
			continue;
		while (at < out->list.n && strcmp(out->list.items[at].name, x->event) != 0)
			at++;
		if (at == out->list.n)
			vec_add(&out->list)->name = x->event;
		out->list.items[at].expectation = x;
	}
}

/* What a run came to. */
struct result {
	struct wanted_events events;
	struct kernel_count *counts;	  /* by event */
	double time_ns;			  /* without counting */
	size_t n_right, n_wrong, n_quiet; /* n_quiet: of n_right, those that must not count */
};

/*
 * The time of a run of its own, in which nothing is counted. Of one thread that never waits it is CPU time: what else runs on
 * this CPU is none of the loop's.
 */
static int time_here(const struct kernel_setting *setting, double *out_ns, struct err *err)
{
	struct microbenchmark_run run = { 0 };
	bool is_busy = setting->what->n_threads <= 1 && !setting->what->sleeps;
	uint64_t (*now_ns)(void) = is_busy ? clock_thread_ns : clock_now_ns;
	int rc = microbenchmark_prepare(setting->what, setting->values, ANY_CPU, &run, err);

	if (rc == 0) {
		uint64_t start_ns = now_ns();

		setting->what->run(&run);
		*out_ns = (double)(now_ns() - start_ns);
	}
	microbenchmark_release(&run);
	return rc;
}

static const struct kernel_count *count_of(const struct result *r, const char *event)
{
	for (size_t i = 0; i < r->events.list.n; i++)
		if (strcmp(r->events.list.items[i].name, event) == 0 && r->counts[i].is_counted)
			return &r->counts[i];
	return NULL;
}

static const struct kernel_count *cycles_of(const struct result *r)
{
	const struct kernel_count *cycles = count_of(r, "CPU_CYCLES");

	return cycles != NULL ? cycles : count_of(r, "CYCLES");
}

static int measure(struct subject *s, const struct choice *choice, struct result *out,
		   struct err *err)
{
	const char **names;
	int rc = 0;

	choose_events(s, choice, &out->events);
	names = mem_alloc(out->events.list.n + 1, sizeof(*names));
	out->counts = mem_zalloc(out->events.list.n + 1, sizeof(*out->counts));
	for (size_t i = 0; i < out->events.list.n; i++)
		names[i] = out->events.list.items[i].name;
	if (!s->is_modelled)
		rc = time_here(&choice->setting, &out->time_ns, err);
	if (rc == 0)
		rc = s->measurer.count(s->measurer.context, &choice->setting, names,
				       out->events.list.n, 1, out->counts, err);
	if (rc == 0 && s->is_modelled && cycles_of(out) != NULL)
		out->time_ns = cycles_of(out)->count / s->model.ghz;
	free(names);
	return rc;
}

enum { EVENT, VERDICT, COUNT_EACH, EXPECTED, LEAST, MOST, KIND, COUNT_ALL, VERIFIED, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[EVENT] = { "event", NULL, "", CELL_TEXT, COLUMN_WHOLE, "name in the catalog" },
	[VERDICT] = { "verdict", NULL, "", CELL_TEXT, COLUMN_BLANK,
		      "ok, over, under; absent: nothing is expected, or it was not counted" },
	[COUNT_EACH] = { "counted", "counted", "", CELL_NUMBER, 0, "in an iteration" },
	[EXPECTED] = { "expected", NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_BLANK,
		       "in an iteration" },
	[LEAST] = { "least", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		    "least right count of an iteration, with the tolerance" },
	[MOST] = { "most", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		   "most right count of an iteration, with the tolerance" },
	[KIND] = { "kind", NULL, "", CELL_TEXT, COLUMN_BLANK,
		   "exact: follows from the instructions; lines: from what caches hold; never: "
		   "must "
		   "not count; range: differs from CPU to CPU" },
	[COUNT_ALL] = { "count", "in all", "events", CELL_COUNT, 0, "in the run" },
	[VERIFIED] = { "verified", NULL, "", CELL_BOOL, COLUMN_MACHINE_ONLY,
		       "the expectation was compared with counts on this architecture" },
};

static const char *verdict_names[] = {
	[EXPECTED_OK] = "ok",
	[EXPECTED_OVER] = "over",
	[EXPECTED_UNDER] = "under",
};

/* What is expected of an iteration, in words. */
static const char *expected_text(struct table *t, const struct expected_count *x, double iterations)
{
	return x->least == x->most ? table_format(t, "%.4g", x->least / iterations)
				   : table_format(t, "%.4g to %.4g", x->least / iterations,
						  x->most / iterations);
}

static void add_row(struct table *t, const struct expected *e, const struct subject *s,
		    const struct choice *choice, struct result *r, size_t i, bool shows_quiet)
{
	const struct wanted_event *event = &r->events.list.items[i];
	const struct kernel_count *count = &r->counts[i];
	double iterations = (double)choice->setting.values[ITERATIONS];
	struct expected_count x = { 0 };
	bool is_expected = event->expectation != NULL &&
			   expected_count_of(e, event->expectation, choice->setting.values, &x);
	enum expected_verdict verdict = expected_judge(&x, count->count);
	struct cell *row;

	if (is_expected && count->is_counted) {
		bool is_quiet =
			verdict == EXPECTED_OK && event->expectation->kind == EXPECTED_NEVER;

		*(verdict == EXPECTED_OK ? &r->n_right : &r->n_wrong) += 1;
		r->n_quiet += is_quiet;
		if (is_quiet && !shows_quiet)
			return;
	} else if (!count->is_counted && !shows_quiet) {
		return;
	}
	row = table_add_row(t);
	row[EVENT] = cell_text(event->name);
	if (count->is_counted) {
		row[COUNT_EACH] = cell_number(count->count / iterations);
		row[COUNT_ALL] = cell_count((uint64_t)count->count);
	}
	if (!is_expected)
		return;
	if (count->is_counted)
		row[VERDICT] = cell_text(verdict_names[verdict]);
	row[EXPECTED] = cell_text(expected_text(t, &x, iterations));
	row[LEAST] = cell_number(x.from / iterations);
	row[MOST] = cell_number(x.to / iterations);
	row[KIND] = cell_text(expected_kind_name(event->expectation->kind));
	row[VERIFIED] = cell_bool((e->unverified & s->architecture) == 0);
}

enum { RUN_KERNEL, RUN_CASE, RUN_ITERATIONS, RUN_TIME, RUN_EACH, RUN_CYCLES, RUN_ON, N_RUN };

static const struct column run_columns[N_RUN] = {
	[RUN_KERNEL] = { "kernel", NULL, "", CELL_TEXT, 0, "the microbenchmark" },
	[RUN_CASE] = { "case", NULL, "", CELL_TEXT, 0,
		       "its case in the expected counts; absent: none has these parameters" },
	[RUN_ITERATIONS] = { "iterations", NULL, "", CELL_COUNT, 0, "of the loop" },
	[RUN_TIME] = { "time_ns", "time", "ns", CELL_NUMBER, 0, "of all iterations" },
	[RUN_EACH] = { "iteration_ns", "each", "ns", CELL_NUMBER, 0, "of one iteration" },
	[RUN_CYCLES] = { "iteration_cycles", "each", "cycles", CELL_NUMBER, 0,
			 "of one iteration; absent: not counted" },
	[RUN_ON] = { "machine", NULL, "", CELL_TEXT, 0, "what it ran on; absent: not known" },
};

static const char *machine_of(const struct subject *s)
{
	return s->is_modelled ? s->model.name : s->cpu != NULL ? cpu_name(s->cpu) : NULL;
}

static void fill_run_table(const struct subject *s, const struct choice *choice,
			   const struct result *r, struct table *t)
{
	double iterations = (double)choice->setting.values[ITERATIONS];
	struct cell *row;

	table_init(t, "run", NULL, run_columns, N_RUN);
	t->readers = TABLE_FOR_PROGRAMS;
	row = table_add_row(t);
	row[RUN_KERNEL] = cell_text(choice->setting.what->name);
	if (choice->which != NULL)
		row[RUN_CASE] = table_text_cell(t, choice->which->name);
	row[RUN_ITERATIONS] = cell_count(choice->setting.values[ITERATIONS]);
	row[RUN_TIME] = cell_number(r->time_ns);
	row[RUN_EACH] = cell_number(r->time_ns / iterations);
	if (cycles_of(r) != NULL)
		row[RUN_CYCLES] = cell_number(cycles_of(r)->count / iterations);
	row[RUN_ON] = table_text_cell(t, machine_of(s));
}

static void fill_counts_table(const struct expected *e, const struct subject *s,
			      const struct choice *choice, struct result *r, bool shows_quiet,
			      struct table *t)
{
	table_init(t, "counts", NULL, columns, N_COLUMNS);
	for (size_t i = 0; i < r->events.list.n; i++)
		add_row(t, e, s, choice, r, i, shows_quiet);
	if (!shows_quiet && r->n_quiet > 0)
		table_note(t, "%zu event%s that must not count did not; --all shows them",
			   r->n_quiet, plural(r->n_quiet));
	if (r->n_right + r->n_wrong > 0 && (e->unverified & s->architecture) != 0)
		table_note(t, "what is expected is unverified on %s",
			   microbenchmark_architecture_name(s->architecture));
}

/* What ran, how long an iteration takes, whether the counts are right. */
static void say_answer(const struct subject *s, const struct choice *choice, const struct result *r,
		       struct table *answer)
{
	double iterations = (double)choice->setting.values[ITERATIONS];
	struct text setting = { 0 };

	kernel_setting_text(&choice->setting, &setting);
	answer_init(answer);
	answer_say(answer, "%.*s: %s each%s, %s.", (int)setting.n, setting.bytes,
		   table_human(answer, cell_number(r->time_ns / iterations), "ns"),
		   cycles_of(r) == NULL ? ""
					: table_format(answer, " (%.4g cycles)",
						       cycles_of(r)->count / iterations),
		   choice->setting.what->iteration);
	if (r->n_right + r->n_wrong > 0 && r->n_wrong == 0)
		answer_say(answer, "All %zu events with an expectation are right.", r->n_right);
	else if (r->n_wrong > 0)
		answer_say(answer, "%zu of %zu events with an expectation are wrong.", r->n_wrong,
			   r->n_right + r->n_wrong);
	else if (choice->which == NULL)
		answer_say(answer, "Nothing is expected of these parameters.");
	if (subject_why_not(s) != NULL)
		answer_say(answer, "Hardware events cannot be counted on this machine (cyclops "
				   "doctor says why).");
	text_release(&setting);
}

static int show(const struct one_run *o, const struct expected *e, const struct subject *s,
		const struct choice *choice, struct result *r, const struct output_options *output,
		struct err *err)
{
	struct table answer, run, counts;
	struct tables tables = { 0 };
	struct printer out = { 0 };
	int rc = printer_open(&out, output, "text", command_name, NULL, err);

	if (rc < 0)
		return rc;
	fill_counts_table(e, s, choice, r, o->shows_all || !printer_is_for_people(output), &counts);
	fill_run_table(s, choice, r, &run);
	say_answer(s, choice, r, &answer);
	*vec_add(&tables.list) = &answer;
	*vec_add(&tables.list) = &run;
	*vec_add(&tables.list) = &counts;
	out.document.is_modelled = s->is_modelled;
	rc = printer_finish(&out, output, &tables, 0, err);
	vec_release(&tables.list);
	table_release(&answer);
	table_release(&run);
	table_release(&counts);
	return rc;
}

/* Moves this process to the CPU of --cpu. */
static int move_to_cpu(const char *text, struct err *err)
{
	uint64_t cpu;
	cpu_set_t set;

	if (read_number("cpu", text, &cpu, err) < 0)
		return -1;
	CPU_ZERO(&set);
	if (cpu < CPU_SETSIZE)
		CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--cpu: cannot run on CPU %" PRIu64 ": %s", cpu,
		       strerror(errno));
}

int one_run_print(const struct one_run *o, const char *name,
		  const struct subject_options *subject_options,
		  const struct output_options *output, struct err *err)
{
	struct expected expected = { 0 };
	struct choice choice = { 0 };
	struct result result = { 0 };
	struct subject s;
	int rc;

	if (o->cpu != NULL && subject_options->model != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--cpu is about this machine");
	if (o->cpu != NULL && move_to_cpu(o->cpu, err) < 0)
		return -1;
	expected_open(&expected);
	rc = subject_open(&s, subject_options, err);
	s.on_machine.is_pinned = o->cpu != NULL;
	if (rc == 0)
		rc = choose(o, name, &expected, &s.sizes, &choice, err);
	if (rc == 0)
		rc = measure(&s, &choice, &result, err);
	if (rc == 0)
		rc = show(o, &expected, &s, &choice, &result, output, err);
	vec_release(&result.events.list);
	free(result.counts);
	subject_release(&s);
	expected_release(&expected);
	return rc < 0 ? -1 : EXIT_DONE;
}

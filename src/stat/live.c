/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops stat -- COMMAND: from metrics to events to counts. */
#include "stat/live.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/message.h"
#include "counting/counters.h"
#include "counting/counting.h"
#include "counting/event_checks.h"
#include "pmu/machine.h"
#include "stat/plan.h"

#define LIVE(field) offsetof(struct live_options, field)

static const struct option live_list[] = {
	{ "pid", 'p', OPTION_TEXT, LIVE(pids), "PID[,PID]",
	  "these processes, all threads of them" },
	{ "tid", 't', OPTION_TEXT, LIVE(tids), "TID[,TID]", "these threads" },
	{ "all-cpus", 'a', OPTION_FLAG, LIVE(all_cpus), NULL, "all CPUs" },
	{ "cpus", 'C', OPTION_TEXT, LIVE(cpus), "LIST", "these CPUs: 0-3,8" },
	{ "cgroup", 'G', OPTION_TEXT, LIVE(cgroup), "PATH", "this cgroup" },
	{ "by-cpu", 'A', OPTION_FLAG, LIVE(by_cpu), NULL, "counts by CPU" },
	{ "by-thread", 0, OPTION_FLAG, LIVE(by_thread), NULL, "counts by thread" },
	{ "interval", 'I', OPTION_COUNT, LIVE(interval_ms), "MS",
	  "print counts at this interval, too" },
	{ "delay", 'D', OPTION_TEXT, LIVE(delay), "MS",
	  "begin to count so much later; -1: when --control says so" },
	{ "control", 0, OPTION_TEXT, LIVE(control), "fifo:CTL[,ACK]",
	  "lines in CTL enable and disable counting; also fd:N[,M]" },
	{ "repeat", 'r', OPTION_COUNT, LIVE(repeat), "N",
	  "run the command N times: mean and spread" },
	{ "no-mux", 0, OPTION_FLAG, LIVE(no_mux), NULL,
	  "no multiplexing: run the command once for each group\n                          of "
	  "events" },
	{ "no-inherit", 'i', OPTION_FLAG, LIVE(no_inherit), NULL,
	  "exclude children and new threads" },
	{ "user", 'u', OPTION_FLAG, LIVE(user), NULL, "exclude the kernel" },
	{ "kernel", 'k', OPTION_FLAG, LIVE(kernel), NULL, "exclude user code" },
};

struct option_set live_option_set(struct live_options *into)
{
	return (struct option_set){ "Counting here (-- COMMAND):", live_list, COUNT(live_list),
				    into };
}

bool live_is_wanted(const struct live_options *o)
{
	return o->command != NULL || o->pids != NULL || o->tids != NULL || o->cpus != NULL ||
	       o->cgroup != NULL || o->all_cpus;
}

/* What is made on the way. */
struct live {
	const struct live_options *options;
	const struct stat_options *stat;
	const struct live_ticks *ticks;
	struct stat_plan plan;
	struct counts *out;
	double elapsed_ns; /* of all runs */
	uint32_t n_groups; /* of events, so far */
	int status;	   /* of the command: the first that is not 0 */
	bool is_interrupted;
};

/* "stress --cpu 4" */
static const char *command_text(struct counts *out, char *const *words)
{
	struct text text = { 0 };
	const char *kept;

	for (; words != NULL && *words != NULL; words++) {
		text_str(&text, text.n > 0 ? " " : "");
		text_str(&text, *words);
	}
	kept = text.n == 0 ? NULL : arena_strndup(&out->memory, text.bytes, text.n);
	text_release(&text);
	return kept;
}

/* "Thu Jun 27 09:58:08 2013" */
static const char *date_text(struct counts *out)
{
	char text[64];
	time_t now = time(NULL);
	struct tm local;
	size_t n = localtime_r(&now, &local) == NULL
			   ? 0
			   : strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);

	return n == 0 ? NULL : arena_strndup(&out->memory, text, n);
}

static struct target stat_live_target_of(const struct live_options *o)
{
	return (struct target){
		.command = o->command,
		.pids = o->pids,
		.tids = o->tids,
		.cpus = o->cpus,
		.cgroup = o->cgroup,
		.all_cpus = o->all_cpus,
	};
}

/* Said once, and before the command says anything; not to who wants software events alone. */
static void say_what_is_missing(const struct live *l)
{
	const struct stat_plan *plan = &l->plan;
	bool has_pmu = plan->cores.items[0].pmu != NULL;
	bool is_wanted = l->stat->events == NULL;

	for (size_t i = 0; i < plan->specs.list.n; i++)
		is_wanted |= event_takes_counter(&plan->specs.list.items[i]);
	if (!has_pmu && is_wanted)
		message_print("no hardware counters here: only the kernel's own events were "
			      "counted (cyclops doctor)");
	if (plan->n_left_out > 0)
		message_print("mixed cores: %zu more group%s of events not counted: events of a "
			      "task cannot be multiplexed here%s",
			      plan->n_left_out, plural(plan->n_left_out),
			      l->options->command == NULL ? "; use --all-cpus" : "; use --no-mux");
}

/* Groups are numbered from 1 in each run. */
static void number_groups(struct live *l, size_t first)
{
	uint32_t before = l->n_groups;

	for (size_t i = first; i < l->out->items.n; i++) {
		struct count *c = &l->out->items.items[i];

		if (c->group == 0)
			continue;
		c->group += before;
		l->n_groups = c->group > l->n_groups ? c->group : l->n_groups;
	}
}

/*
 * In a single run groups take turns. If there are too many for all of them only those take part
 * that the counts so far lead to.
 */
static bool goes_by_turns(const struct live *l)
{
	return !l->options->no_mux && stat_plan_is_method(l->stat) &&
	       stat_plan_n_groups(&l->plan) > STAT_PLAN_TURNS;
}

/* Reads --delay; *out_disabled: it is -1. */
static int read_delay(const struct live_options *o, unsigned *out_ms, bool *out_disabled,
		      struct err *err)
{
	char *end;
	long ms;

	*out_ms = 0;
	*out_disabled = false;
	if (o->delay == NULL)
		return 0;
	errno = 0;
	ms = strtol(o->delay, &end, 10);
	if (end == o->delay || *end != '\0' || errno != 0 || ms < -1 || ms > INT_MAX)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--delay %s: wanted milliseconds, or -1", o->delay);
	if (ms < 0 && o->control == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--delay -1: nothing would ever be counted without --control");
	*out_disabled = ms < 0;
	*out_ms = ms < 0 ? 0 : (unsigned)ms;
	return 0;
}

/* Counts what the plan has, and adds it to what there is. */
static int count(struct live *l, struct err *err)
{
	const struct live_options *o = l->options;
	const struct target target = stat_live_target_of(o);
	struct stat_choice choice = { .plan = &l->plan, .stat = l->stat };
	struct counting counting = {
		.target = &target,
		.pmus = &l->plan.pmus,
		.specs = &l->plan.specs,
		.root = "",
		.no_mux = o->no_mux,
		.n_runs = o->repeat,
		.interval_ms = o->interval_ms,
		.control = o->control,
		.by_cpu = o->by_cpu,
		.by_thread = o->by_thread,
		.without_children = o->no_inherit,
		.user_only = o->user,
		.kernel_only = o->kernel,
		.tick = l->ticks->tick,
		.context = l->ticks->context,
		.choose = goes_by_turns(l) ? stat_plan_choose : NULL,
		.choose_context = &choice,
	};
	struct counting_end end;
	size_t first = l->out->items.n;
	int rc;

	if (read_delay(o, &counting.delay_ms, &counting.starts_disabled, err) < 0)
		return -1;
	rc = counting_run(&counting, l->out, &end, err);

	if (l->status == 0)
		l->status = rc < 0 && end.status == 0 ? EXIT_FAILED : end.status;
	if (rc < 0)
		return -1;
	l->is_interrupted |= end.is_interrupted;
	l->elapsed_ns += (double)l->out->elapsed_ns * end.n_runs;
	l->out->n_runs += end.n_runs;
	l->out->elapsed_ns = (uint64_t)(l->elapsed_ns / l->out->n_runs + 0.5);
	number_groups(l, first);
	if (first == 0 && l->plan.cores.items[0].pmu != NULL && end.why[0] != '\0')
		message_print("%s", end.why);
	return 0;
}

/*
 * The method by runs: its first stage, then again and again only what the counts so far lead
 * to. Each round counts events that were not counted before, so there is an end.
 */
static int count_by_steps(struct live *l, struct err *err)
{
	struct stat_options roots = *l->stat;

	roots.level = 1;
	if (stat_plan_begin(&l->plan, &roots, err) < 0)
		return -1;
	while (l->plan.specs.list.n > 0) {
		if (count(l, err) < 0)
			return -1;
		if (l->is_interrupted)
			return 0;
		if (stat_plan_next(&l->plan, l->stat, l->out, err) < 0)
			return -1;
	}
	return 0;
}

/* One run is enough if everything the method may come to fits beside each other. */
static bool goes_by_steps(const struct live *l)
{
	return l->options->no_mux && l->options->command != NULL && l->options->interval_ms == 0 &&
	       stat_plan_is_method(l->stat) && stat_plan_n_groups(&l->plan) > 1;
}

static int plan_and_count(struct live *l, const struct catalog *catalog, const char *cpu_name,
			  struct err *err)
{
	const struct target target = stat_live_target_of(l->options);
	const struct plan_machine machine = {
		.root = "",
		.cpus = l->options->cpus,
		.cpu_name = cpu_name,
		.is_of_tasks = !target_is_cpus(&target),
		.no_mux = l->options->no_mux,
		.n_free = counters_available,
	};

	if (stat_plan_init(&l->plan, &machine, catalog, err) < 0 ||
	    stat_plan_begin(&l->plan, l->stat, err) < 0)
		return -1;
	say_what_is_missing(l);
	stat_plan_describe(&l->plan, l->out);
	l->out->command = command_text(l->out, l->options->command);
	l->out->date = date_text(l->out);
	if (l->ticks->begin != NULL)
		l->ticks->begin(l->ticks->context, l->out);
	return goes_by_steps(l) ? count_by_steps(l, err) : count(l, err);
}

/* What the doctor found to read 0 on this machine is no zero of the program. */
static void take_out_dead_events(const struct live *l)
{
	struct event_checks checks = { 0 };
	struct machine machine = { 0 };
	const char *name;

	if (l->plan.cores.n != 1 || l->plan.cores.items[0].pmu == NULL)
		return;
	machine_read(&machine, "");
	name = machine.cores.n > 0 ? machine.cores.items[0].name : NULL;
	event_checks_load(event_checks_key(&checks.memory, l->plan.cores.items[0].midr, name),
			  &checks);
	event_checks_apply(&checks, l->out);
	event_checks_release(&checks);
	machine_release(&machine);
}

int live_count(const struct live_options *options, const struct stat_options *stat,
	       const struct catalog *catalog, const char *cpu_name, const struct live_ticks *ticks,
	       struct counts *out, int *out_status, struct err *err)
{
	struct live l = { .options = options, .stat = stat, .ticks = ticks, .out = out };
	int rc = plan_and_count(&l, catalog, cpu_name, err);

	if (rc == 0)
		take_out_dead_events(&l);
	out->status = l.status;
	*out_status = rc < 0 && l.status == 0 ? EXIT_FAILED : l.status;
	stat_plan_release(&l.plan);
	return rc;
}

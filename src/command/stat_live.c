/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops stat -- COMMAND: from metrics to events to counts. */
#include "command/stat_live.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "analysis/stat_types.h"
#include "base/alloc.h"
#include "collect/counters.h"
#include "collect/counting.h"
#include "collect/machine.h"
#include "command/common.h"

#define LIVE(field) offsetof(struct live_options, field)

static const struct option live_list[] = {
	{ "pid", 'p', OPTION_TEXT, LIVE(pids), "PID[,PID]",
	  "these processes, all threads of them" },
	{ "tid", 't', OPTION_TEXT, LIVE(tids), "TID[,TID]", "these threads" },
	{ "all-cpus", 'a', OPTION_FLAG, LIVE(all_cpus), NULL, "everything on all CPUs" },
	{ "cpus", 'C', OPTION_TEXT, LIVE(cpus), "LIST", "everything on these CPUs: 0-3,8" },
	{ "cgroup", 'G', OPTION_TEXT, LIVE(cgroup), "PATH", "everything in this cgroup" },
	{ "by-cpu", 'A', OPTION_FLAG, LIVE(by_cpu), NULL, "counts of each CPU" },
	{ "by-thread", 0, OPTION_FLAG, LIVE(by_thread), NULL, "counts of each thread" },
	{ "interval", 'I', OPTION_NUMBER, LIVE(interval_ms), "MS", "counts every so often, too" },
	{ "repeat", 'r', OPTION_NUMBER, LIVE(repeat), "N",
	  "run the command N times: mean and spread" },
	{ "no-mux", 0, OPTION_FLAG, LIVE(no_mux), NULL,
	  "groups of events do not take turns: run the command once\n"
	  "                          for each" },
	{ "no-inherit", 'i', OPTION_FLAG, LIVE(no_inherit), NULL,
	  "leave children and new threads out" },
	{ "user", 'u', OPTION_FLAG, LIVE(user), NULL, "leave the kernel out" },
	{ "kernel", 'k', OPTION_FLAG, LIVE(kernel), NULL, "only the kernel" },
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

/* Always counted: what the kernel knows without a PMU. */
static const char software_events[] = "task-clock,context-switches,cpu-migrations,page-faults";

/* What is made on the way. */
struct live {
	const struct live_options *options;
	struct pmus pmus;
	const struct pmu *core; /* NULL: this machine has no PMU */
	unsigned n_free;
	struct event_sets wanted, packed;
	struct event_specs specs;
};

static int add_event(struct live *l, const struct wanted_event *wanted, uint32_t group,
		     struct err *err)
{
	const struct cpu_event *event = wanted->event;
	size_t n_before = l->specs.list.n;

	if (event != NULL && event->linux_name == NULL && l->core != NULL)
		event_specs_add_code(&l->specs, event->name, l->core, event->code);
	else if (event_specs_parse(&l->specs,
				   event != NULL && event->linux_name != NULL ? event->linux_name
									      : wanted->name,
				   &l->pmus, NULL, err) < 0)
		return -1;
	for (size_t i = n_before; i < l->specs.list.n; i++) {
		l->specs.list.items[i].group = group;
		if (event != NULL)
			l->specs.list.items[i].name = event->name;
	}
	return 0;
}

/* Two names of one event in a group: a counter for it is enough. */
static void drop_repeated(struct live *l, size_t first)
{
	size_t n = first;

	for (size_t i = first; i < l->specs.list.n; i++) {
		const struct event_spec *spec = &l->specs.list.items[i];
		bool is_new = true;

		for (size_t k = first; k < n; k++)
			is_new &= l->specs.list.items[k].pmu != spec->pmu ||
				  memcmp(&l->specs.list.items[k].attr, &spec->attr,
					 sizeof(spec->attr)) != 0;
		if (is_new)
			l->specs.list.items[n++] = *spec;
	}
	l->specs.list.n = n;
}

static int add_sets(struct live *l, const struct event_sets *sets, struct err *err)
{
	for (size_t i = 0; i < sets->list.n; i++) {
		const struct event_set *set = &sets->list.items[i];
		uint32_t group = ++l->specs.n_groups;
		size_t first = l->specs.list.n;

		for (size_t k = 0; k < set->n; k++)
			if (add_event(l, &set->events[k], group, err) < 0)
				return -1;
		drop_repeated(l, first);
	}
	return 0;
}

/* A machine without a PMU still has the kernel's events; others only if asked for by name. */
static int choose_events(struct live *l, const struct cpu_pmu *pmu, const struct stat_options *stat,
			 struct err *err)
{
	bool is_asked = stat->events != NULL || stat->metrics != NULL || stat->groups != NULL;

	if (stat->events == NULL &&
	    event_specs_parse(&l->specs, software_events, &l->pmus, NULL, err) < 0)
		return -1;
	if (l->core == NULL && !is_asked)
		return 0;
	if (stat_wanted(pmu, stat, &l->wanted, err) < 0)
		return -1;
	if (l->n_free == 0)
		return add_sets(l, &l->wanted, err);
	event_sets_pack(pmu, &l->wanted, l->n_free, &l->packed);
	return add_sets(l, &l->packed, err);
}

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

static bool is_hardware(const struct event_spec *spec)
{
	return spec->attr.type == ATTR_TYPE_HARDWARE || spec->attr.type == ATTR_TYPE_HW_CACHE ||
	       spec->attr.type == ATTR_TYPE_RAW || (spec->pmu != NULL && spec->pmu->is_core);
}

/* Said once, and before the command says anything; not to who wants software events alone. */
static void say_what_is_missing(struct live *l, const struct stat_options *stat)
{
	bool is_wanted = stat->events == NULL;

	for (size_t i = 0; i < l->specs.list.n; i++)
		is_wanted |= is_hardware(&l->specs.list.items[i]);
	if (l->core == NULL && is_wanted)
		fprintf(stderr, "cyclops: no hardware counters here, only the kernel's own events; "
				"cyclops doctor says why\n");
	if (pmus_core(&l->pmus, 1) != NULL && is_wanted)
		fprintf(stderr, "cyclops: mixed cores: metrics are those of %s alone\n",
			l->core->name);
}

static int count(struct live *l, struct counts *out, int *out_status, struct err *err)
{
	const struct live_options *o = l->options;
	const struct target target = {
		.command = o->command,
		.pids = o->pids,
		.tids = o->tids,
		.cpus = o->cpus,
		.cgroup = o->cgroup,
		.all_cpus = o->all_cpus,
	};
	const struct counting counting = {
		.target = &target,
		.pmus = &l->pmus,
		.specs = &l->specs,
		.root = "",
		.one_group_at_a_time = o->no_mux,
		.n_runs = o->repeat,
		.interval_ms = o->interval_ms,
		.by_cpu = o->by_cpu,
		.by_thread = o->by_thread,
		.without_children = o->no_inherit,
		.user_only = o->user,
		.kernel_only = o->kernel,
	};
	struct counting_end end;
	int rc = counting_run(&counting, out, &end, err);

	*out_status = rc < 0 && end.status == 0 ? EXIT_FAILED : end.status;
	if (rc == 0 && l->core != NULL && end.why[0] != '\0')
		fprintf(stderr, "cyclops: %s\n", end.why);
	return rc;
}

int live_count(const struct live_options *options, const struct stat_options *stat,
	       const struct catalog *catalog, const char *cpu_name, struct counts *out,
	       int *out_status, struct err *err)
{
	struct live l = { .options = options };
	struct cpu_pmu *facts = NULL;
	int rc = -1;

	*out_status = EXIT_FAILED;
	pmus_read(&l.pmus, "");
	l.core = pmus_core(&l.pmus, 0);
	l.n_free = l.core == NULL ? 0 : counters_free(&l.pmus, l.core);
	out->n_counters = l.n_free;
	out->midr = machine_midr(
		"", l.core != NULL && l.core->cpus.n > 0 ? l.core->cpus.items[0].first : 0);
	if (stat_facts(catalog, cpu_name, out, &facts, err) < 0 ||
	    choose_events(&l, facts, stat, err) < 0)
		goto out;
	say_what_is_missing(&l, stat);
	out->command = command_text(out, options->command);
	rc = count(&l, out, out_status, err);
out:
	cpu_pmu_free(facts);
	event_sets_release(&l.wanted);
	event_sets_release(&l.packed);
	event_specs_release(&l.specs);
	pmus_release(&l.pmus);
	return rc;
}

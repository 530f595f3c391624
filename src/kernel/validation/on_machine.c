/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/validation/on_machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counting/counters.h"
#include "counting/handles.h"
#include "cpu/event_name.h"
#include "pmu/event_spec.h"
#include "system/caches.h"

/* A group: events that are counted in the same run. */
struct group {
	uint32_t events[GROUP_MAX]; /* numbers of the specs */
	size_t n;
	unsigned n_counters; /* that it takes, without that of cycles */
	bool is_software;
};

/* Events as they are counted. */
struct plan {
	struct event_specs specs;
	VEC_OF(size_t) event_of; /* by spec: its number among the caller's */
	VEC_OF(struct group) groups;
};

bool on_machine_is_software(const char *event)
{
	static const char *const names[] = { "page-faults",	 "minor-faults",   "major-faults",
					     "context-switches", "cpu-migrations", "task-clock" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (strcmp(names[i], event) == 0)
			return true;
	return false;
}

/* Adds the spec of an event; false if nothing counts it here. */
static bool add_spec(struct plan *p, const struct on_machine *m, const char *name)
{
	const struct cpu_event *event = m->facts != NULL ? cpu_event_of_name(m->facts, name) : NULL;
	const char *linux_name = on_machine_is_software(name) ? name
				 : event != NULL	      ? event->linux_name
							      : NULL;
	size_t before = p->specs.list.n;
	struct err ignored;

	if (linux_name != NULL)
		return event_specs_parse(&p->specs, linux_name, m->pmus, NULL, &ignored) == 0 &&
		       p->specs.list.n == before + 1;
	if (event == NULL || m->core == NULL)
		return false;
	event_specs_add_code(&p->specs, name, m->core, event->code);
	return true;
}

static bool is_cycles(const char *event)
{
	return strcmp(event, "CPU_CYCLES") == 0 || strcmp(event, "CYCLES") == 0;
}

/*
 * Puts an event into the last group of its kind, or another one. Cycles have a counter of their own, so
 * they fit into any.
 */
static void add_to_groups(struct plan *p, const struct on_machine *m, uint32_t spec,
			  const char *name)
{
	bool is_software = on_machine_is_software(name);
	bool takes_counter = !is_software && !is_cycles(name);
	struct group *last = NULL;

	for (size_t i = 0; i < p->groups.n; i++)
		if (p->groups.items[i].is_software == is_software)
			last = &p->groups.items[i];
	if (last == NULL || last->n == GROUP_MAX ||
	    (takes_counter && last->n_counters >= m->n_counters)) {
		last = vec_add(&p->groups);
		*last = (struct group){ .is_software = is_software };
	}
	last->n_counters += takes_counter;
	last->events[last->n++] = spec;
}

static void make_plan(struct plan *p, const struct on_machine *m, const char *const *events,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t spec = (uint32_t)p->specs.list.n;

		if (!add_spec(p, m, events[i]))
			continue;
		*vec_add(&p->event_of) = i;
		add_to_groups(p, m, spec, events[i]);
	}
}

static void plan_release(struct plan *p)
{
	event_specs_release(&p->specs);
	vec_release(&p->event_of);
	vec_release(&p->groups);
}

/* Reads what a run counted. What did not run all of the time, or not at all, is not counted. */
static void read_group(struct on_machine *m, const struct plan *p, const struct handles *h,
		       const char *const *events, struct kernel_count *out)
{
	for (size_t leader = 0, n; leader < h->list.n; leader += n) {
		struct reading readings[GROUP_MAX];

		if (!handles_read(h, leader, readings, &n))
			continue;
		for (size_t i = 0; i < n; i++) {
			size_t event = p->event_of.items[h->list.items[leader + i].event];
			const struct reading *r = &readings[i];

			if (r->running_ns == 0 || r->running_ns < r->enabled_ns)
				continue;
			out[event] = (struct kernel_count){ true, (double)r->value };
			if (is_cycles(events[event])) {
				m->cycles += (double)r->value;
				m->running_ns += (double)r->running_ns;
			}
		}
	}
}

static void run_nothing(struct microbenchmark_run *run)
{
	(void)run;
}

/* One run of the kernel, with the events of a group. */
static int run_group(struct on_machine *m, const struct plan *p, const struct group *group,
		     struct microbenchmark_run *run, const char *const *events,
		     struct kernel_count *out, struct err *err)
{
	const struct target_place here = { .pid = 0, .cpu = EVENT_ANY_CPU, .tid = COUNT_ANY };
	const struct opening opening = {
		.specs = p->specs.list.items,
		.events = group->events,
		.n_events = group->n,
		.group = 1,
		.next_group = 1,
		.place = &here,
		.user_only = !group->is_software,
	};
	struct open_outcome *outcomes = mem_zalloc(p->specs.list.n, sizeof(*outcomes));
	struct handles handles = { .kernel = m->kernel };
	int rc = handles_open(&handles, &opening, outcomes, "", err);

	if (rc == 0) {
		handles_start(&handles);
		run->what->run(run);
		handles_stop(&handles);
		read_group(m, p, &handles, events, out);
	}
	handles_release(&handles);
	free(outcomes);
	return rc;
}

static int count_here(void *context, const struct kernel_setting *setting,
		      const char *const *events, size_t n_events, unsigned n_repeats,
		      struct kernel_count *out, struct err *err)
{
	struct on_machine *m = context;
	static const struct microbenchmark does_nothing = { .run = run_nothing };
	struct microbenchmark_run run = { 0 }, empty = { .what = &does_nothing };
	struct kernel_count *nothing;
	struct plan plan = { 0 };
	cpu_set_t old;
	int rc;

	sched_getaffinity(0, sizeof(old), &old);
	if (m->core != NULL && !m->is_pinned)
		counters_move_to(m->core, &old);
	memset(out, 0, n_repeats * n_events * sizeof(*out));
	make_plan(&plan, m, events, n_events);
	nothing = mem_zalloc(n_events, sizeof(*nothing));
	rc = microbenchmark_prepare(setting->what, setting->values, ANY_CPU, &run, err);
	for (size_t i = 0; i < plan.groups.n && rc == 0; i++)
		rc = run_group(m, &plan, &plan.groups.items[i], &empty, events, nothing, err);
	for (unsigned repeat = 0; repeat < n_repeats && rc == 0; repeat++) {
		struct kernel_count *to = &out[repeat * n_events];

		for (size_t i = 0; i < plan.groups.n && rc == 0; i++)
			rc = run_group(m, &plan, &plan.groups.items[i], &run, events, to, err);
		for (size_t i = 0; i < n_events; i++)
			kernel_count_subtract(&to[i], &nothing[i]);
	}
	free(nothing);
	microbenchmark_release(&run);
	plan_release(&plan);
	sched_setaffinity(0, sizeof(old), &old);
	return rc;
}

struct cache_sizes on_machine_sizes(const char *root)
{
	struct caches caches;
	struct cache_sizes out = { 0 };

	caches_read(&caches, root, 0);
	out.l1d_bytes = caches_bytes(&caches, 1);
	out.l2_bytes = caches_bytes(&caches, 2);
	if (caches.n > 0 && caches.items[caches.n - 1].level > 2)
		out.llc_bytes = caches_last(&caches);
	return out;
}

static double ghz_here(void *context)
{
	const struct on_machine *m = context;

	return m->running_ns > 0 ? m->cycles / m->running_ns : 0;
}

struct measurer on_machine_measurer(struct on_machine *m)
{
	return (struct measurer){ .context = m, .count = count_here, .ghz = ghz_here };
}

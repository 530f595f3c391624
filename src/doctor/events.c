/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "counting/counters.h"
#include "cpu/event_name.h"
#include "doctor/kernels.h"
#include "pmu/event_spec.h"

enum { READ_TIMES = 3, NAME_MAX = 192 }; /* read_format: time enabled, time running */

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

/* A kernel with its prepared memory. Events of the same kernel share it. */
struct loaded_kernel {
	const struct doctor_kernel *kernel;
	void *memory;  /* NULL: the kernel needs none, or mmap() failed */
	bool is_ready; /* it can run */
};

static void tear_down_kernel(struct loaded_kernel *s)
{
	if (s->memory != NULL)
		munmap(s->memory, s->kernel->memory_bytes);
	*s = (struct loaded_kernel){ 0 };
}

/* Replaces the loaded kernel. Memory is in small pages, so that loops over it miss the TLB. */
static void set_up_kernel(struct loaded_kernel *s, const struct doctor_kernel *kernel)
{
	int protection = PROT_READ | PROT_WRITE | (kernel->is_code ? PROT_EXEC : 0);
	void *memory;

	if (s->kernel == kernel)
		return;
	tear_down_kernel(s);
	s->kernel = kernel;
	s->is_ready = kernel->memory_bytes == 0;
	if (s->is_ready)
		return;
	memory = mmap(NULL, kernel->memory_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	s->memory = memory;
	s->is_ready = true;
	madvise(memory, kernel->memory_bytes, MADV_NOHUGEPAGE);
	kernel->prepare(memory, kernel->memory_bytes);
}

/* Opens the event for this thread in user mode, disabled. Returns the descriptor, or -errno. */
static int open_disabled(const struct doctor_counter *c, const struct cpu_event *event)
{
	struct event_specs specs = { 0 };
	struct event_request request = {
		.name = event->name,
		.cpu = EVENT_ANY_CPU,
		.group_fd = EVENT_NO_GROUP,
	};
	struct err ignored;
	struct attr attr;
	int fd = -ENOENT;

	if (event->linux_name == NULL)
		event_specs_add_code(&specs, event->name, c->core, event->code);
	if (event->linux_name == NULL ||
	    event_specs_parse(&specs, event->linux_name, c->pmus, NULL, &ignored) == 0) {
		attr = specs.list.items[0].attr;
		attr.flags |= 1ull << ATTR_DISABLED | 1ull << ATTR_EXCLUDE_KERNEL |
			      1ull << ATTR_EXCLUDE_HV;
		attr.read_format = READ_TIMES;
		request.attr = &attr;
		fd = c->kernel->open(c->kernel->context, &request);
	}
	event_specs_release(&specs);
	return fd;
}

/* Counts the event in one run of the kernel. False: it did not run all of the time, or failed. */
static bool count_run(const struct doctor_counter *c, const struct cpu_event *event,
		      const struct loaded_kernel *s, double *out)
{
	const struct kernel *k = c->kernel;
	struct {
		uint64_t value, enabled_ns, running_ns;
	} read = { 0 };
	int fd = open_disabled(c, event);
	bool is_read;

	if (fd < 0)
		return false;
	k->control(k->context, fd, KERNEL_ENABLE, 0);
	s->kernel->run(s->kernel->n_steps, s->memory);
	k->control(k->context, fd, KERNEL_DISABLE, 0);
	is_read = k->read(k->context, fd, &read, sizeof(read)) == (int64_t)sizeof(read);
	k->close(k->context, fd);
	*out = (double)read.value;
	return is_read && read.running_ns > 0 && read.running_ns >= read.enabled_ns;
}

static void add_verdict_row(struct table *t, const struct cpu_event *event, const char *verdict,
			    const struct doctor_expectation *e, const double *count, double factor)
{
	struct cell *row = table_add_row(t);

	row[EVENT] = cell_text(event->name);
	row[VERDICT] = cell_text(verdict);
	if (factor != 1)
		row[FACTOR] = cell_number(factor);
	if (e == NULL)
		return;
	row[EXPECTED] =
		cell_text(e->least == e->most ? table_format(t, "%g", e->least)
					      : table_format(t, "%g to %g", e->least, e->most));
	row[STEP_LEAST] = cell_number(e->least);
	row[STEP_MOST] = cell_number(e->most);
	row[KERNEL] = cell_text(e->kernel->name);
	row[WHAT] = cell_text(e->kernel->what);
	if (count != NULL)
		row[COUNTED] = cell_number(*count / (double)e->kernel->n_steps);
}

static void check_event(const struct doctor_counter *c, const struct cpu_event *event,
			struct loaded_kernel *loaded, struct table *out, struct event_checks *found)
{
	const struct doctor_expectation *e = doctor_expectation_find(event->name);
	struct event_check check;
	double count;

	if (e == NULL) {
		add_verdict_row(out, event, "no kernel", NULL, NULL, 1);
		return;
	}
	set_up_kernel(loaded, e->kernel);
	if (!loaded->is_ready || !count_run(c, event, loaded, &count)) {
		add_verdict_row(out, event, "not counted", e, NULL, 1);
		return;
	}
	check = doctor_verdict(e, count);
	event_checks_add(found, event->name, check.verdict, check.factor);
	add_verdict_row(out, event, event_verdict_name(check.verdict), e, &count, check.factor);
}

static const char *pmu_event_name_at(const void *context, size_t i)
{
	const struct cpu_pmu *pmu = context;

	return i < pmu->n_events ? pmu->events[i].name : NULL;
}

static int check_named_events(const struct doctor_counter *c, const char *names,
			      struct loaded_kernel *loaded, struct table *out,
			      struct event_checks *found, struct err *err)
{
	while (*names != '\0') {
		size_t length = strcspn(names, ",");
		const struct cpu_event *event;
		char name[NAME_MAX];

		snprintf(name, sizeof(name), "%.*s",
			 (int)(length < NAME_MAX ? length : NAME_MAX - 1), names);
		event = cpu_event_of_name(c->facts, name);
		if (event == NULL) {
			char advice[NAME_MAX + 32];

			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--events: %s has no event '%s'%s", cpu_name(c->facts->cpu),
				       name,
				       did_you_mean(name, pmu_event_name_at, c->facts, "", advice,
						    sizeof(advice)));
		}
		check_event(c, event, loaded, out, found);
		names += length + (names[length] == ',');
	}
	return 0;
}

/* Events are in the order of their kernels, so that each kernel is loaded once. */
static void check_known_events(const struct doctor_counter *c, struct loaded_kernel *loaded,
			       struct table *out, struct event_checks *found)
{
	const struct doctor_expectation *e;

	for (size_t i = 0; (e = doctor_expectation_at(i)) != NULL; i++) {
		const struct cpu_event *event = cpu_event_find(c->facts, e->event);

		if (event != NULL && e->kernel->run != NULL &&
		    (event->linux_name != NULL || pmu_has_event(c->core, event->code)))
			check_event(c, event, loaded, out, found);
	}
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

int doctor_events(const struct doctor_counter *c, const char *names, struct table *out,
		  struct event_checks *found, struct err *err)
{
	struct loaded_kernel loaded = { 0 };
	cpu_set_t old;
	int rc = 0;

	counters_move_to(c->core, &old);
	table_init(out, "events", NULL, columns, COUNT(columns));
	if (names[0] != '\0')
		rc = check_named_events(c, names, &loaded, out, found, err);
	else
		check_known_events(c, &loaded, out, found);
	tear_down_kernel(&loaded);
	sched_setaffinity(0, sizeof(old), &old);
	set_events_title(found, out);
	return rc;
}

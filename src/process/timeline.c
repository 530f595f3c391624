/* SPDX-License-Identifier: Apache-2.0 */
#include "process/timeline.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "process/module_table.h"
#include "process/notes.h"
#include "process/replay.h"
#include "process/spaces.h"
#include "process/switches.h"
#include "process/tasks.h"

struct timeline {
	struct strings strings;
	struct diags diags;
	struct notes notes; /* empty once frozen */
	struct switches switches;
	struct module_table modules;
	struct spaces spaces;
	struct tasks tasks;
	bool is_frozen, is_by_position;
};

struct timeline *timeline_new(void)
{
	struct timeline *t = mem_zalloc(1, sizeof(*t));

	strings_init(&t->strings);
	switches_init(&t->switches);
	notes_init(&t->notes, &t->switches, &t->strings, &t->diags);
	module_table_init(&t->modules, &t->strings);
	spaces_init(&t->spaces);
	tasks_init(&t->tasks, &t->spaces, strings_addz(&t->strings, "swapper"));
	return t;
}

void timeline_free(struct timeline *t)
{
	if (t == NULL)
		return;
	notes_release(&t->notes);
	switches_release(&t->switches);
	module_table_release(&t->modules);
	spaces_release(&t->spaces);
	tasks_release(&t->tasks);
	diags_release(&t->diags);
	strings_release(&t->strings);
	free(t);
}

void timeline_visit(void *timeline, const struct record *record, const struct sample_id *id)
{
	struct timeline *t = timeline;

	assert(!t->is_frozen);
	notes_take(&t->notes, record, id);
}

void timeline_freeze(struct timeline *t, const struct info *info,
		     const struct strings *info_strings)
{
	assert(!t->is_frozen);
	t->is_frozen = true;
	module_table_build_ids(&t->modules, info, info_strings);
	notes_sort(&t->notes);
	replay_notes(&t->notes, &(struct replay){
					.strings = &t->strings,
					.modules = &t->modules,
					.spaces = &t->spaces,
					.tasks = &t->tasks,
				});
	t->is_by_position = !t->notes.have_times && t->notes.list.n > 0;
	if (t->is_by_position)
		tasks_forget_times(&t->tasks);
	tasks_freeze(&t->tasks, strings_addz(&t->strings, "kthreadd"));
	spaces_freeze(&t->spaces, (uint32_t)t->tasks.processes.n);
	switches_freeze(&t->switches);
	notes_release(&t->notes);
}

const struct diags *timeline_diags(const struct timeline *t)
{
	return &t->diags;
}

const struct modules *timeline_modules(const struct timeline *t)
{
	assert(t->is_frozen);
	return &t->modules.modules;
}

size_t timeline_n_processes(const struct timeline *t)
{
	assert(t->is_frozen);
	return t->tasks.processes.n;
}

const struct process *timeline_process(const struct timeline *t, uint32_t index)
{
	assert(t->is_frozen && index < t->tasks.processes.n);
	return &t->tasks.processes.items[index];
}

bool timeline_is_by_position(const struct timeline *t)
{
	assert(t->is_frozen);
	return t->is_by_position;
}

const struct strings *timeline_strings(const struct timeline *t)
{
	return &t->strings;
}

struct span timeline_pid_span(const struct timeline *t, uint32_t pid, uint64_t time_ns)
{
	assert(t->is_frozen);
	return tasks_find_pid(&t->tasks, pid, time_ns);
}

struct span timeline_tid_span(const struct timeline *t, uint32_t tid, uint64_t time_ns)
{
	assert(t->is_frozen);
	return tasks_find_tid(&t->tasks, tid, time_ns);
}

struct span timeline_cpu_span(const struct timeline *t, uint32_t cpu, uint64_t time_ns)
{
	assert(t->is_frozen);
	return switches_find(&t->switches, cpu, time_ns);
}

static uint32_t process_or_unknown(struct span span)
{
	return span.value == HISTORY_NONE ? 0 : span.value;
}

uint32_t timeline_process_of_pid(const struct timeline *t, uint32_t pid, uint64_t time_ns)
{
	return process_or_unknown(timeline_pid_span(t, pid, time_ns));
}

uint32_t timeline_process_of_tid(const struct timeline *t, uint32_t tid, uint64_t time_ns)
{
	return process_or_unknown(timeline_tid_span(t, tid, time_ns));
}

struct str_id timeline_comm(const struct timeline *t, uint32_t tid, uint64_t time_ns)
{
	assert(t->is_frozen);
	return tasks_comm_of(&t->tasks, tid, time_ns);
}

bool timeline_tid_on_cpu(const struct timeline *t, uint32_t cpu, uint64_t time_ns, uint32_t *tid)
{
	struct span span = timeline_cpu_span(t, cpu, time_ns);

	if (span.value == HISTORY_NONE)
		return false;
	*tid = span.value;
	return true;
}

struct placed timeline_place(const struct timeline *t, uint32_t process, bool is_kernel,
			     uint64_t address, uint64_t time_ns)
{
	struct placed placed = {
		.place.offset = address,
		.to_ns = UINT64_MAX,
		.last = UINT64_MAX,
	};
	const struct mapping *m;
	struct spot spot;

	assert(t->is_frozen && process < t->tasks.processes.n);
	if (process == 0 && !is_kernel)
		return placed;
	spot = spaces_find(&t->spaces, is_kernel ? SPACES_KERNEL : process, time_ns, address);
	placed.from_ns = spot.from_ns;
	placed.to_ns = spot.to_ns;
	placed.first = spot.range.start;
	placed.last = spot.range.last;
	m = spot.mapping;
	if (m == NULL)
		return placed;
	placed.is_data = m->is_data;
	placed.place.module = m->module;
	placed.place.offset = module_offset(modules_get(&t->modules.modules, m->module)->kind,
					    m->range.start, m->page_offset, address);
	return placed;
}

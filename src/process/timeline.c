/* SPDX-License-Identifier: Apache-2.0 */
#include "process/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "process/guests.h"
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
	struct guests guests;
	struct tasks tasks;
	uint32_t *n_of_program; /* processes by module */
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
	guests_release(&t->guests);
	tasks_release(&t->tasks);
	diags_release(&t->diags);
	strings_release(&t->strings);
	free(t->n_of_program);
	free(t);
}

void timeline_visit(void *timeline, const struct record *record, const struct sample_id *id)
{
	struct timeline *t = timeline;

	assert(!t->is_frozen);
	notes_take(&t->notes, record, id);
}

struct jit_dump *timeline_jit_dumps(const struct timeline *t, size_t *out_n)
{
	assert(!t->is_frozen);
	return jit_dumps_find(&t->notes, out_n);
}

void timeline_map_jit(struct timeline *t, const struct jit_dump *dump, const struct jit_code *codes,
		      size_t n)
{
	assert(!t->is_frozen);
	jit_dumps_map(&t->notes, dump, codes, n);
}

void timeline_add_guests(struct timeline *t)
{
	assert(!t->is_frozen);
	t->guests.are_there = true;
}

void timeline_map_guest(struct timeline *t, uint32_t pid, uint64_t first, uint64_t last,
			const char *path)
{
	assert(!t->is_frozen);
	notes_map_guest(&t->notes, &(struct guest_note){
					   .pid = pid,
					   .range = { first, last },
					   .path = strings_addz(&t->strings, path),
				   });
}

/* By module: the first module with the same build-id, or itself. To be freed. */
static struct module_id *first_of_build_id(const struct modules *m)
{
	enum { WORDS = 1 + (BUILD_ID_MAX + 7) / 8 }; /* its size, then its bytes */
	struct module_id *first = mem_alloc(m->list.n, sizeof(*first));
	VEC_OF(struct module_id) of_number = { 0 };
	struct tuples seen;

	tuples_init(&seen, WORDS);
	for (uint32_t i = 0; i < m->list.n; i++) {
		const struct build_id *id = &m->list.items[i].build_id;
		uint64_t key[WORDS] = { id->size };
		uint32_t number;

		first[i] = (struct module_id){ i };
		if (id->size == 0)
			continue;
		memcpy(&key[1], id->bytes, id->size);
		number = tuples_add(&seen, key);
		if (number == of_number.n)
			*vec_add(&of_number) = first[i];
		first[i] = of_number.items[number];
	}
	tuples_release(&seen);
	vec_release(&of_number);
	return first;
}

/* Which program each process runs. Processes of one file have one program, whatever its path. */
static void find_programs(struct timeline *t)
{
	uint32_t n = (uint32_t)t->tasks.processes.n;
	struct module_id *first = first_of_build_id(&t->modules.modules);
	const char **comms = mem_alloc(n + 1u, sizeof(*comms));
	struct module_id *programs;

	for (uint32_t i = 0; i < n; i++)
		comms[i] = strings_get(&t->strings, t->tasks.processes.items[i].comm);
	programs = spaces_programs(&t->spaces, &t->modules.modules, comms, n);
	t->n_of_program = mem_zalloc(t->modules.modules.list.n + 1, sizeof(*t->n_of_program));
	for (uint32_t i = 0; i < n; i++) {
		struct process *p = &t->tasks.processes.items[i];

		p->program = p->is_kernel ? (struct module_id){ 0 } : first[programs[i].v];
		t->n_of_program[p->program.v]++;
	}
	free(first);
	free(comms);
	free(programs);
}

void timeline_freeze(struct timeline *t, const struct info *info,
		     const struct strings *info_strings, struct pool *pool)
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
	guests_freeze(&t->guests, &t->notes, &t->modules);
	t->is_by_position = !t->notes.have_times && t->notes.list.n > 0;
	if (t->is_by_position)
		tasks_forget_times(&t->tasks);
	tasks_freeze(&t->tasks, strings_addz(&t->strings, "kthreadd"));
	find_programs(t);
	spaces_freeze(&t->spaces, (uint32_t)t->tasks.processes.n, pool);
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

uint32_t timeline_n_of_program(const struct timeline *t, struct module_id program)
{
	return t->n_of_program[program.v];
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

struct placed timeline_place_of(const struct timeline *t, uint32_t whose, uint64_t address,
				uint64_t time_ns)
{
	if (place_is_of_guest(whose))
		return guests_place(&t->guests,
				    timeline_process(t, whose & ~PLACE_OF_GUEST_USER)->pid,
				    whose >= PLACE_OF_GUEST_USER, address);
	return timeline_place(t, whose == PLACE_OF_NOBODY ? 0 : whose, whose == PLACE_OF_KERNEL,
			      address, time_ns);
}

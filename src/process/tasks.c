/* SPDX-License-Identifier: Apache-2.0 */
#include "process/tasks.h"

#include <assert.h>

static uint32_t new_process(struct tasks *t, uint32_t pid, uint32_t parent, uint64_t start_ns)
{
	uint32_t index = (uint32_t)t->processes.n;

	*vec_add(&t->processes) = (struct process){
		.pid = pid,
		.parent = parent,
		.start_ns = start_ns,
		.end_ns = UINT64_MAX,
	};
	vec_add(&t->states);
	return index;
}

/* Makes this process the owner of its pid. */
static void give_pid(struct tasks *t, uint32_t process)
{
	const struct process *p = &t->processes.items[process];
	uint32_t number = tuples_add(&t->pids, &(uint64_t){ p->pid });

	if (number == t->pid_owners.n)
		vec_add(&t->pid_owners);
	t->pid_owners.items[number] = process;
	history_add(&t->by_pid, number, p->start_ns, process);
}

/* The process that has the pid now, 0 if none. */
static uint32_t owner_of_pid(const struct tasks *t, uint32_t pid)
{
	uint32_t number = tuples_find(&t->pids, &(uint64_t){ pid });

	return number == TUPLES_NONE ? 0 : t->pid_owners.items[number];
}

uint32_t tasks_process(struct tasks *t, uint32_t pid)
{
	uint32_t process = owner_of_pid(t, pid);

	if (process != 0)
		return process;
	process = new_process(t, pid, 0, 0);
	t->states.items[process].space = spaces_add_empty(t->spaces, process, 0);
	give_pid(t, process);
	return process;
}

static uint32_t tasks_thread_number(struct tasks *t, uint32_t tid)
{
	uint32_t number = tuples_add(&t->tids, &(uint64_t){ tid });

	if (number == t->threads.n)
		vec_add(&t->threads);
	return number;
}

static void set_state(struct tasks *t, uint32_t thread, uint64_t time_ns, struct thread_state state)
{
	history_add(&t->by_tid, thread, time_ns, (uint32_t)t->thread_states.n);
	*vec_add(&t->thread_states) = state;
	t->threads.items[thread].state = state;
}

/* Ends a thread: by EXIT, or because its tid appears in another process. */
static void end_thread(struct tasks *t, uint32_t thread, uint64_t time_ns)
{
	struct thread_now *now = &t->threads.items[thread];
	uint32_t process = now->state.process;

	if (!now->is_known || !now->is_alive)
		return;
	now->is_alive = false;
	if (--t->states.items[process].n_alive == 0)
		t->processes.items[process].end_ns = time_ns;
}

/* Begins a thread of a process, or notes one that is seen for the first time. */
static void begin_thread(struct tasks *t, uint32_t thread, uint64_t time_ns,
			 struct thread_state state)
{
	end_thread(t, thread, time_ns);
	set_state(t, thread, time_ns, state);
	t->threads.items[thread].is_known = true;
	t->threads.items[thread].is_alive = true;
	t->states.items[state.process].n_alive++;
	t->processes.items[state.process].n_threads++;
	t->processes.items[state.process].end_ns = UINT64_MAX;
}

/* Makes the thread known as one of this process. Returns its number. */
static uint32_t tasks_settle(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint32_t process = tasks_process(t, pid), thread = tasks_thread_number(t, tid);
	const struct thread_now *now = &t->threads.items[thread];
	struct thread_state state = { .process = process };

	if (!now->is_known)
		begin_thread(t, thread, t->processes.items[process].start_ns, state);
	else if (now->state.process != process)
		begin_thread(t, thread, time_ns, state);
	return thread;
}

void tasks_init(struct tasks *t, struct spaces *spaces, struct str_id idle_name)
{
	*t = (struct tasks){ .spaces = spaces };
	tuples_init(&t->pids, 1);
	tuples_init(&t->tids, 1);
	new_process(t, UINT32_MAX, 0, 0);
	tasks_comm(t, 0, 0, idle_name, 0);
	assert(t->processes.n == PROCESS_IDLE + 1);
}

void tasks_release(struct tasks *t)
{
	vec_release(&t->processes);
	vec_release(&t->states);
	vec_release(&t->thread_states);
	vec_release(&t->threads);
	vec_release(&t->pid_owners);
	tuples_release(&t->pids);
	tuples_release(&t->tids);
	history_release(&t->by_pid);
	history_release(&t->by_tid);
	*t = (struct tasks){ 0 };
}

void tasks_seen(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	tasks_settle(t, pid, tid, time_ns);
}

/* The name a new thread has from the one that made it. */
static struct str_id inherited_comm(struct tasks *t, const struct task_fork *f)
{
	uint32_t number = tuples_find(&t->tids, &(uint64_t){ f->parent_tid });

	return number == TUPLES_NONE ? (struct str_id){ 0 } : t->threads.items[number].state.comm;
}

static uint32_t tasks_parent(struct tasks *t, const struct task_fork *f)
{
	return f->parent_pid == UINT32_MAX ? 0 : tasks_process(t, f->parent_pid);
}

static void fork_process(struct tasks *t, const struct task_fork *f)
{
	uint32_t parent = tasks_parent(t, f), last = owner_of_pid(t, f->pid);
	uint32_t child = new_process(t, f->pid, parent, f->time_ns);
	struct thread_state state = { .process = child, .comm = inherited_comm(t, f) };

	if (f->has_maps && parent != 0)
		t->states.items[child].space = spaces_add_fork(t->spaces, child, f->time_ns,
							       t->states.items[parent].space);
	else
		t->states.items[child].space = spaces_add_empty(t->spaces, child, f->time_ns);
	t->processes.items[child].comm = state.comm;
	if (last != 0 && t->processes.items[last].end_ns > f->time_ns)
		t->processes.items[last].end_ns = f->time_ns; /* its EXIT was lost */
	give_pid(t, child);
	begin_thread(t, tasks_thread_number(t, f->tid), f->time_ns, state);
}

static void fork_thread(struct tasks *t, const struct task_fork *f)
{
	uint32_t process = tasks_process(t, f->pid);
	struct thread_state state = { .process = process, .comm = inherited_comm(t, f) };

	begin_thread(t, tasks_thread_number(t, f->tid), f->time_ns, state);
}

/*
 * A synthesized FORK: the process may be known already, as a parent of another. The parent is set
 * only if it has a lower number, so that the tree has no circles.
 */
static void learn_parent(struct tasks *t, const struct task_fork *f)
{
	uint32_t process = tasks_process(t, f->pid), parent = tasks_parent(t, f);

	if (parent < process)
		t->processes.items[process].parent = parent;
	tasks_settle(t, f->pid, f->tid, f->time_ns);
}

void tasks_fork(struct tasks *t, const struct task_fork *f)
{
	bool is_process = f->tid == f->pid && f->pid != f->parent_pid;
	uint32_t owner = owner_of_pid(t, f->pid);

	if (!is_process && f->is_synthetic)
		tasks_settle(t, f->pid, f->tid, f->time_ns);
	else if (!is_process)
		fork_thread(t, f);
	else if (f->is_synthetic && owner != 0)
		learn_parent(t, f);
	else
		fork_process(t, f);
}

void tasks_exit(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	end_thread(t, tasks_settle(t, pid, tid, time_ns), time_ns);
}

void tasks_comm(struct tasks *t, uint32_t pid, uint32_t tid, struct str_id comm, uint64_t time_ns)
{
	uint32_t thread = tasks_settle(t, pid, tid, time_ns);
	struct thread_state state = t->threads.items[thread].state;

	state.comm = comm;
	set_state(t, thread, time_ns, state);
	if (tid == pid)
		t->processes.items[state.process].comm = comm;
}

void tasks_exec(struct tasks *t, uint32_t pid, uint32_t tid, struct str_id comm, uint64_t time_ns)
{
	uint32_t process;

	tasks_comm(t, pid, tid, comm, time_ns);
	process = tasks_process(t, pid);
	t->states.items[process].space = spaces_add_empty(t->spaces, process, time_ns);
	t->states.items[process].has_exec = true;
}

uint32_t tasks_space_to_map(struct tasks *t, uint32_t process)
{
	t->states.items[process].has_maps = true;
	return t->states.items[process].space;
}

/* Kernel threads are the children of kthreadd that never did an exec(). */
static void mark_kernel(struct tasks *t, struct str_id kthreadd)
{
	t->processes.items[PROCESS_IDLE].is_kernel = true;
	for (size_t i = PROCESS_IDLE + 1; i < t->processes.n; i++) {
		struct process *p = &t->processes.items[i];
		const struct process *parent = &t->processes.items[p->parent];

		if (t->states.items[i].has_exec || t->states.items[i].has_maps)
			continue;
		p->is_kernel = (p->pid == 2 && p->comm.v == kthreadd.v) ||
			       (parent->pid == 2 && parent->is_kernel);
	}
}

void tasks_forget_times(struct tasks *t)
{
	for (size_t i = 0; i < t->processes.n; i++) {
		t->processes.items[i].start_ns = 0;
		t->processes.items[i].end_ns = UINT64_MAX;
	}
}

void tasks_freeze(struct tasks *t, struct str_id kthreadd)
{
	for (size_t i = 0; i < t->processes.n; i++)
		if (t->processes.items[i].n_threads == 0)
			t->processes.items[i].n_threads = 1;
	mark_kernel(t, kthreadd);
	history_freeze(&t->by_pid, t->pids.n);
	history_freeze(&t->by_tid, t->tids.n);
}

struct span tasks_find_pid(const struct tasks *t, uint32_t pid, uint64_t time_ns)
{
	/* an unknown pid is TUPLES_NONE, a key without values */
	return history_find(&t->by_pid, tuples_find(&t->pids, &(uint64_t){ pid }), time_ns);
}

static struct span find_state(const struct tasks *t, uint32_t tid, uint64_t time_ns)
{
	return history_find(&t->by_tid, tuples_find(&t->tids, &(uint64_t){ tid }), time_ns);
}

struct span tasks_find_tid(const struct tasks *t, uint32_t tid, uint64_t time_ns)
{
	struct span span = find_state(t, tid, time_ns), main_thread;

	if (span.value != HISTORY_NONE) {
		span.value = t->thread_states.items[span.value].process;
		return span;
	}
	/* a pid whose threads were not recorded one by one */
	main_thread = tasks_find_pid(t, tid, time_ns);
	if (main_thread.from_ns > span.from_ns)
		span.from_ns = main_thread.from_ns;
	if (main_thread.to_ns < span.to_ns)
		span.to_ns = main_thread.to_ns;
	span.value = main_thread.value;
	return span;
}

struct str_id tasks_comm_of(const struct tasks *t, uint32_t tid, uint64_t time_ns)
{
	struct span span = find_state(t, tid, time_ns);

	return span.value == HISTORY_NONE ? (struct str_id){ 0 }
					  : t->thread_states.items[span.value].comm;
}

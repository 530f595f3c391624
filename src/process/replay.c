/* SPDX-License-Identifier: Apache-2.0 */
#include "process/replay.h"

enum { KERNEL_IMAGE_BYTES = 64 << 20 /* an upper limit of a kernel's size in memory */ };

/* State of a replay. */
struct run {
	const struct notes *notes;
	struct replay to;
	struct tuples ksymbols; /* address of a BPF program or other ksymbol → number … */
	VEC_OF(bool) is_there;	/* … → is it registered now? */
};

static const struct map_note *map_of(const struct run *r, const struct note *n)
{
	return &r->notes->maps.items[n->map];
}

static struct module_id replay_module_of(const struct run *r, const struct note *n)
{
	const struct map_note *m = map_of(r, n);
	struct mapped_name name = {
		.path = m->path,
		.build_id = r->notes->build_ids.items[m->build_id],
		.pid = n->pid,
		.map_flags = m->map_flags,
		.ref_address = m->page_offset,
		.is_kernel = n->kind == NOTE_KERNEL_MAP,
		.is_ksymbol = n->kind == NOTE_KSYMBOL,
		.is_data = m->is_data,
	};

	return module_table_add(r->to.modules, &name);
}

static void map_into(struct run *r, const struct note *n, uint32_t space)
{
	const struct map_note *m = map_of(r, n);

	spaces_map(r->to.spaces, &(struct mapping){
					 .range = m->range,
					 .page_offset = m->page_offset,
					 .time_ns = n->time_ns,
					 .space = space,
					 .module = replay_module_of(r, n),
					 .is_data = m->is_data,
				 });
}

static void replay_seen(struct run *r, const struct note *n)
{
	tasks_seen(r->to.tasks, n->pid, n->tid, n->time_ns);
}

static void replay_fork(struct run *r, const struct note *n)
{
	/* before 4.20 perf did not mark records that it synthesized */
	bool is_synthetic =
		n->kind == NOTE_FORK_WITHOUT_MAPS || (n->time_ns == 0 && r->notes->have_times);
	struct task_fork f = {
		.pid = n->pid,
		.tid = n->tid,
		.parent_pid = n->other_pid,
		.parent_tid = n->other_tid,
		.time_ns = n->time_ns,
		.has_maps = !is_synthetic,
		.is_synthetic = is_synthetic,
	};

	tasks_fork(r->to.tasks, &f);
}

static void replay_exit(struct run *r, const struct note *n)
{
	tasks_exit(r->to.tasks, n->pid, n->tid, n->time_ns);
}

static void replay_comm(struct run *r, const struct note *n)
{
	tasks_comm(r->to.tasks, n->pid, n->tid, n->text, n->time_ns);
}

static void replay_exec(struct run *r, const struct note *n)
{
	tasks_exec(r->to.tasks, n->pid, n->tid, n->text, n->time_ns);
}

static void replay_map(struct run *r, const struct note *n)
{
	struct tasks *tasks = r->to.tasks;

	tasks_seen(tasks, n->pid, n->tid, n->time_ns);
	map_into(r, n, tasks_space_to_map(tasks, tasks_process(tasks, n->pid)));
}

static void replay_kernel_map(struct run *r, const struct note *n)
{
	map_into(r, n, SPACES_KERNEL);
}

/* Sets whether a ksymbol is registered at this address; returns whether one was. */
static bool swap_ksymbol(struct run *r, uint64_t address, bool is_there)
{
	uint32_t number = tuples_add(&r->ksymbols, &address);
	bool was_there;

	if (number == r->is_there.n)
		vec_add(&r->is_there);
	was_there = r->is_there.items[number];
	r->is_there.items[number] = is_there;
	return was_there;
}

static void replay_ksymbol(struct run *r, const struct note *n)
{
	swap_ksymbol(r, map_of(r, n)->range.start, true);
	map_into(r, n, SPACES_KERNEL);
}

static void replay_ksymbol_gone(struct run *r, const struct note *n)
{
	struct range range = map_of(r, n)->range;

	/* never registered: unmapping could hide another mapping */
	if (!swap_ksymbol(r, range.start, false))
		return;
	spaces_map(r->to.spaces, &(struct mapping){
					 .range = range,
					 .time_ns = n->time_ns,
					 .space = SPACES_KERNEL,
				 });
}

static void (*const replayers[N_NOTE_KINDS])(struct run *, const struct note *) = {
	[NOTE_SEEN] = replay_seen,
	[NOTE_FORK] = replay_fork,
	[NOTE_FORK_WITHOUT_MAPS] = replay_fork,
	[NOTE_EXIT] = replay_exit,
	[NOTE_COMM] = replay_comm,
	[NOTE_EXEC] = replay_exec,
	[NOTE_MAP] = replay_map,
	[NOTE_KERNEL_MAP] = replay_kernel_map,
	[NOTE_KSYMBOL] = replay_ksymbol,
	[NOTE_KSYMBOL_GONE] = replay_ksymbol_gone,
};

/* Gives the module table all build-ids and paths of code before the first module is added. */
static void prepare_modules(const struct run *r)
{
	const struct notes *notes = r->notes;

	for (size_t i = 0; i < notes->maps.n; i++) {
		const struct map_note *m = &notes->maps.items[i];

		module_table_build_id(r->to.modules, m->path, &notes->build_ids.items[m->build_id]);
		if (!m->is_data)
			module_table_code_path(r->to.modules, m->path);
	}
}

static void map_kernel(const struct run *r, struct range range, struct module_id module)
{
	spaces_map(r->to.spaces, &(struct mapping){
					 .range = range,
					 .space = SPACES_KERNEL,
					 .module = module,
				 });
}

/*
 * Newer perf records only _text … _etext of the kernel. Behind it is init code, which has the
 * outermost callers of the idle task. So KERNEL_IMAGE_BYTES are mapped first, and the recorded
 * mappings on top. False if no kernel mapping was recorded.
 */
static bool map_kernel_images(const struct run *r)
{
	bool is_recorded = false;

	for (size_t i = 0; i < r->notes->list.n; i++) {
		const struct note *n = &r->notes->list.items[i];
		struct module_id module;

		if (n->kind != NOTE_KERNEL_MAP)
			continue;
		is_recorded = true;
		module = replay_module_of(r, n);
		if (modules_get(&r->to.modules->modules, module)->kind == MODULE_KERNEL)
			map_kernel(r, range_of(map_of(r, n)->range.start, KERNEL_IMAGE_BYTES),
				   module);
	}
	return is_recorded;
}

/*
 * If kernel addresses were hidden (kptr_restrict): the upper half of the addresses is the kernel.
 */
static void map_secret_kernel(const struct run *r)
{
	struct mapped_name name = {
		.path = strings_addz(r->to.strings, "[kernel.kallsyms]"),
		.is_kernel = true,
	};

	map_kernel(r, (struct range){ 0, UINT64_MAX }, module_table_add(r->to.modules, &name));
}

void replay_notes(const struct notes *notes, const struct replay *to)
{
	struct run r = { .notes = notes, .to = *to };

	tuples_init(&r.ksymbols, 1);
	prepare_modules(&r);
	if (!map_kernel_images(&r))
		map_secret_kernel(&r);
	for (size_t i = 0; i < notes->list.n; i++)
		replayers[notes->list.items[i].kind](&r, &notes->list.items[i]);
	tuples_release(&r.ksymbols);
	vec_release(&r.is_there);
}

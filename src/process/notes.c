/* SPDX-License-Identifier: Apache-2.0 */
/* Format of the records: docs/reference/perf-data.md sections 3.1 and 3.2. */
#include "process/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "batch/batch.h"

enum {
	MAX_GUEST_NOTES = 1 << 12, /* each question goes through all */
	MAX_NOTES = 1 << 28,	   /* 8 GiB; the records take at least as many bytes */
	KSYMBOL_UNREGISTER = 1 << 0,
};

#define NO_PID UINT32_MAX

/* The record that notes are made of. */
struct taking {
	struct notes *notes;
	const struct record *record;
	const struct sample_id *id;
	uint64_t time_ns; /* or position */
	bool has_time;
};

void notes_init(struct notes *n, struct switches *switches, struct strings *strings,
		struct diags *diags)
{
	*n = (struct notes){ .switches = switches, .strings = strings, .diags = diags };
	tuples_init(&n->tids, 1);
	tuples_init(&n->build_id_words, 4);
	tuples_add(&n->build_id_words, (const uint64_t[4]){ 0 });
	vec_add(&n->build_ids);
}

void notes_release(struct notes *n)
{
	vec_release(&n->guests);
	vec_release(&n->list);
	vec_release(&n->maps);
	vec_release(&n->build_ids);
	vec_release(&n->pids);
	tuples_release(&n->tids);
	tuples_release(&n->build_id_words);
	*n = (struct notes){ 0 };
}

static void notes_add(struct taking *t, struct note note)
{
	struct notes *n = t->notes;

	if (n->list.n == MAX_NOTES) {
		diags_add(n->diags, DIAG_DAMAGE, t->record->position, t->record->size,
			  "more processes and mappings than cyclops can hold: ignored");
		return;
	}
	note.time_ns = t->time_ns;
	note.has_time = t->has_time;
	n->have_times |= t->has_time;
	*vec_add(&n->list) = note;
}

/* Sets the thread's process; returns whether it changed. */
static bool learn_thread(struct notes *n, uint32_t pid, uint32_t tid)
{
	struct known_thread *known = &n->known[tid % NOTES_KNOWN];
	uint32_t number;

	if (known->tid == tid && known->pid == pid)
		return false;
	*known = (struct known_thread){ tid, pid };
	number = tuples_add(&n->tids, &(uint64_t){ tid });
	if (number == n->pids.n)
		vec_add(&n->pids);
	else if (n->pids.items[number] == pid)
		return false;
	n->pids.items[number] = pid;
	return true;
}

/* Pid 0 is the idle task, and any task outside of the recorder's pid namespace. */
static bool is_real(uint32_t pid, uint32_t tid)
{
	return pid != 0 && pid != NO_PID && tid != 0 && tid != NO_PID;
}

static void take_thread(struct taking *t, uint32_t pid, uint32_t tid)
{
	if (is_real(pid, tid) && learn_thread(t->notes, pid, tid))
		notes_add(t, (struct note){ .kind = NOTE_SEEN, .pid = pid, .tid = tid });
}

static uint32_t notes_add_build_id(struct notes *n, const struct build_id *id)
{
	uint64_t words[4] = { id->size };
	uint32_t number;

	memcpy(words + 1, id->bytes, id->size);
	number = tuples_add(&n->build_id_words, words);
	if (number == n->build_ids.n)
		*vec_add(&n->build_ids) = *id;
	return number;
}

static uint32_t add_map(struct notes *n, const struct map_note *map)
{
	*vec_add(&n->maps) = *map;
	return (uint32_t)n->maps.n - 1;
}

void notes_map(struct notes *n, const struct note *note, const struct map_note *map)
{
	struct note added = *note;

	if (n->list.n == MAX_NOTES)
		return;
	added.map = add_map(n, map);
	*vec_add(&n->list) = added;
}

void notes_map_guest(struct notes *n, const struct guest_note *note)
{
	if (n->guests.n < MAX_GUEST_NOTES)
		*vec_add(&n->guests) = *note;
	else
		diags_add(n->diags, DIAG_NOTE, ERR_NOWHERE, 0,
			  "more modules of guests than cyclops can hold: the others have no names");
}

/* Length 0 of a kernel mapping means "to the end of the address space" (perf 2.6). */
static bool fill_range(const struct record_mmap *m, bool is_kernel, struct range *out)
{
	if (m->length == 0 && !is_kernel)
		return false;
	*out = m->length == 0 ? (struct range){ m->start, UINT64_MAX }
			      : range_of(m->start, m->length);
	return true;
}

static int take_mmap(struct taking *t, struct err *err)
{
	unsigned mode = t->record->misc & MISC_CPUMODE;
	struct notes *n = t->notes;
	struct record_mmap m;
	struct map_note map = { 0 };
	bool is_kernel;

	if (record_mmap_read(t->record, &m, err) < 0)
		return -1;
	is_kernel = mode == CPUMODE_KERNEL || mode == CPUMODE_GUEST_KERNEL || m.pid == NO_PID;
	if (!is_kernel && !is_real(m.pid, m.tid))
		return 0;
	if (!fill_range(&m, is_kernel, &map.range))
		return 0;
	if (mode == CPUMODE_GUEST_KERNEL)
		notes_map_guest(n, &(struct guest_note){
					   .pid = m.pid,
					   .range = map.range,
					   .page_offset = m.page_offset,
					   .path = strings_addz(n->strings, m.path),
				   });
	/* of programs of guests nobody records anything else */
	if (mode == CPUMODE_GUEST_KERNEL || mode == CPUMODE_GUEST_USER)
		return 0;
	map.page_offset = m.page_offset;
	map.path = strings_addz(n->strings, m.path);
	map.map_flags = m.flags;
	map.build_id = notes_add_build_id(n, &m.build_id);
	map.is_data = m.is_data;
	if (!is_kernel)
		learn_thread(n, m.pid, m.tid);
	notes_add(t, (struct note){
			     .kind = is_kernel ? NOTE_KERNEL_MAP : NOTE_MAP,
			     .pid = m.pid,
			     .tid = m.tid,
			     .map = add_map(n, &map),
		     });
	return 0;
}

static int take_comm(struct taking *t, struct err *err)
{
	struct record_comm c;

	if (record_comm_read(t->record, &c, err) < 0)
		return -1;
	if (!is_real(c.pid, c.tid))
		return 0;
	learn_thread(t->notes, c.pid, c.tid);
	notes_add(t, (struct note){
			     .kind = c.is_exec ? NOTE_EXEC : NOTE_COMM,
			     .pid = c.pid,
			     .tid = c.tid,
			     .text = strings_addz(t->notes->strings, c.comm),
		     });
	return 0;
}

static enum note_kind task_kind(const struct record *r)
{
	if (r->type == RECORD_EXIT)
		return NOTE_EXIT;
	return r->misc & MISC_FORK_EXEC ? NOTE_FORK_WITHOUT_MAPS : NOTE_FORK;
}

static int take_task(struct taking *t, struct err *err)
{
	struct record_task task;

	if (record_task_read(t->record, &task, err) < 0)
		return -1;
	if (!is_real(task.pid, task.tid))
		return 0;
	learn_thread(t->notes, task.pid, task.tid);
	notes_add(t, (struct note){
			     .kind = task_kind(t->record),
			     .pid = task.pid,
			     .tid = task.tid,
			     .other_pid = task.ppid,
			     .other_tid = task.ptid,
		     });
	return 0;
}

static int take_ksymbol(struct taking *t, struct err *err)
{
	struct record_ksymbol k;
	struct map_note map = { 0 };

	if (record_ksymbol_read(t->record, &k, err) < 0)
		return -1;
	if (k.length == 0)
		return 0;
	map.range = range_of(k.address, k.length);
	map.path = strings_addz(t->notes->strings, k.name);
	notes_add(t,
		  (struct note){
			  .kind = k.flags & KSYMBOL_UNREGISTER ? NOTE_KSYMBOL_GONE : NOTE_KSYMBOL,
			  .pid = NO_PID,
			  .tid = NO_PID,
			  .map = add_map(t->notes, &map),
		  });
	return 0;
}

static int take_switch(struct taking *t, struct err *err)
{
	struct record_switch s;

	if (record_switch_read(t->record, &s, err) < 0)
		return -1;
	switches_take(t->notes->switches, &s, t->id, t->time_ns);
	if (s.has_other)
		take_thread(t, s.other_pid, s.other_tid);
	return 0;
}

/* ITRACE_START and NAMESPACES begin alike: u32 pid, tid. */
static int take_pid_tid(struct taking *t, struct err *err)
{
	struct cursor body = t->record->body;
	uint32_t pid = cur_u32(&body);
	uint32_t tid = cur_u32(&body);

	if (!cur_ok(&body))
		return err_set(err, ERR_FORMAT, t->record->position,
			       "%s record: ends inside its fixed part",
			       record_type_name(t->record->type));
	take_thread(t, pid, tid);
	if (t->record->type == RECORD_ITRACE_START && t->id->has & HAS_CPU && t->id->has & HAS_TIME)
		switches_start(t->notes->switches, t->id->cpu, t->time_ns, tid);
	return 0;
}

/*
 * Readers by type of record. Of other types only the sample_id is read: a thread and its process.
 */
static int (*const takers[N_RECORD_TYPES])(struct taking *, struct err *) = {
	[RECORD_MMAP] = take_mmap,
	[RECORD_MMAP2] = take_mmap,
	[RECORD_COMM] = take_comm,
	[RECORD_FORK] = take_task,
	[RECORD_EXIT] = take_task,
	[RECORD_KSYMBOL] = take_ksymbol,
	[RECORD_SWITCH] = take_switch,
	[RECORD_SWITCH_CPU_WIDE] = take_switch,
	[RECORD_ITRACE_START] = take_pid_tid,
	[RECORD_NAMESPACES] = take_pid_tid,
};

static void count_damage(struct notes *n, const struct record *r)
{
	char text[96];

	snprintf(text, sizeof(text), "%s record with a damaged body: ignored",
		 record_type_name(r->type));
	diags_add(n->diags, DIAG_DAMAGE, r->position, r->size, text);
}

void notes_take(struct notes *n, const struct record *record, const struct sample_id *id)
{
	struct taking t = { .notes = n, .record = record, .id = id };
	struct err err;

	t.has_time = id->has & HAS_TIME;
	t.time_ns = t.has_time ? id->time_ns : record->position;
	if (t.time_ns == UINT64_MAX)
		t.time_ns--; /* the end of time means "no time known" */
	if (record->type < COUNT(takers) && takers[record->type] != NULL &&
	    takers[record->type](&t, &err) < 0) {
		count_damage(n, record);
		return;
	}
	if (id->has & HAS_PID && id->has & HAS_TID)
		take_thread(&t, id->pid, id->tid);
}

/* By time: those of the same time stay in the order in which they came. */
static struct radix_pair key_of_note(const void *notes, size_t i)
{
	return (struct radix_pair){ ((const struct note *)notes)[i].time_ns, 0 };
}

void notes_sort(struct notes *n)
{
	struct note *sorted;
	uint32_t *order;

	for (size_t i = 0; n->have_times && i < n->list.n; i++)
		if (!n->list.items[i].has_time)
			n->list.items[i].time_ns = 0;
	order = radix_order(n->list.items, n->list.n, key_of_note);
	sorted = mem_alloc(n->list.n + 1, sizeof(*sorted));
	for (size_t i = 0; i < n->list.n; i++)
		sorted[i] = n->list.items[order[i]];
	free(order);
	free(n->list.items);
	n->list.items = sorted;
	n->list.cap = n->list.n + 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <string.h>

#include "batch/batch.h"

enum {
	FORK_EXEC = 1 << 13,
};

void fixture_init(struct fixture *f)
{
	*f = (struct fixture){ .timeline = timeline_new(), .places = place_numbers_new() };
	strings_init(&f->strings);
	text_room(&f->body, 1);
}

void fixture_release(struct fixture *f)
{
	timeline_free(f->timeline);
	place_numbers_free(f->places);
	info_release(&f->info);
	strings_release(&f->strings);
	text_release(&f->body);
}

void fixture_build_id(struct fixture *f, const char *path, uint16_t misc, uint8_t byte)
{
	struct build_id_entry *e = vec_add(&f->info.build_ids);

	e->path = strings_addz(&f->strings, path);
	e->misc = misc;
	e->pid = -1;
	e->id.size = BUILD_ID_MAX;
	memset(e->id.bytes, byte, BUILD_ID_MAX);
}

void fixture_freeze(struct fixture *f)
{
	timeline_freeze(f->timeline, &f->info, &f->strings, NULL);
}

static void body_u16(struct fixture *f, uint16_t value)
{
	text_add(&f->body, (const char *)&value, sizeof(value));
}

static void body_u32(struct fixture *f, uint32_t value)
{
	text_add(&f->body, (const char *)&value, sizeof(value));
}

static void body_u64(struct fixture *f, uint64_t value)
{
	text_add(&f->body, (const char *)&value, sizeof(value));
}

/* NUL-terminated and padded to 8 bytes, as the kernel does. */
static void body_string(struct fixture *f, const char *string)
{
	size_t len = strlen(string);

	text_add(&f->body, string, len);
	text_repeat(&f->body, '\0', 8 - len % 8);
}

void feed_bytes(struct fixture *f, uint32_t type, uint16_t misc, const void *body, size_t size,
		const struct sample_id *id)
{
	struct record r = {
		.type = type,
		.misc = misc,
		.size = size + 8,
		.position = f->is_timeless ? id->time_ns : 0x1000,
		.body = cur_of(body, size),
	};
	const struct sample_id none = { 0 };

	timeline_visit(f->timeline, &r, f->is_timeless ? &none : id);
}

/* Feeds the body made so far and begins the next one. */
static void feed(struct fixture *f, uint32_t type, uint16_t misc, struct sample_id id)
{
	feed_bytes(f, type, misc, f->body.bytes, f->body.n, &id);
	text_reset(&f->body);
}

static struct sample_id id_of(uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	/* Records that perf makes up have a sample_id of zeros. */
	if (time_ns == 0)
		return (struct sample_id){ .has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU };
	return (struct sample_id){
		.has = HAS_PID | HAS_TID | HAS_TIME,
		.pid = pid,
		.tid = tid,
		.time_ns = time_ns,
	};
}

void feed_mmap(struct fixture *f, const struct map_record *m)
{
	uint16_t misc = m->misc;

	body_u32(f, m->pid);
	body_u32(f, m->tid);
	body_u64(f, m->start);
	body_u64(f, m->length);
	body_u64(f, m->page_offset);
	if (!m->is_old && m->build_id != 0) {
		misc |= MISC_MMAP_BUILD_ID;
		body_u32(f, BUILD_ID_MAX);
		text_repeat(&f->body, (char)m->build_id, BUILD_ID_MAX);
	} else if (!m->is_old) {
		text_repeat(&f->body, 0, 24);
	}
	if (!m->is_old) {
		body_u32(f, misc & MISC_MMAP_DATA ? 3 : 5);
		body_u32(f, m->map_flags);
	}
	body_string(f, m->path);
	feed(f, m->is_old ? RECORD_MMAP : RECORD_MMAP2, misc, id_of(m->time_ns, m->pid, m->tid));
}

void feed_map(struct fixture *f, uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t length,
	      uint64_t page_offset, const char *path)
{
	feed_mmap(f, &(struct map_record){
			     .time_ns = time_ns,
			     .pid = pid,
			     .tid = pid,
			     .start = start,
			     .length = length,
			     .page_offset = page_offset,
			     .misc = CPUMODE_USER,
			     .path = path,
		     });
}

void feed_kernel(struct fixture *f, uint64_t time_ns, uint64_t start, uint64_t length,
		 uint64_t page_offset, const char *path)
{
	feed_mmap(f, &(struct map_record){
			     .time_ns = time_ns,
			     .pid = UINT32_MAX,
			     .start = start,
			     .length = length,
			     .page_offset = page_offset,
			     .misc = CPUMODE_KERNEL,
			     .is_old = true,
			     .path = path,
		     });
}

void feed_ksymbol(struct fixture *f, uint64_t time_ns, uint64_t address, uint32_t length,
		  uint16_t flags, const char *name)
{
	body_u64(f, address);
	body_u32(f, length);
	body_u16(f, 1);
	body_u16(f, flags);
	body_string(f, name);
	feed(f, RECORD_KSYMBOL, CPUMODE_KERNEL, id_of(time_ns, 0, 0));
}

static void feed_name(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t tid,
		      const char *comm, uint16_t misc)
{
	body_u32(f, pid);
	body_u32(f, tid);
	body_string(f, comm);
	feed(f, RECORD_COMM, misc, id_of(time_ns, pid, tid));
}

void feed_comm(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t tid, const char *comm)
{
	feed_name(f, time_ns, pid, tid, comm, CPUMODE_USER);
}

void feed_exec(struct fixture *f, uint64_t time_ns, uint32_t pid, const char *comm)
{
	feed_name(f, time_ns, pid, pid, comm, CPUMODE_USER | MISC_COMM_EXEC);
}

static void body_task(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t tid,
		      uint32_t ppid, uint32_t ptid)
{
	body_u32(f, pid);
	body_u32(f, ppid);
	body_u32(f, tid);
	body_u32(f, ptid);
	body_u64(f, time_ns);
}

void feed_fork(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t tid, uint32_t ppid,
	       uint32_t ptid)
{
	body_task(f, time_ns, pid, tid, ppid, ptid);
	feed(f, RECORD_FORK, 0, id_of(time_ns, ppid, ptid));
}

void feed_made_up_fork(struct fixture *f, uint32_t pid, uint32_t tid, uint32_t ppid)
{
	body_task(f, 0, pid, tid, ppid, ppid);
	feed(f, RECORD_FORK, FORK_EXEC, id_of(0, 0, 0));
}

void feed_exit(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	body_task(f, time_ns, pid, tid, pid, tid);
	feed(f, RECORD_EXIT, 0, id_of(time_ns, pid, tid));
}

static struct sample_id on_cpu(struct sample_id id, uint32_t cpu)
{
	id.has |= HAS_CPU;
	id.cpu = cpu;
	return id;
}

void feed_switch_wide(struct fixture *f, uint64_t time_ns, uint32_t cpu, bool is_out, uint32_t pid,
		      uint32_t tid, uint32_t other_pid, uint32_t other_tid)
{
	body_u32(f, other_pid);
	body_u32(f, other_tid);
	feed(f, RECORD_SWITCH_CPU_WIDE, is_out ? MISC_SWITCH_OUT : 0,
	     on_cpu(id_of(time_ns, pid, tid), cpu));
}

void feed_switch(struct fixture *f, uint64_t time_ns, uint32_t cpu, bool is_out, uint32_t pid,
		 uint32_t tid)
{
	feed(f, RECORD_SWITCH, is_out ? MISC_SWITCH_OUT : 0, on_cpu(id_of(time_ns, pid, tid), cpu));
}

void feed_itrace_start(struct fixture *f, uint64_t time_ns, uint32_t cpu, uint32_t pid,
		       uint32_t tid)
{
	body_u32(f, pid);
	body_u32(f, tid);
	feed(f, RECORD_ITRACE_START, 0, on_cpu(id_of(time_ns, pid, tid), cpu));
}

static const char *path_of(const struct fixture *f, struct placed placed)
{
	const struct modules *modules = timeline_modules(f->timeline);

	return strings_get(modules->strings, modules_get(modules, placed.place.module)->path);
}

const char *path_at(const struct fixture *f, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	uint32_t process = timeline_process_of_pid(f->timeline, pid, time_ns);

	return path_of(f, timeline_place(f->timeline, process, false, address, time_ns));
}

const char *kernel_path_at(const struct fixture *f, uint64_t time_ns, uint64_t address)
{
	return path_of(f, timeline_place(f->timeline, 0, true, address, time_ns));
}

const char *comm_of(const struct fixture *f, uint32_t tid, uint64_t time_ns)
{
	return strings_get(timeline_strings(f->timeline), timeline_comm(f->timeline, tid, time_ns));
}

int64_t pid_of(const struct fixture *f, uint32_t tid, uint64_t time_ns)
{
	uint32_t process = timeline_process_of_tid(f->timeline, tid, time_ns);

	return process == 0 ? -1 : (int64_t)timeline_process(f->timeline, process)->pid;
}

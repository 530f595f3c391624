/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "model/build_id.h"

#define BIT(n) ((uint64_t)1 << (n))

enum {
	SPE_ID = 100,	 /* id of the SPE event on CPU 0; other CPUs count up */
	DUMMY_ID = 1000, /* the same of the dummy event, which has the side-band records */
	TIME_SHIFT = 16,
	START_SECONDS = 1000, /* uptime of the machine at cycle 0 */
	MODE_USER = 2,	      /* PERF_RECORD_MISC_USER */
};

/* Format of the SPE event's config: docs/reference/spe-interop.md section 2. */
enum {
	CONFIG_TIMESTAMPS = 0,
	CONFIG_PHYSICAL = 1,
	CONFIG_JITTER = 16,
	CONFIG_BRANCHES = 32,
	CONFIG_LOADS = 33,
	CONFIG_STORES = 34,
};

static struct attr spe_attr(const struct sampling *s)
{
	return (struct attr){
		.type = SPE_TYPE,
		.config = BIT(CONFIG_TIMESTAMPS) | BIT(CONFIG_PHYSICAL) |
			  (uint64_t)s->has_jitter << CONFIG_JITTER |
			  (uint64_t)s->branches << CONFIG_BRANCHES |
			  (uint64_t)s->loads << CONFIG_LOADS | (uint64_t)s->stores << CONFIG_STORES,
		.config1 = s->events,
		.config2 = s->min_latency,
		.sample_period = s->interval,
		.sample_type = RECORDER_SAMPLE | BIT(SAMPLE_ADDR) | BIT(SAMPLE_DATA_SRC) |
			       BIT(SAMPLE_WEIGHT) | BIT(SAMPLE_PHYS_ADDR),
		.flags = BIT(ATTR_DISABLED) | BIT(ATTR_INHERIT) | BIT(ATTR_SAMPLE_ID_ALL) |
			 BIT(ATTR_EXCLUDE_KERNEL) | BIT(ATTR_EXCLUDE_HV),
	};
}

static struct attr dummy_attr(void)
{
	return (struct attr){
		.type = ATTR_TYPE_SOFTWARE,
		.config = 9, /* dummy */
		.sample_period = 1,
		.sample_type = RECORDER_SAMPLE,
		.flags = BIT(ATTR_INHERIT) | BIT(ATTR_MMAP) | BIT(ATTR_COMM) | BIT(ATTR_TASK) |
			 BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_MMAP2) | BIT(ATTR_COMM_EXEC) |
			 BIT(ATTR_EXCLUDE_KERNEL) | BIT(ATTR_EXCLUDE_HV),
	};
}

/* The name of the event as perf record takes it. */
static void name_event(const struct sampling *s, struct text *out)
{
	text_str(out, "arm_spe_0/ts_enable=1,pa_enable=1");
	text_format(out, "%s%s%s%s", s->has_jitter ? ",jitter=1" : "",
		    s->loads ? ",load_filter=1" : "", s->stores ? ",store_filter=1" : "",
		    s->branches ? ",branch_filter=1" : "");
	if (s->events != 0)
		text_format(out, ",event_filter=0x%llx", (unsigned long long)s->events);
	if (s->min_latency != 0)
		text_format(out, ",min_latency=%u", s->min_latency);
	text_add(out, "/u", sizeof("/u"));
}

/* writer_open() or writer_resume(). */
typedef int open_function(const char *, const struct writer_event *, size_t, struct writer **,
			  struct err *);

enum { EVENTS_MOST = 2 + PMU_EVENTS_MOST };

/* The events of the capture: SPE, what carries the side-band, and those of the PMU. */
struct events {
	struct writer_event list[EVENTS_MOST];
	uint64_t ids[EVENTS_MOST][MAX_CPUS];
	struct text names[EVENTS_MOST];
	size_t n;
};

static struct text *add_event(struct events *e, const struct config *c, const struct attr *attr,
			      uint64_t first_id)
{
	size_t n = e->n++;

	for (unsigned i = 0; i < c->params.n_cpus; i++)
		e->ids[n][i] = first_id + i;
	e->list[n] =
		(struct writer_event){ .attr = *attr, .ids = e->ids[n], .n_ids = c->params.n_cpus };
	return &e->names[n];
}

static void list_events(const struct config *c, struct events *out)
{
	const struct attr spe = spe_attr(&c->sampling), dummy = dummy_attr();

	*out = (struct events){ 0 };
	if (!c->without_spe)
		name_event(&c->sampling, add_event(out, c, &spe, SPE_ID));
	text_add(add_event(out, c, &dummy, DUMMY_ID), "dummy:u", sizeof("dummy:u"));
	for (size_t i = 0; i < c->samples.events.n; i++) {
		const struct sample_event *event = &c->samples.events.items[i];
		const struct attr attr = recorder_sample_attr(c, event);

		recorder_sample_name(event,
				     add_event(out, c, &attr, RECORDER_SAMPLE_IDS + i * MAX_CPUS));
	}
	for (size_t i = 0; i < out->n; i++)
		out->list[i].name = out->names[i].bytes;
}

static int open_writer(struct recorder *r, open_function *open_file, struct err *err)
{
	struct events events;
	int rc;

	list_events(r->config, &events);
	rc = open_file(r->config->output, events.list, events.n, &r->writer, err);
	for (size_t i = 0; i < events.n; i++)
		text_release(&events.names[i]);
	return rc;
}

uint64_t recorder_ticks(const struct recorder *r, uint64_t cycle)
{
	const struct params *p = &r->config->params;

	return (uint64_t)START_SECONDS * p->timer_mhz * 1000000 +
	       cycle * p->timer_mhz / p->core_mhz;
}

uint64_t recorder_ns(const struct recorder *r, uint64_t cycle)
{
	return time_from_ticks(&r->time, recorder_ticks(r, cycle));
}

static int recorder_init(struct recorder *r, const struct config *c, struct journal *journal,
			 open_function *open_file, struct err *err)
{
	*r = (struct recorder){
		.config = c,
		.journal = journal,
		.time = { .shift = TIME_SHIFT,
			  .mult = ((uint64_t)1000 << TIME_SHIFT) / c->params.timer_mhz,
			  .mask = UINT64_MAX >> 8,
			  .has_short = true },
	};
	if (open_writer(r, open_file, err) < 0)
		return -1;
	strings_init(&r->paths);
	r->first_ns = time_from_ticks(&r->time, recorder_ticks(r, 0));
	return 0;
}

int recorder_open(struct recorder *r, const struct config *c, struct journal *journal,
		  struct err *err)
{
	if (recorder_init(r, c, journal, writer_open, err) < 0)
		return -1;
	writer_time_conv(r->writer, &r->time);
	if (!c->without_spe)
		writer_spe_info_v1(r->writer, SPE_TYPE, true);
	writer_flush(r->writer);
	journal->size_bytes = sizeof(*journal);
	atomic_store(&journal->is_begun, true);
	return 0;
}

struct sample_id recorder_trailer(struct recorder *r, const struct moment *at, uint64_t first_id)
{
	uint64_t time_ns = recorder_ns(r, at->cycle);

	if (time_ns > r->journal->last_ns)
		r->journal->last_ns = time_ns;
	return (struct sample_id){
		.has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU,
		.pid = at->thread.pid,
		.tid = at->thread.tid,
		.cpu = at->cpu,
		.time_ns = time_ns,
		.id = first_id + at->cpu,
	};
}

/* Writes ITRACE_START with the first thread of a CPU. */
static void start(struct recorder *r, const struct moment *at)
{
	struct sample_id id = recorder_trailer(r, at, SPE_ID);

	if (r->config->without_spe || r->journal->cpus[at->cpu].is_started)
		return;
	r->journal->cpus[at->cpu].is_started = true;
	writer_itrace_start(r->writer, at->thread.pid, at->thread.tid, &id);
}

void recorder_program(struct recorder *r, const struct moment *at)
{
	struct sample_id id = recorder_trailer(r, at, DUMMY_ID);
	const struct record_comm comm = { .pid = at->thread.pid,
					  .tid = at->thread.tid,
					  .is_exec = true,
					  .comm = r->config->name };

	writer_comm(r->writer, &comm, &id);
	writer_finished_init(r->writer);
	start(r, at);
	writer_flush(r->writer);
}

static void write_task(struct recorder *r, uint32_t type, struct thread_ids parent,
		       const struct moment *at)
{
	struct sample_id id = recorder_trailer(r, at, DUMMY_ID);
	const struct record_task task = { .pid = at->thread.pid,
					  .tid = at->thread.tid,
					  .ppid = parent.pid,
					  .ptid = parent.tid,
					  .time_ns = id.time_ns };

	writer_task(r->writer, type, &task, &id);
}

void recorder_fork(struct recorder *r, struct thread_ids parent, const struct moment *at)
{
	write_task(r, RECORD_FORK, parent, at);
	start(r, at);
	writer_flush(r->writer);
}

void recorder_exit(struct recorder *r, const struct moment *at)
{
	write_task(r, RECORD_EXIT, at->thread, at);
	writer_flush(r->writer);
}

/* The path without the configured root; "//anon" without a file. */
static const char *path_in_root(const struct recorder *r, const char *path)
{
	size_t length = strlen(r->config->root);

	if (path[0] == '\0')
		return "//anon";
	if (strncmp(path, r->config->root, length) == 0 && path[length] == '/')
		return path + length;
	return path;
}

/* The emulator maps the guest's code without PROT_EXEC, and may make it writable. */
static uint32_t guest_protection(const struct mapping *m, bool is_code)
{
	return is_code ? (m->protection | PROT_EXEC) & ~(uint32_t)PROT_WRITE : m->protection;
}

static void write_mapping(struct recorder *r, const struct moment *at, const struct mapping *m,
			  uint64_t guest_base, bool is_code)
{
	struct sample_id id = recorder_trailer(r, at, DUMMY_ID);
	const struct record_mmap map = {
		.pid = at->thread.pid,
		.tid = at->thread.tid,
		.start = m->start - guest_base,
		.length = m->end - m->start,
		.page_offset = m->offset,
		.protection = guest_protection(m, is_code),
		.flags = (m->is_shared ? MAP_SHARED : MAP_PRIVATE) |
			 (m->path[0] == '\0' ? MAP_ANONYMOUS : 0u),
		.is_data = !is_code,
		.path = path_in_root(r, m->path),
	};

	writer_mmap2(r->writer, &map, MODE_USER, &id);
}

static void write_build_id(struct recorder *r, const char *path)
{
	struct build_id id;

	if (build_id_read(path, &id))
		writer_build_id(r->writer, &id, path_in_root(r, path), -1, MODE_USER);
}

/* Writes the build-id of a file with its first mapping of code. */
static void note_build_id(struct recorder *r, const char *path)
{
	uint32_t known = (uint32_t)r->paths.texts.n;

	if (path[0] == '\0' || strings_addz(&r->paths, path).v < known)
		return;
	journal_add_path(r->journal, path);
	write_build_id(r, path);
}

void recorder_use(struct recorder *r, struct described *d, const struct moment *at,
		  uint64_t address, bool is_code)
{
	struct mapping m;

	if (spans_hold(&d->code, address) || (!is_code && spans_hold(&d->data, address)))
		return;
	if (!mapping_find(address + d->guest_base, &m))
		return;
	write_mapping(r, at, &m, d->guest_base, is_code);
	writer_flush(r->writer);
	if (is_code)
		note_build_id(r, m.path);
	spans_add(is_code ? &d->code : &d->data, m.start - d->guest_base, m.end - d->guest_base);
	free(m.path);
}

void described_remapped(struct described *d, uint64_t start_address, uint64_t end_address)
{
	spans_forget(&d->code, start_address, end_address);
	spans_forget(&d->data, start_address, end_address);
}

void described_copy(const struct described *parent, struct described *out)
{
	*out = (struct described){ .guest_base = parent->guest_base };
	spans_copy(&parent->code, &out->code);
	spans_copy(&parent->data, &out->data);
}

void described_release(struct described *d)
{
	spans_release(&d->code);
	spans_release(&d->data);
}

/* Empties the buffer. Its bytes are in the file. */
static void forget(struct journal_cpu *b)
{
	b->offset += b->n;
	b->has_collided = false;
	atomic_store(&b->n, 0);
	atomic_store(&b->file_end, 0);
}

/* If the process ends in this function, file_end tells whether the bytes are in the file. */
static void flush(struct recorder *r, unsigned cpu)
{
	struct journal_cpu *b = &r->journal->cpus[cpu];
	struct sample_id id = recorder_trailer(r, &b->last, SPE_ID);
	const struct record_aux aux = {
		.offset = b->offset,
		.size = b->n,
		.flags = b->has_collided ? AUX_COLLISION : 0,
	};
	const struct record_auxtrace header = {
		.size = b->n,
		.offset = b->offset,
		.idx = cpu,
		.tid = UINT32_MAX,
		.cpu = cpu,
	};

	if (b->n == 0)
		return;
	writer_aux(r->writer, &aux, &id);
	writer_auxtrace(r->writer, &header, b->bytes);
	atomic_store(&b->file_end, writer_size(r->writer));
	writer_flush(r->writer);
	forget(b);
}

int recorder_resume(struct recorder *r, const struct config *c, struct journal *journal,
		    struct err *err)
{
	if (recorder_init(r, c, journal, writer_resume, err) < 0)
		return -1;
	for (unsigned i = 0; i < MAX_CPUS; i++) {
		struct journal_cpu *b = &journal->cpus[i];

		if (b->file_end != 0 && writer_size(r->writer) >= b->file_end)
			forget(b);
	}
	recorder_drop_samples(r);
	for (size_t at = 0; at < journal->n_path_bytes; at += strlen(journal->paths + at) + 1)
		write_build_id(r, journal->paths + at);
	return 0;
}

void recorder_spe(struct recorder *r, struct described *d, struct spe_record *record,
		  const struct moment *at, bool has_collided)
{
	struct journal_cpu *b = &r->journal->cpus[at->cpu];

	if (record->has & HAS_VA)
		recorder_use(r, d, at, record->va, false);
	record->has |= HAS_CONTEXT | HAS_TICKS;
	record->context = at->thread.tid;
	record->context_level = 2;
	record->ticks = recorder_ticks(r, at->cycle);
	b->last = *at;
	b->has_collided |= has_collided;
	atomic_store(&b->n, b->n + spe_encode(record, &spe_layout_n1, b->bytes + b->n));
	if (b->n >= JOURNAL_AUX_BYTES)
		flush(r, at->cpu);
}

int recorder_close(struct recorder *r, struct err *err)
{
	int rc;

	for (unsigned i = 0; i < MAX_CPUS; i++)
		flush(r, i);
	recorder_flush_samples(r);
	writer_finished_round(r->writer);
	recorder_features(r);
	rc = writer_close(r->writer, err);
	strings_release(&r->paths);
	text_release(&r->sample);
	*r = (struct recorder){ 0 };
	return rc;
}

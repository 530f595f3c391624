/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the bodies of side-band records, and the sample_id at their end.
 * Format: docs/reference/perf-data.md sections 3.1, 3.2 and 7.
 */
#include "capture/format/record.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "capture/format/sample.h"

static const char *const type_names[N_RECORD_TYPES] = {
	[RECORD_MMAP] = "MMAP",
	[RECORD_LOST] = "LOST",
	[RECORD_COMM] = "COMM",
	[RECORD_EXIT] = "EXIT",
	[RECORD_THROTTLE] = "THROTTLE",
	[RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[RECORD_FORK] = "FORK",
	[RECORD_READ] = "READ",
	[RECORD_SAMPLE] = "SAMPLE",
	[RECORD_MMAP2] = "MMAP2",
	[RECORD_AUX] = "AUX",
	[RECORD_ITRACE_START] = "ITRACE_START",
	[RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[RECORD_SWITCH] = "SWITCH",
	[RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[RECORD_NAMESPACES] = "NAMESPACES",
	[RECORD_KSYMBOL] = "KSYMBOL",
	[RECORD_BPF_EVENT] = "BPF_EVENT",
	[RECORD_CGROUP] = "CGROUP",
	[RECORD_TEXT_POKE] = "TEXT_POKE",
	[RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	[RECORD_HEADER_ATTR] = "HEADER_ATTR",
	[RECORD_EVENT_TYPE] = "EVENT_TYPE",
	[RECORD_TRACING_DATA] = "TRACING_DATA",
	[RECORD_BUILD_ID] = "BUILD_ID",
	[RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	[RECORD_ID_INDEX] = "ID_INDEX",
	[RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[RECORD_AUXTRACE] = "AUXTRACE",
	[RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[RECORD_THREAD_MAP] = "THREAD_MAP",
	[RECORD_CPU_MAP] = "CPU_MAP",
	[RECORD_STAT_CONFIG] = "STAT_CONFIG",
	[RECORD_STAT] = "STAT",
	[RECORD_STAT_ROUND] = "STAT_ROUND",
	[RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	[RECORD_TIME_CONV] = "TIME_CONV",
	[RECORD_HEADER_FEATURE] = "HEADER_FEATURE",
	[RECORD_COMPRESSED] = "COMPRESSED",
	[RECORD_FINISHED_INIT] = "FINISHED_INIT",
	[RECORD_COMPRESSED2] = "COMPRESSED2",
	[RECORD_BPF_METADATA] = "BPF_METADATA",
	[RECORD_SCHEDSTAT_CPU] = "SCHEDSTAT_CPU",
	[RECORD_SCHEDSTAT_DOMAIN] = "SCHEDSTAT_DOMAIN",
};

const char *record_type_name(uint32_t type)
{
	return type < COUNT(type_names) ? type_names[type] : NULL;
}

/* Fields of the trailer, 64 bits each, in order. */
static const uint8_t trailer_bits[] = {
	SAMPLE_TID, SAMPLE_TIME, SAMPLE_ID, SAMPLE_STREAM_ID, SAMPLE_CPU, SAMPLE_IDENTIFIER,
};

static size_t trailer_size(uint64_t sample_type)
{
	size_t n = 0;

	for (size_t i = 0; i < COUNT(trailer_bits); i++)
		n += sample_type >> trailer_bits[i] & 1;
	return n * sizeof(uint64_t);
}

static void trailer_field(struct sample_id *id, unsigned bit, const uint8_t *at)
{
	switch (bit) {
	case SAMPLE_TID:
		id->pid = load_u32(at);
		id->tid = load_u32(at + 4);
		id->has |= HAS_PID | HAS_TID;
		break;
	case SAMPLE_TIME:
		id->time_ns = load_u64(at);
		id->has |= HAS_TIME;
		break;
	case SAMPLE_STREAM_ID:
		id->stream_id = load_u64(at);
		break;
	case SAMPLE_CPU:
		id->cpu = load_u32(at);
		id->has |= HAS_CPU;
		break;
	default: /* ID and IDENTIFIER have the same value */
		id->id = load_u64(at);
		break;
	}
}

/* Read from the end, as strings before the trailer are padded. */
struct sample_id sample_id_read(const struct record *r, const struct attr *attr)
{
	struct sample_id id = { 0 };
	size_t size = trailer_size(attr->sample_type);
	const uint8_t *at;

	if (r->type == RECORD_SAMPLE || r->type >= RECORD_HEADER_ATTR ||
	    !attr_has(attr, ATTR_SAMPLE_ID_ALL) || size > cur_left(&r->body))
		return id;
	at = r->body.end - size;
	for (size_t i = 0; i < COUNT(trailer_bits); i++) {
		if (!(attr->sample_type >> trailer_bits[i] & 1))
			continue;
		trailer_field(&id, trailer_bits[i], at);
		at += sizeof(uint64_t);
	}
	return id;
}

static int ends_early(const struct record *r, struct err *err)
{
	return err_set(err, ERR_FORMAT, r->position,
		       "%s record of %" PRIu64 " bytes: ends inside %s", record_type_name(r->type),
		       r->size, "its fixed part");
}

static int no_string_end(const struct record *r, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, r->position,
		       "%s record of %" PRIu64 " bytes: %s has no end", record_type_name(r->type),
		       r->size, what);
}

/* Reads 24 bytes of an MMAP2 record: device and inode, or a build-id. */
static void read_file_identity(struct cursor *c, bool is_build_id, struct record_mmap *m)
{
	if (!is_build_id) {
		m->major = cur_u32(c);
		m->minor = cur_u32(c);
		m->inode = cur_u64(c);
		m->inode_generation = cur_u64(c);
		return;
	}
	m->build_id.size = cur_u8(c);
	cur_skip(c, 3);
	const uint8_t *bytes = cur_take(c, BUILD_ID_MAX);
	if (m->build_id.size > BUILD_ID_MAX)
		m->build_id.size = BUILD_ID_MAX;
	if (bytes != NULL)
		memcpy(m->build_id.bytes, bytes, BUILD_ID_MAX);
}

int record_mmap_read(const struct record *r, struct record_mmap *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_mmap m = { 0 };

	m.pid = cur_u32(&c);
	m.tid = cur_u32(&c);
	m.start = cur_u64(&c);
	m.length = cur_u64(&c);
	m.page_offset = cur_u64(&c);
	m.is_data = r->misc & MISC_MMAP_DATA;
	if (r->type == RECORD_MMAP2) {
		read_file_identity(&c, r->misc & MISC_MMAP_BUILD_ID, &m);
		m.protection = cur_u32(&c);
		m.flags = cur_u32(&c);
	}
	if (!cur_ok(&c))
		return ends_early(r, err);
	m.path = cur_string(&c);
	if (m.path == NULL)
		return no_string_end(r, "path", err);
	*out = m;
	return 0;
}

int record_comm_read(const struct record *r, struct record_comm *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_comm comm = { .is_exec = r->misc & MISC_COMM_EXEC };

	comm.pid = cur_u32(&c);
	comm.tid = cur_u32(&c);
	if (!cur_ok(&c))
		return ends_early(r, err);
	comm.comm = cur_string(&c);
	if (comm.comm == NULL)
		return no_string_end(r, "name", err);
	*out = comm;
	return 0;
}

int record_task_read(const struct record *r, struct record_task *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_task t = { 0 };

	t.pid = cur_u32(&c);
	t.ppid = cur_u32(&c);
	t.tid = cur_u32(&c);
	t.ptid = cur_u32(&c);
	t.time_ns = cur_u64(&c);
	t.lists_maps = r->type == RECORD_FORK && (r->misc & MISC_FORK_EXEC) != 0;
	if (!cur_ok(&c))
		return ends_early(r, err);
	*out = t;
	return 0;
}

int record_switch_read(const struct record *r, struct record_switch *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_switch s = {
		.is_out = r->misc & MISC_SWITCH_OUT,
		.is_preempted = r->misc & MISC_SWITCH_OUT_PREEMPT,
		.has_other = r->type == RECORD_SWITCH_CPU_WIDE,
	};

	if (s.has_other) {
		s.other_pid = cur_u32(&c);
		s.other_tid = cur_u32(&c);
	}
	if (!cur_ok(&c))
		return ends_early(r, err);
	*out = s;
	return 0;
}

int record_aux_read(const struct record *r, struct record_aux *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_aux a = { 0 };

	a.offset = cur_u64(&c);
	a.size = cur_u64(&c);
	a.flags = cur_u64(&c);
	if (!cur_ok(&c))
		return ends_early(r, err);
	*out = a;
	return 0;
}

int record_auxtrace_read(const struct record *r, struct record_auxtrace *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_auxtrace a = { 0 };

	a.size = cur_u64(&c);
	a.offset = cur_u64(&c);
	a.reference = cur_u64(&c);
	a.idx = cur_u32(&c);
	a.tid = cur_u32(&c);
	a.cpu = cur_u32(&c);
	if (!cur_ok(&c))
		return ends_early(r, err);
	*out = a;
	return 0;
}

int record_ksymbol_read(const struct record *r, struct record_ksymbol *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_ksymbol k = { 0 };

	k.address = cur_u64(&c);
	k.length = cur_u32(&c);
	k.type = cur_u16(&c);
	k.flags = cur_u16(&c);
	if (!cur_ok(&c))
		return ends_early(r, err);
	k.name = cur_string(&c);
	if (k.name == NULL)
		return no_string_end(r, "name", err);
	*out = k;
	return 0;
}

/* Older recorders end the record after `zero`. */
int record_time_conv_read(const struct record *r, struct record_time_conv *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_time_conv t = { 0 };

	t.shift = cur_u64(&c);
	t.mult = cur_u64(&c);
	t.zero = cur_u64(&c);
	if (!cur_ok(&c))
		return ends_early(r, err);
	if (cur_left(&c) >= 18) {
		t.cycles = cur_u64(&c);
		t.mask = cur_u64(&c);
		cur_skip(&c, 1); /* cap_user_time_zero */
		t.has_short = cur_u8(&c) != 0;
	}
	if (t.shift > 63 || t.mult == 0)
		return err_set(err, ERR_FORMAT, r->position,
			       "TIME_CONV record: shift %" PRIu64 ", mult %" PRIu64
			       "; wanted a shift below 64 and a mult above 0",
			       t.shift, t.mult);
	*out = t;
	return 0;
}

int record_lost_read(const struct record *r, struct record_lost *out, struct err *err)
{
	struct cursor c = r->body;
	struct record_lost lost = { 0 };

	if (r->type == RECORD_LOST)
		lost.id = cur_u64(&c);
	lost.n = cur_u64(&c);
	if (!cur_ok(&c))
		return ends_early(r, err);
	if (lost.n > RECORD_LOST_MOST)
		return err_set(err, ERR_FORMAT, r->position,
			       "%s record: %" PRIu64 " lost; at most %" PRIu64 " can be",
			       record_type_name(r->type), lost.n, RECORD_LOST_MOST);
	*out = lost;
	return 0;
}

uint64_t time_to_ticks(const struct record_time_conv *t, uint64_t time_ns)
{
	uint64_t since = time_ns - t->zero;
	uint64_t quotient = since / t->mult;
	uint64_t rest = since % t->mult;

	return (quotient << t->shift) + (rest << t->shift) / t->mult;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/describe.h"

#include "base/alloc.h"
#include "base/utf8_decode.h"
#include "batch/batch.h"
#include "capture/format/sample.h"
#include "capture/state.h"

/* What a line is made of. */
struct line {
	const struct capture *capture;
	const struct record *record;
	struct text *out;
	struct err *err;
};

static void describe_field(const struct line *l, const char *name)
{
	text_char(l->out, ' ');
	text_str(l->out, name);
	text_char(l->out, '=');
}

static void put_dec(const struct line *l, const char *name, uint64_t value)
{
	describe_field(l, name);
	text_u64(l->out, value);
}

/* Appends an id that is signed in the kernel: a pid, a tid, or a cpu that may be "any". */
static void put_id(const struct line *l, const char *name, uint32_t value)
{
	describe_field(l, name);
	text_i64(l->out, (int32_t)value);
}

static void describe_put_address(const struct line *l, const char *name, uint64_t value)
{
	describe_field(l, name);
	text_hex(l->out, value);
}

/* Appends text from outside. What controls a terminal, and what is not UTF-8, is escaped. */
static void describe_put_text(const struct line *l, const char *name, const char *text)
{
	describe_field(l, name);
	text_char(l->out, '"');
	for (const char *c = text; *c != '\0';) {
		uint32_t code = 0;
		size_t n = utf8_decode(c, &code);
		bool is_plain = n > 0 && !utf8_is_unsafe(code) && code != '"' && code != '\\';

		if (is_plain)
			text_add(l->out, c, n);
		for (size_t i = 0; i < (n > 0 ? n : 1) && !is_plain; i++)
			text_format(l->out, "\\x%02x", (unsigned)(unsigned char)c[i]);
		c += n > 0 ? n : 1;
	}
	text_char(l->out, '"');
}

static void put_flag(const struct line *l, bool is_set, const char *name)
{
	if (is_set) {
		text_char(l->out, ' ');
		text_str(l->out, name);
	}
}

static int mmap_fields(const struct line *l)
{
	struct record_mmap m;

	if (record_mmap_read(l->record, &m, l->err) < 0)
		return -1;
	put_id(l, "pid", m.pid);
	put_id(l, "tid", m.tid);
	describe_put_address(l, "start", m.start);
	describe_put_address(l, "length", m.length);
	describe_put_address(l, "pgoff", m.page_offset);
	put_flag(l, m.is_data, "data");
	if (m.build_id.size > 0) {
		describe_field(l, "build_id");
		for (unsigned i = 0; i < m.build_id.size; i++)
			text_hex_padded(l->out, m.build_id.bytes[i], 2);
	}
	describe_put_text(l, "path", m.path);
	return 0;
}

static int comm_fields(const struct line *l)
{
	struct record_comm c;

	if (record_comm_read(l->record, &c, l->err) < 0)
		return -1;
	put_id(l, "pid", c.pid);
	put_id(l, "tid", c.tid);
	put_flag(l, c.is_exec, "exec");
	describe_put_text(l, "comm", c.comm);
	return 0;
}

static int task_fields(const struct line *l)
{
	struct record_task t;

	if (record_task_read(l->record, &t, l->err) < 0)
		return -1;
	put_id(l, "pid", t.pid);
	put_id(l, "tid", t.tid);
	put_id(l, "ppid", t.ppid);
	put_id(l, "ptid", t.ptid);
	return 0;
}

static int switch_fields(const struct line *l)
{
	struct record_switch s;

	if (record_switch_read(l->record, &s, l->err) < 0)
		return -1;
	text_str(l->out, s.is_out ? " out" : " in");
	put_flag(l, s.is_preempted, "preempted");
	if (s.has_other) {
		put_id(l, s.is_out ? "next_pid" : "prev_pid", s.other_pid);
		put_id(l, s.is_out ? "next_tid" : "prev_tid", s.other_tid);
	}
	return 0;
}

static int aux_fields(const struct line *l)
{
	struct record_aux a;

	if (record_aux_read(l->record, &a, l->err) < 0)
		return -1;
	describe_put_address(l, "offset", a.offset);
	describe_put_address(l, "data_size", a.size);
	describe_put_address(l, "flags", a.flags);
	put_flag(l, a.flags & AUX_TRUNCATED, "truncated");
	put_flag(l, a.flags & AUX_OVERWRITE, "overwrite");
	put_flag(l, a.flags & AUX_PARTIAL, "partial");
	put_flag(l, a.flags & AUX_COLLISION, "collision");
	return 0;
}

static int auxtrace_fields(const struct line *l)
{
	struct record_auxtrace a;

	if (record_auxtrace_read(l->record, &a, l->err) < 0)
		return -1;
	describe_put_address(l, "data_size", a.size);
	describe_put_address(l, "offset", a.offset);
	put_dec(l, "idx", a.idx);
	put_id(l, "tid", a.tid);
	put_id(l, "cpu", a.cpu);
	return 0;
}

static void put_spe_cpu(const struct line *l, const struct spe_cpu *cpu)
{
	put_id(l, "cpu", cpu->cpu);
	describe_put_address(l, "midr", cpu->midr);
	put_id(l, "pmu", cpu->pmu_type);
	put_dec(l, "min_interval", cpu->min_interval);
	describe_put_address(l, "event_filter", cpu->event_filter);
}

/* Of SPE, the CPUs of version 2 one after the other. */
static int auxtrace_info_fields(const struct line *l)
{
	struct cursor body = l->record->body;
	uint32_t type = cur_u32(&body);
	struct spe_info spe = { 0 };
	bool is_read;

	cur_skip(&body, sizeof(uint32_t));
	put_dec(l, "type", type);
	if (!cur_ok(&body) || type != TRACE_ARM_SPE)
		return 0;
	is_read = spe_info_read(body, &spe);
	put_dec(l, "version", spe.version);
	put_id(l, "pmu", spe.pmu_type);
	put_flag(l, spe.is_per_thread, "per_thread");
	for (size_t i = 0; i < spe.cpus.n; i++)
		put_spe_cpu(l, &spe.cpus.items[i]);
	vec_release(&spe.cpus);
	if (!is_read)
		return err_set(l->err, ERR_FORMAT, l->record->position, "ends inside its CPUs");
	return 0;
}

static int ksymbol_fields(const struct line *l)
{
	struct record_ksymbol k;

	if (record_ksymbol_read(l->record, &k, l->err) < 0)
		return -1;
	describe_put_address(l, "addr", k.address);
	describe_put_address(l, "length", k.length);
	put_dec(l, "type", k.type);
	put_flag(l, k.flags & 1, "unregister");
	describe_put_text(l, "name", k.name);
	return 0;
}

static int time_conv_fields(const struct line *l)
{
	struct record_time_conv t;

	if (record_time_conv_read(l->record, &t, l->err) < 0)
		return -1;
	put_dec(l, "shift", t.shift);
	put_dec(l, "mult", t.mult);
	put_dec(l, "zero", t.zero);
	if (t.has_short) {
		put_dec(l, "cycles", t.cycles);
		describe_put_address(l, "mask", t.mask);
	}
	return 0;
}

static int lost_fields(const struct line *l)
{
	struct record_lost lost;

	if (record_lost_read(l->record, &lost, l->err) < 0)
		return -1;
	put_dec(l, "lost", lost.n);
	return 0;
}

/* A pair of 32-bit ids at the start of the body. */
static int pid_tid_fields(const struct line *l)
{
	struct cursor body = l->record->body;
	uint32_t pid = cur_u32(&body);
	uint32_t tid = cur_u32(&body);

	if (!cur_ok(&body))
		return err_set(l->err, ERR_FORMAT, l->record->position, "ends inside its ids");
	put_id(l, "pid", pid);
	put_id(l, "tid", tid);
	return 0;
}

static void sample_sizes(const struct line *l, const struct sample *s)
{
	if (s->sample_type >> SAMPLE_CALLCHAIN & 1)
		put_dec(l, "callchain", s->callchain.n);
	if (s->sample_type >> SAMPLE_BRANCH_STACK & 1)
		put_dec(l, "branches", s->branches.n);
	if (s->sample_type >> SAMPLE_RAW & 1)
		put_dec(l, "raw", s->raw_size);
	if (s->sample_type >> SAMPLE_REGS_USER & 1)
		put_dec(l, "user_regs", s->user_regs.n);
	if (s->sample_type >> SAMPLE_REGS_INTR & 1)
		put_dec(l, "intr_regs", s->intr_regs.n);
	if (s->sample_type >> SAMPLE_STACK_USER & 1)
		put_dec(l, "user_stack", s->user_stack_size);
	if (s->sample_type >> SAMPLE_AUX & 1)
		put_dec(l, "aux", s->aux_size);
}

/* Numbers of a sample, with the bit that says they were recorded. */
static void sample_numbers(const struct line *l, const struct sample *s)
{
	const struct {
		unsigned bit;
		const char *name;
		uint64_t value;
		bool is_address;
	} fields[] = {
		{ SAMPLE_IP, "ip", s->ip, true },
		{ SAMPLE_ADDR, "addr", s->addr, true },
		{ SAMPLE_PERIOD, "period", s->period, false },
		{ SAMPLE_WEIGHT, "weight", s->weight, false },
		{ SAMPLE_WEIGHT_STRUCT, "weight", s->weight, false },
		{ SAMPLE_DATA_SRC, "data_src", s->data_src, true },
		{ SAMPLE_TRANSACTION, "transaction", s->transaction, true },
		{ SAMPLE_PHYS_ADDR, "phys_addr", s->phys_addr, true },
		{ SAMPLE_CGROUP, "cgroup", s->cgroup, false },
		{ SAMPLE_DATA_PAGE_SIZE, "data_page_size", s->data_page_size, false },
		{ SAMPLE_CODE_PAGE_SIZE, "code_page_size", s->code_page_size, false },
	};

	for (size_t i = 0; i < COUNT(fields); i++) {
		if (!(s->sample_type >> fields[i].bit & 1))
			continue;
		if (fields[i].is_address)
			describe_put_address(l, fields[i].name, fields[i].value);
		else
			put_dec(l, fields[i].name, fields[i].value);
	}
}

static int sample_fields(const struct line *l)
{
	int event = capture_event_of_sample(l->capture, l->record);
	struct sample s;

	if (event < 0)
		return err_set(l->err, ERR_FORMAT, l->record->position, "of an unknown event");
	if (sample_read(l->record, &capture_event(l->capture, (size_t)event)->attr, &s, l->err) < 0)
		return -1;
	if (s.sample_type >> SAMPLE_TIME & 1)
		put_dec(l, "time", s.time_ns);
	describe_put_text(l, "event", capture_event_name(l->capture, (size_t)event));
	if (s.sample_type >> SAMPLE_CPU & 1)
		put_id(l, "cpu", s.cpu);
	if (s.sample_type >> SAMPLE_TID & 1) {
		put_id(l, "pid", s.pid);
		put_id(l, "tid", s.tid);
	}
	sample_numbers(l, &s);
	sample_sizes(l, &s);
	return 0;
}

static const struct {
	uint32_t type;
	int (*put)(const struct line *);
} kinds[] = {
	{ RECORD_MMAP, mmap_fields },
	{ RECORD_MMAP2, mmap_fields },
	{ RECORD_COMM, comm_fields },
	{ RECORD_FORK, task_fields },
	{ RECORD_EXIT, task_fields },
	{ RECORD_SWITCH, switch_fields },
	{ RECORD_SWITCH_CPU_WIDE, switch_fields },
	{ RECORD_AUX, aux_fields },
	{ RECORD_AUXTRACE, auxtrace_fields },
	{ RECORD_AUXTRACE_INFO, auxtrace_info_fields },
	{ RECORD_KSYMBOL, ksymbol_fields },
	{ RECORD_TIME_CONV, time_conv_fields },
	{ RECORD_LOST, lost_fields },
	{ RECORD_LOST_SAMPLES, lost_fields },
	{ RECORD_ITRACE_START, pid_tid_fields },
	{ RECORD_READ, pid_tid_fields },
	{ RECORD_NAMESPACES, pid_tid_fields },
	{ RECORD_SAMPLE, sample_fields },
};

/* Appends the sample_id trailer. Samples have its fields in their body. */
static void put_trailer(const struct line *l, const struct sample_id *id)
{
	if (id->has & HAS_TIME)
		put_dec(l, "time", id->time_ns);
	if (id->has & HAS_CPU)
		put_id(l, "cpu", id->cpu);
}

void record_describe(const struct capture *capture, const struct record *record,
		     const struct sample_id *id, struct text *out)
{
	struct err err = { 0 };
	struct line line = { .capture = capture, .record = record, .out = out, .err = &err };
	const char *name = record_type_name(record->type);

	text_hex(out, record->position);
	put_dec(&line, "size", record->size);
	text_char(out, ' ');
	if (name != NULL)
		text_str(out, name);
	else
		text_format(out, "UNKNOWN(%u)", record->type);
	if (record->type != RECORD_SAMPLE)
		put_trailer(&line, id);
	put_flag(&line, record->was_compressed, "compressed");
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].type == record->type && kinds[i].put(&line) < 0)
			text_format(out, " (%s)", err.text);
	text_char(out, '\n');
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes up captures of shapes that make-capture does not have, for benchmarks and tests: inputs that
 * nobody tuned for. The table of families says what each is like. The same arguments make the same file.
 * SPE packets are written here, by docs/reference/spe-packets.md, not by what cyclops encodes with.
 *
 *	make-family FAMILY RECORDS OUTPUT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "batch/batch.h"
#include "capture/writer/emit.h"
#include "maker.h"
#include "number.h"

enum {
	SLICE = 256, /* records between switches of a CPU */
	TICKS = 40,  /* from record to record, at most */
	FIRST_PID = 2000,
	LINE = 64,
	RECORD_MAX = 80,
	DEEPEST = 64, /* entries of a call chain or branch stack */
};

static const uint64_t user_code = 0xaaaae0000000, kernel_code = 0xffff800010000000,
		      heap = 0xffff90000000, kernel_data = 0xffff000100000000;

static const uint64_t low_56 = ((uint64_t)1 << 56) - 1;

/* Of union perf_mem_data_src: a load; a hit in the L1, in local memory. */
static const uint64_t load_bits = 1 << 1, l1_hit_bits = 0x0a << 5, dram_hit_bits = 0x82 << 5;

enum layout { ALIGNED_64, SHORT_16, MIXED };

/* What is 0 is as usual. */
static const struct family {
	const char *name, *help;
	uint32_t n_cpus, n_threads;
	uint32_t n_together;			   /* threads of a process */
	uint32_t chunk_records;			   /* in an AUX buffer */
	uint32_t n_user, n_kernel, kernel_percent; /* places, and records there */
	uint32_t n_lines;			   /* of data that each thread has for itself */
	uint32_t n_shared, shared_percent; /* lines that all threads use, and accesses to them */
	uint32_t gap;	    /* lines from a shared one to the next; those between are used, too */
	uint32_t n_offsets; /* of a shared line that are accessed */
	enum layout layout;
	bool threads_end; /* each slice is a thread of its own */
	bool without_context, with_more_events;
	bool has_samples;	       /* of the PMU, no SPE … */
	uint32_t n_frames, n_branches; /* … with these */
	bool of_loads;		       /* … and with a data source and a latency */
} families[] = {
	{ "two-buffers", "two huge buffers, kernel code, thousands of shared lines", .n_cpus = 2,
	  .n_threads = 24, .chunk_records = UINT32_MAX, .n_user = 310, .n_kernel = 13749,
	  .kernel_percent = 60, .n_lines = 20000, .n_shared = 26329, .shared_percent = 12 },
	{ "threads", "each thread lives for 256 records", .threads_end = true, .n_lines = 64 },
	{ "few-places", "a dozen instructions", .n_user = 12, .n_kernel = 2, .n_lines = 100000 },
	{ "many-places", "a million instructions", .n_user = 900000, .n_kernel = 100000 },
	{ "no-context", "threads are known by their switches only", .n_threads = 40,
	  .chunk_records = 4096, .without_context = true },
	{ "more-events", "events of eight bytes", .layout = MIXED, .with_more_events = true },
	{ "short", "records of 16 bytes: an address, events, an operation", .layout = SHORT_16,
	  .without_context = true },
	{ "mixed", "records of 16 to 64 bytes", .layout = MIXED },
	{ "contended", "ten thousand contended lines", .n_cpus = 8, .n_threads = 32,
	  .kernel_percent = 5, .n_shared = 10000, .shared_percent = 70, .n_offsets = 8 },
	{ "dense", "300 contended lines, all bytes of all lines around them are used", .n_cpus = 8,
	  .n_threads = 48, .n_together = 48, .n_user = 4000, .kernel_percent = 5, .n_lines = 500,
	  .n_shared = 300, .shared_percent = 80, .gap = 5, .n_offsets = 64 },
	{ "cpus", "256 CPUs, buffers of 4 KiB", .n_cpus = 256, .n_threads = 600,
	  .chunk_records = 64, .n_lines = 500, .n_shared = 1000 },
	{ "one-buffer", "one CPU, one huge buffer", .n_cpus = 1, .chunk_records = UINT32_MAX,
	  .n_lines = 20000 },
	{ "chains", "samples with call chains", .n_cpus = 8, .n_threads = 40, .n_user = 20000,
	  .has_samples = true, .n_frames = 24 },
	{ "loads", "samples of loads with call chains", .n_cpus = 8, .n_threads = 40,
	  .n_user = 20000, .has_samples = true, .n_frames = 24, .of_loads = true },
	{ "stacks", "samples with branch stacks", .n_cpus = 8, .n_threads = 40, .has_samples = true,
	  .n_branches = 32 },
	{ "samples", "samples with neither", .n_cpus = 8, .n_threads = 40, .has_samples = true },
};

static uint32_t or_usual(uint32_t value, uint32_t usual)
{
	return value > 0 ? value : usual;
}

static struct family filled(struct family f)
{
	f.n_cpus = or_usual(f.n_cpus, 4);
	f.n_threads = or_usual(f.n_threads, 12);
	f.n_together = or_usual(f.n_together, 4);
	f.chunk_records = or_usual(f.chunk_records, 16384);
	f.n_user = or_usual(f.n_user, 3000);
	f.n_kernel = or_usual(f.n_kernel, 1000);
	f.kernel_percent = or_usual(f.kernel_percent, 20);
	f.n_lines = or_usual(f.n_lines, 2000);
	f.n_shared = or_usual(f.n_shared, 200);
	f.shared_percent = or_usual(f.shared_percent, 10);
	f.gap = or_usual(f.gap, 1);
	f.n_offsets = or_usual(f.n_offsets, 4);
	return f;
}

struct making {
	const struct family *f;
	struct writer *writer;
	uint64_t random;
	uint64_t n_of_cpu, *aux_offsets;
	uint64_t ids[3 * MAKE_CPUS_MAX]; /* by event and CPU */
};

enum { SPE_EVENT, DUMMY_EVENT, SAMPLE_EVENT };

static const struct record_time_conv tick_of_10_ns = {
	.shift = 0, .mult = 10, .zero = 1000000000, .mask = UINT64_MAX, .has_short = true
};

static uint64_t below(struct making *m, uint64_t n)
{
	return n == 0 ? 0 : random_below(&m->random, n);
}

static uint64_t time_of(uint64_t ticks)
{
	return tick_of_10_ns.zero + 10 * ticks;
}

/* When a CPU takes its record with this number. */
static uint64_t ticks_of(uint64_t record)
{
	return 1000 + record * TICKS;
}

/* Whose slice it is on a CPU. Threads that do not end move between CPUs. */
static uint32_t thread_of(const struct making *m, uint64_t cpu, uint64_t record)
{
	uint64_t slice = record / SLICE * m->f->n_cpus + cpu;

	return FIRST_PID +
	       (uint32_t)(m->f->threads_end ? slice : (slice * 7 + slice / 31) % m->f->n_threads);
}

static uint32_t pid_of(const struct making *m, uint32_t tid)
{
	return tid - (tid - FIRST_PID) % m->f->n_together;
}

static struct sample_id stamp(const struct making *m, int event, uint64_t cpu, uint32_t tid,
			      uint64_t time_ns)
{
	return (struct sample_id){ .has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU,
				   .pid = pid_of(m, tid),
				   .tid = tid,
				   .cpu = (uint32_t)cpu,
				   .time_ns = time_ns,
				   .id = m->ids[event * MAKE_CPUS_MAX + (int)cpu] };
}

/* Some places are hot: the lower of two numbers. */
static uint64_t some_place(struct making *m, bool is_kernel)
{
	uint64_t n = is_kernel ? m->f->n_kernel : m->f->n_user, a = below(m, n), b = below(m, n);

	return (is_kernel ? kernel_code : user_code) + 12 * (a < b ? a : b);
}

static uint8_t *put(uint8_t *out, uint8_t header, uint64_t payload, size_t size)
{
	*out++ = header;
	for (size_t i = 0; i < size; i++)
		*out++ = (uint8_t)(payload >> 8 * i);
	return out;
}

static uint64_t code_payload(uint64_t address, bool is_kernel)
{
	return (address & low_56) | (uint64_t)1 << 63 | (uint64_t)(is_kernel ? 1 : 0) << 61;
}

/* What an access meets. */
struct access {
	uint64_t address;
	bool is_shared, is_store;
	uint8_t source;
	uint16_t cycles;
	uint32_t events;
};

static struct access some_access(struct making *m, uint32_t tid, bool is_kernel)
{
	/* Neoverse N1: L1D, L2D, another core, the system cache, DRAM */
	static const uint8_t sources[] = { 0, 8, 9, 0xb, 0xe };
	static const uint16_t cycles[] = { 5, 14, 130, 60, 260 };
	const struct family *f = m->f;
	struct access a = { .is_store = below(m, 100) < 30 };
	unsigned level = (unsigned)below(m, 100);
	uint64_t line;

	a.is_shared = below(m, 100) < f->shared_percent;
	line = a.is_shared ? below(m, f->n_shared) * f->gap : below(m, f->n_lines);
	if (a.is_shared && f->gap > 1 && below(m, 2) == 0)
		line += below(m, f->gap);
	a.address = (is_kernel ? kernel_data : heap) + line * LINE +
		    below(m, a.is_shared ? f->n_offsets : 8) *
			    (LINE / (f->n_offsets > 8 ? f->n_offsets : 8));
	if (!a.is_shared)
		a.address += ((uint64_t)1 << 28) + (uint64_t)(tid % 1024) * f->n_lines * LINE;
	level = level < 80 ? 0 : level < 90 ? 1 : level < 96 ? 3 : 4;
	if (a.is_shared && line % f->gap == 0 && below(m, 100) < 40)
		level = 2;
	a.source = sources[level];
	a.cycles = (uint16_t)(cycles[level] + below(m, 1 + cycles[level]));
	a.events = 1u << 1 | 1u << 2 | (level > 0 ? 1u << 3 : 0) | (level > 2 ? 1u << 8 : 0) |
		   (level > 3 ? 1u << 9 : 0) | 1u << 4;
	return a;
}

static uint8_t *put_access(struct making *m, uint8_t *out, const struct access *a, bool is_long)
{
	out = put(out, 0x49, a->is_store ? 1 : below(m, 20) == 0 ? 0x16 : 0, 1);
	out = put(out, 0x99, 2 + below(m, 4), 2);
	out = put(out, 0x98, 6u + a->cycles, 2);
	out = put(out, 0xb2, a->address & low_56, 8);
	if (is_long)
		out = put(out, 0x9a, 1 + below(m, 3), 2);
	return a->is_store ? out : put(out, 0x43, a->source, 1);
}

/* One record; returns its end. */
static uint8_t *put_record(struct making *m, uint8_t *out, uint32_t tid, uint64_t ticks)
{
	const struct family *f = m->f;
	uint8_t *start = out;
	bool is_kernel = below(m, 100) < f->kernel_percent;
	bool is_short = f->layout == SHORT_16 || (f->layout == MIXED && below(m, 3) == 0);
	bool is_access = !is_short && below(m, 100) < 65;
	struct access a = some_access(m, tid, is_kernel);
	uint64_t events = is_access ? a.events : 2 | (below(m, 30) == 0 ? 1u << 7 : 0);

	out = put(out, 0xb0, code_payload(some_place(m, is_kernel), is_kernel), 8);
	if (f->with_more_events) /* of the implementation, and some that nobody has defined */
		events |= below(m, 16) << 12 | (events & 1 << 7 ? 0 : (uint64_t)5 << 40);
	out = f->with_more_events ? put(out, 0x72, events, 8)
	      : is_short	  ? put(out, 0x42, events & 0xff, 1)
				  : put(out, 0x52, events, 2);
	if (!f->without_context && !is_short)
		out = put(out, 0x65, tid, 4);
	if (is_access) {
		out = put_access(m, out, &a, f->layout == ALIGNED_64);
	} else if (below(m, 3) == 0) {
		out = put(out, 0x4a, 1, 1);
		if (!is_short)
			out = put(out, 0xb1, code_payload(some_place(m, is_kernel), is_kernel), 8);
	} else {
		out = put(out, 0x48, 0, 1);
	}
	out = f->layout == SHORT_16 ? put(out, 0x01, 0, 0) : put(out, 0x71, ticks, 8);
	while ((out - start) % (f->layout == ALIGNED_64 ? 64 : f->layout == SHORT_16 ? 16 : 1) != 0)
		*out++ = 0;
	return out;
}

static void write_fork(struct making *m, uint64_t cpu, uint32_t tid, uint64_t time_ns)
{
	struct sample_id id = stamp(m, DUMMY_EVENT, cpu, tid, time_ns);
	struct record_task task = { pid_of(m, tid), FIRST_PID, tid, FIRST_PID, time_ns };
	struct record_mmap map = { .pid = pid_of(m, tid),
				   .tid = tid,
				   .inode = 1,
				   .protection = 5,
				   .flags = 2,
				   .start = user_code,
				   .length = 12 << 20,
				   .path = "/srv/made-up/worker" };

	writer_task(m->writer, RECORD_FORK, &task, &id);
	if (tid != pid_of(m, tid))
		return;
	writer_comm(m->writer, &(struct record_comm){ tid, tid, true, "worker" }, &id);
	writer_mmap2(m->writer, &map, 2, &id);
	map.start = heap;
	map.length = UINT64_C(1) << 34;
	map.protection = 3;
	map.is_data = true;
	map.path = "//anon";
	writer_mmap2(m->writer, &map, 2, &id);
}

/* What happens where a slice begins: the thread before leaves the CPU, and may end. */
static void write_slice(struct making *m, uint64_t cpu, uint64_t record)
{
	uint32_t next = thread_of(m, cpu, record);
	uint32_t last = record > 0 ? thread_of(m, cpu, record - 1) : 0;
	uint64_t time_ns = time_of(ticks_of(record));
	struct sample_id out = stamp(m, DUMMY_EVENT, cpu, last, time_ns - 3);
	struct sample_id in = stamp(m, DUMMY_EVENT, cpu, next, time_ns - 1);

	if (record > 0)
		writer_switch(m->writer, &(struct record_switch){ .is_out = true }, &out);
	if (record > 0 && m->f->threads_end)
		writer_task(m->writer, RECORD_EXIT,
			    &(struct record_task){ pid_of(m, last), pid_of(m, last), last, last,
						   time_ns - 3 },
			    &out);
	if (m->f->threads_end)
		write_fork(m, cpu, next, time_ns - 2);
	writer_switch(m->writer, &(struct record_switch){ 0 }, &in);
}

static void write_aux(struct making *m, uint64_t cpu, uint64_t from, uint64_t to)
{
	uint8_t *bytes = mem_alloc(to - from, RECORD_MAX), *end = bytes;
	struct sample_id id =
		stamp(m, SPE_EVENT, cpu, thread_of(m, cpu, to - 1), time_of(ticks_of(to)));
	struct record_auxtrace header = { .idx = (uint32_t)cpu,
					  .tid = UINT32_MAX,
					  .cpu = (uint32_t)cpu };

	for (uint64_t i = from; i < to; i++)
		end = put_record(m, end, thread_of(m, cpu, i), ticks_of(i) + below(m, TICKS));
	header.size = (uint64_t)(end - bytes);
	header.offset = m->aux_offsets[cpu];
	m->aux_offsets[cpu] += header.size;
	writer_aux(m->writer, &(struct record_aux){ header.offset, header.size, 0 }, &id);
	writer_auxtrace(m->writer, &header, bytes);
	free(bytes);
}

static void write_sample(struct making *m, uint64_t cpu, uint64_t record)
{
	const struct family *f = m->f;
	uint32_t tid = thread_of(m, cpu, record);
	uint64_t chain[1 + DEEPEST] = { (uint64_t)-512 }, branches[3 * DEEPEST];
	bool is_kernel = below(m, 100) < f->kernel_percent;
	uint64_t root = below(m, 50), n = f->n_frames == 0 ? 0 : 2 + below(m, f->n_frames);
	struct sample s = { .id = m->ids[SAMPLE_EVENT * MAKE_CPUS_MAX + (int)cpu],
			    .pid = pid_of(m, tid),
			    .tid = tid,
			    .cpu = (uint32_t)cpu,
			    .time_ns = time_of(ticks_of(record)),
			    .period = 1000 + below(m, 9000) };

	/* Callers far out are few, so that chains share them. */
	for (uint64_t i = 0; i < n; i++)
		chain[n - i] =
			user_code + 12 * ((root * 97 + below(m, 1 + i) * 31 + i) % f->n_user);
	s.ip = n > 0 ? chain[1] : some_place(m, is_kernel);
	s.callchain = (struct sample_words){ (const uint8_t *)chain, n > 0 ? 1 + n : 0 };
	for (uint64_t i = 0; i < f->n_branches; i++) {
		branches[3 * i] = some_place(m, false) + 8;
		branches[3 * i + 1] = some_place(m, false);
		branches[3 * i + 2] = below(m, 40) << 4 | 2; /* predicted */
	}
	s.branches = (struct sample_words){ (const uint8_t *)branches, f->n_branches };
	if (f->of_loads) {
		s.addr = heap + 8 * below(m, 1 << 20);
		s.data_src = load_bits | (below(m, 2) == 0 ? l1_hit_bits : dram_hit_bits);
		s.weight = 4 + below(m, 400);
	}
	writer_sample(m->writer, SAMPLE_EVENT, n == 0 && is_kernel ? 1 : 2, &s);
}

static void write_records(struct making *m)
{
	uint64_t step = m->f->chunk_records;
	bool has_samples = m->f->has_samples;

	if (has_samples) /* in order of time, but for the CPUs */
		step = SLICE;
	for (uint64_t from = 0; from < m->n_of_cpu; from += step) {
		uint64_t to = m->n_of_cpu - from < step ? m->n_of_cpu : from + step;

		for (uint64_t cpu = 0; cpu < m->f->n_cpus; cpu++) {
			for (uint64_t i = (from + SLICE - 1) / SLICE * SLICE; i < to; i += SLICE)
				write_slice(m, cpu, i);
			for (uint64_t i = from; has_samples && i < to; i++)
				write_sample(m, cpu, i);
			if (!has_samples)
				write_aux(m, cpu, from, to);
		}
		writer_finished_round(m->writer);
	}
}

#define BIT(n) ((uint64_t)1 << (n))

static int open_writer(struct making *m, const char *path, struct err *err)
{
	const uint64_t common = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
				BIT(SAMPLE_CPU) | BIT(SAMPLE_IDENTIFIER);
	const uint64_t of_samples =
		common | BIT(SAMPLE_PERIOD) | (m->f->n_frames > 0 ? BIT(SAMPLE_CALLCHAIN) : 0) |
		(m->f->n_branches > 0 ? BIT(SAMPLE_BRANCH_STACK) : 0) |
		(m->f->of_loads ? BIT(SAMPLE_ADDR) | BIT(SAMPLE_WEIGHT) | BIT(SAMPLE_DATA_SRC) : 0);
	struct writer_event events[] = {
		{ .attr = { .type = MAKE_SPE_TYPE,
			    .config = 1,
			    .sample_period = 2048,
			    .sample_type = common | BIT(SAMPLE_ADDR) | BIT(SAMPLE_WEIGHT) |
					   BIT(SAMPLE_DATA_SRC) | BIT(SAMPLE_PHYS_ADDR),
			    .flags = BIT(ATTR_DISABLED) | BIT(ATTR_SAMPLE_ID_ALL) },
		  .name = "arm_spe_0/ts_enable=1/" },
		{ .attr = { .type = ATTR_TYPE_SOFTWARE,
			    .config = 9,
			    .sample_period = 1,
			    .sample_type = common,
			    .flags = BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_MMAP) | BIT(ATTR_COMM) |
				     BIT(ATTR_TASK) | BIT(ATTR_MMAP2) | BIT(ATTR_CONTEXT_SWITCH) },
		  .name = "dummy:u" },
		{ .attr = { .type = ATTR_TYPE_HARDWARE,
			    .sample_period = 5000,
			    .sample_type = of_samples,
			    .branch_sample_type = m->f->n_branches > 0 ? 1 << 3 : 0,
			    .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		  .name = "cycles" },
	};

	for (int i = 0; i < 3; i++) {
		events[i].ids = m->ids + i * MAKE_CPUS_MAX;
		events[i].n_ids = m->f->n_cpus;
		for (uint32_t cpu = 0; cpu < m->f->n_cpus; cpu++)
			m->ids[(uint32_t)i * MAKE_CPUS_MAX + cpu] = 1000u * ((uint32_t)i + 1) + cpu;
	}
	return writer_open(path, events, COUNT(events), &m->writer, err);
}

static int make_family(const struct family *f, uint64_t n_records, const char *path,
		       struct err *err)
{
	const struct record_mmap kernel = { .pid = UINT32_MAX,
					    .start = kernel_code,
					    .length = 1 << 24,
					    .page_offset = kernel_code,
					    .protection = 5,
					    .path = "[kernel.kallsyms]_text" };
	struct making m = { .f = f, .random = n_records };
	int rc = open_writer(&m, path, err);

	if (rc < 0)
		return rc;
	m.n_of_cpu = (n_records + f->n_cpus - 1) / f->n_cpus;
	m.aux_offsets = mem_zalloc(f->n_cpus, sizeof(*m.aux_offsets));
	writer_time_conv(m.writer, &tick_of_10_ns);
	if (!f->has_samples)
		writer_spe_info_v1(m.writer, MAKE_SPE_TYPE, true);
	writer_mmap(m.writer, &kernel, 1, NULL);
	for (uint32_t i = 0; i < f->n_threads && !f->threads_end; i++)
		write_fork(&m, 0, FIRST_PID + i, time_of(i % 100));
	writer_finished_init(m.writer);
	write_records(&m);
	make_machine(m.writer, f->n_cpus);
	free(m.aux_offsets);
	return writer_close(m.writer, err);
}

int main(int argc, char **argv)
{
	struct family family;
	uint64_t n_records;
	struct err err;

	if (argc == 4 && make_number(argv[2], &n_records) < 0) {
		fprintf(stderr, "make-family: RECORDS: '%s' is no number\n", argv[2]);
		return 2;
	}
	for (size_t i = 0; argc == 4 && i < COUNT(families); i++) {
		if (strcmp(families[i].name, argv[1]) != 0)
			continue;
		family = filled(families[i]);
		if (make_family(&family, n_records, argv[3], &err) == 0)
			return 0;
		fprintf(stderr, "make-family: %s\n", err.text);
		return 1;
	}
	fprintf(stderr, "usage: make-family FAMILY RECORDS OUTPUT\n");
	for (size_t i = 0; i < COUNT(families); i++)
		fprintf(stderr, "  %-12s %s\n", families[i].name, families[i].help);
	return 2;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three processes of four threads take turns on the CPUs; each turn is a slice of records.
 *
 * Each CPU has a pool of distinct records, which its trace repeats with new times for as long
 * as it has to be, so files of many gigabytes cost little more than writing them.
 */
#include "maker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "capture/format/sample.h"
#include "capture/writer/emit.h"
#include "code_places.h"
#include "spe/generate.h"

enum {
	N_PROCESSES = 3,
	THREADS_EACH = 4,
	N_THREADS = N_PROCESSES * THREADS_EACH,
	FIRST_PID = 4000,
	PID_STEP = 10,
	SLICE_RECORDS = 512, /* a thread's turn */
	POOL_RECORDS = 1 << 19,
	GAP_TICKS = 50, /* between records */
	MAX_FRAMES = 8,
	RANDOM_BRANCHES = 16, /* entries of a stack, at most */
	MAX_BRANCHES = 32,
	PAGE = 4096,
};

/* Ids of the events: one for each CPU. */
enum { SPE_ID = 1000, DUMMY_ID = 2000, CYCLES_ID = 3000, MEMORY_ID = 4000 };

/* 12 ns a tick, from a real capture. */
static const struct record_time_conv clock_of_the_machine = {
	.shift = 21,
	.mult = 0x1800000,
	.zero = 0xfffffb4c4b94ff9c,
	.cycles = 0x644f0ec5c7,
	.mask = UINT64_MAX >> 7,
	.has_short = true,
};
static const uint64_t first_ticks = 0x6450000000;

static const uint64_t data_start = 0xffff40000000;

/* Their order; those that nothing is recorded of are left out at the end. */
enum { CYCLES_EVENT = 2, MEMORY_EVENT };

/* Everything while a capture is made. */
struct maker {
	const struct make_options *options;
	struct writer *writer;
	struct code_places code;
	uint64_t *ids;	    /* of all events, by event and CPU */
	uint64_t length;    /* of the longest trace, in records */
	struct text *pools; /* by CPU */
	uint64_t *aux_offsets;
	struct text chunk;
	struct spe_random random; /* for samples */
	size_t memory_event;	  /* number of the event with memory samples */
};

struct thread {
	uint32_t pid, tid;
};

static struct thread thread_number(uint64_t n)
{
	uint32_t pid = FIRST_PID + PID_STEP * (uint32_t)(n / THREADS_EACH);

	return (struct thread){ pid, pid + (uint32_t)(n % THREADS_EACH) };
}

/* How many of `n` things CPU `cpu` gets. */
static uint64_t share(const struct maker *m, uint64_t n, uint64_t cpu)
{
	return n / m->options->n_cpus + (cpu < n % m->options->n_cpus);
}

/* Records in the pool of a CPU: whole slices. */
static uint64_t pool_records(const struct maker *m)
{
	uint64_t wanted = POOL_RECORDS / m->options->n_cpus;

	if (wanted > m->length)
		wanted = m->length;
	return (wanted / SLICE_RECORDS + 1) * SLICE_RECORDS;
}

/* Who runs on a CPU when the record with this number is taken. Threads move now and then. */
static struct thread running(const struct maker *m, uint64_t cpu, uint64_t record)
{
	uint64_t slice = record % pool_records(m) / SLICE_RECORDS;

	return thread_number((slice * m->options->n_cpus + cpu + slice / 7) % N_THREADS);
}

static uint64_t time_of(uint64_t record)
{
	return time_from_ticks(&clock_of_the_machine, first_ticks + record * GAP_TICKS);
}

static struct sample_id moment(struct thread thread, uint64_t first_id, uint64_t cpu,
			       uint64_t time_ns)
{
	return (struct sample_id){
		.has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU,
		.pid = thread.pid,
		.tid = thread.tid,
		.cpu = (uint32_t)cpu,
		.time_ns = time_ns,
		.id = first_id + cpu,
	};
}

/* The generator draws from a flat space of code: put user addresses to where the code is. */
static void place_record(const struct code_places *code, struct spe_record *r)
{
	if (r->pc_level == 0)
		r->pc = code_places_address(code, r->pc % code->size);
	if ((r->has & HAS_TARGET) != 0 && r->target_level == 0)
		r->target = code_places_address(code, r->target % code->size);
}

static void fill_pool(struct maker *m, uint64_t cpu)
{
	const struct make_options *o = m->options;
	struct spe_generate_options generate = spe_generate_defaults;
	struct spe_generator generator;
	struct spe_record record;

	generate.seed = o->seed * MAKE_CPUS_MAX + cpu;
	generate.user_text = (struct spe_region){ 0, m->code.size };
	generate.user_data = (struct spe_region){ data_start, o->data_bytes };
	generate.with_sharing = o->sharing;
	generate.kernel_permille = 10 * (unsigned)o->kernel_percent;
	generate.with_context = !o->no_context;
	generate.with_newer_ops = !o->only_perf61;
	generate.n_contexts = 1;
	spe_generator_init(&generator, &generate);
	for (uint64_t i = 0; i < pool_records(m); i++) {
		uint8_t *out = (uint8_t *)text_room(&m->pools[cpu], SPE_RECORD_MAX);
		size_t size;

		generator.options.first_context = running(m, cpu, i).tid;
		spe_generator_next(&generator, &record);
		place_record(&m->code, &record);
		record.ticks = first_ticks + i * GAP_TICKS +
			       spe_random_below(&generator.random, GAP_TICKS);
		size = spe_encode(&record, &spe_layout_n1, out);
		assert(size == MAKE_RECORD_BYTES);
		m->pools[cpu].n += size;
	}
}

/* Copies records out of the pool, with the times of this turn of it. */
static void compose_chunk(struct maker *m, uint64_t cpu, uint64_t from, uint64_t to)
{
	uint64_t n_pool = pool_records(m);

	text_reset(&m->chunk);
	while (from < to) {
		uint64_t in_pool = from % n_pool;
		uint64_t n = to - from < n_pool - in_pool ? to - from : n_pool - in_pool;
		uint64_t later = (from - in_pool) * GAP_TICKS;
		uint8_t *at = (uint8_t *)text_room(&m->chunk, n * MAKE_RECORD_BYTES);

		memcpy(at, m->pools[cpu].bytes + in_pool * MAKE_RECORD_BYTES,
		       n * MAKE_RECORD_BYTES);
		for (uint64_t i = 0; i < n; i++) {
			uint8_t *ticks = at + (i + 1) * MAKE_RECORD_BYTES - sizeof(uint64_t);

			store_u64(ticks, load_u64(ticks) + later);
		}
		m->chunk.n += n * MAKE_RECORD_BYTES;
		from += n;
	}
}

/* The thread of the slice that begins with this record takes over from the one before. */
static void write_switch(struct maker *m, uint64_t cpu, uint64_t record)
{
	struct thread next = running(m, cpu, record);
	struct thread last = record > 0 ? running(m, cpu, record - 1) : (struct thread){ 0, 0 };
	struct record_switch out = {
		.is_out = true, .has_other = true, .other_pid = next.pid, .other_tid = next.tid
	};
	struct record_switch in = { .has_other = true,
				    .other_pid = last.pid,
				    .other_tid = last.tid };
	struct sample_id id = moment(last, DUMMY_ID, cpu, time_of(record));

	writer_switch(m->writer, &out, &id);
	id = moment(next, DUMMY_ID, cpu, time_of(record));
	writer_switch(m->writer, &in, &id);
}

static void write_trace(struct maker *m, uint64_t cpu, uint64_t from, uint64_t to)
{
	struct sample_id id = moment(running(m, cpu, to - 1), SPE_ID, cpu, time_of(to));
	struct record_auxtrace header = { .idx = (uint32_t)cpu,
					  .tid = UINT32_MAX,
					  .cpu = (uint32_t)cpu };

	compose_chunk(m, cpu, from, to);
	header.size = m->chunk.n;
	header.offset = m->aux_offsets[cpu];
	m->aux_offsets[cpu] += m->chunk.n;
	writer_aux(m->writer, &(struct record_aux){ header.offset, header.size, 0 }, &id);
	writer_auxtrace(m->writer, &header, m->chunk.bytes);
}

static uint64_t random_code(struct maker *m)
{
	uint64_t flat = spe_random_below(&m->random, m->code.size);

	/* Twice by lot: the start of the space is hot. */
	return code_places_address(&m->code, spe_random_below(&m->random, flat + 1) & ~3ull);
}

/* Entries as an LBR writes them, each predicted or not, with cycles; returns how many. */
static uint64_t random_branches(struct maker *m, uint64_t out[3 * MAX_BRANCHES])
{
	enum { MISPREDICTED = 1, PREDICTED = 2, CYCLES = 4 };
	uint64_t n = spe_random_below(&m->random, RANDOM_BRANCHES + 1);

	if (m->options->branch_entries > 0)
		n = m->options->branch_entries < MAX_BRANCHES ? m->options->branch_entries
							      : MAX_BRANCHES;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t cycles = spe_random_below(&m->random, 200);
		bool is_missed = spe_random_chance(&m->random, 100);
		uint64_t flags = cycles << CYCLES | (is_missed ? MISPREDICTED : PREDICTED);
		uint64_t from = random_code(m), to = random_code(m);

		store_u64((uint8_t *)&out[3 * i], from);
		store_u64((uint8_t *)&out[3 * i + 1], to);
		store_u64((uint8_t *)&out[3 * i + 2], flags);
	}
	return n;
}

static void write_sample(struct maker *m, uint64_t cpu, uint64_t record)
{
	struct thread thread = running(m, cpu, record);
	uint64_t n_frames = 1 + spe_random_below(&m->random, MAX_FRAMES);
	uint64_t chain[1 + MAX_FRAMES] = { (uint64_t)-512 }, branches[3 * MAX_BRANCHES];
	struct sample s = { .id = CYCLES_ID + cpu,
			    .pid = thread.pid,
			    .tid = thread.tid,
			    .cpu = (uint32_t)cpu,
			    .time_ns = time_of(record),
			    .period = 90000 + spe_random_below(&m->random, 20000) };

	for (uint64_t i = 1; i <= n_frames; i++)
		chain[i] = random_code(m);
	s.ip = chain[1];
	for (uint64_t i = 0; i <= n_frames; i++)
		store_u64((uint8_t *)&chain[i], chain[i]);
	s.callchain = (struct sample_words){ (const uint8_t *)chain, 1 + n_frames };
	if (m->options->branches)
		s.branches = (struct sample_words){ (const uint8_t *)branches,
						    random_branches(m, branches) };
	writer_sample(m->writer, 2, 2, &s);
}

/* Any of the bits of `wanted`, or one of them alone. */
static uint64_t random_bits(struct spe_random *r, uint64_t wanted)
{
	uint64_t bits = spe_random_next(r) & wanted;

	if (spe_random_chance(r, 500))
		return bits;
	while ((bits & (bits - 1)) != 0)
		bits &= bits - 1;
	return bits;
}

/*
 * A load or a store with any data source that its format allows (union perf_mem_data_src), but
 * of one level. A few are neither.
 */
static uint64_t random_data_src(struct spe_random *r)
{
	enum { LEVEL = 5, N_OUTCOMES = 3, N_LEVELS = 11 }; /* NA, hit, miss; from L1 on */
	static const uint64_t fields[] = {
		0x1full << 19, 0x3ull << 24, 0x7full << 26, 1ull << 37,
		0x3ull << 38,  0x7ull << 40, 0x7ull << 43,
	};
	uint64_t v = spe_random_chance(r, 600) ? 2 : 4;

	if (spe_random_chance(r, 20))
		return spe_random_chance(r, 500) ? 1 : 8;
	v |= (spe_random_next(r) & ((1 << N_OUTCOMES) - 1)) << LEVEL;
	v |= (uint64_t)1 << (LEVEL + N_OUTCOMES + spe_random_below(r, N_LEVELS));
	for (size_t i = 0; i < COUNT(fields); i++)
		if (spe_random_chance(r, i == 0 ? 900 : 300))
			v |= random_bits(r, fields[i]);
	return v;
}

static void write_memory_sample(struct maker *m, uint64_t cpu, uint64_t record)
{
	struct thread thread = running(m, cpu, record);
	struct spe_random *r = &m->random;
	uint64_t hot = 1 + spe_random_below(r, m->options->data_bytes);
	struct sample s = { .id = MEMORY_ID + cpu,
			    .pid = thread.pid,
			    .tid = thread.tid,
			    .cpu = (uint32_t)cpu,
			    .time_ns = time_of(record),
			    .period = 1000 };

	s.ip = random_code(m);
	s.addr = spe_random_chance(r, 20) ? 0 : data_start + spe_random_below(r, hot);
	s.phys_addr = spe_random_chance(r, 20) ? 0 : 0x80000000 + (s.addr & 0xfffffffff);
	s.data_src = random_data_src(r);
	s.weight = spe_random_below(r, 1000);
	writer_sample(m->writer, m->memory_event, 2, &s);
}

/* What happens on a CPU between two records of its trace. */
static void write_span(struct maker *m, uint64_t cpu, uint64_t from, uint64_t to)
{
	uint64_t n_samples = share(m, m->options->n_samples, cpu);
	uint64_t first = from * n_samples / m->length, last = to * n_samples / m->length;
	uint64_t n_records = share(m, m->options->n_records, cpu);
	uint64_t n_memory = share(m, m->options->n_memory, cpu);

	for (uint64_t i = (from + SLICE_RECORDS - 1) / SLICE_RECORDS * SLICE_RECORDS; i < to;
	     i += SLICE_RECORDS)
		write_switch(m, cpu, i);
	for (uint64_t i = first; i < last; i++)
		write_sample(m, cpu, i * m->length / n_samples);
	for (uint64_t i = from * n_memory / m->length; i < to * n_memory / m->length; i++)
		write_memory_sample(m, cpu, i * m->length / n_memory);
	if (from < n_records)
		write_trace(m, cpu, from, to < n_records ? to : n_records);
}

static void write_program(struct maker *m, uint32_t pid, const struct sample_id *id)
{
	struct record_mmap map = { .pid = pid,
				   .tid = pid,
				   .major = 8,
				   .minor = 1,
				   .inode = 7777,
				   .protection = 5,
				   .flags = 2,
				   .path = m->options->binary != NULL ? m->options->binary
								      : "/opt/made-up/program" };
	const struct record_mmap data = { .pid = pid,
					  .tid = pid,
					  .start = data_start,
					  .length =
						  (m->options->data_bytes + PAGE - 1) / PAGE * PAGE,
					  .protection = 3,
					  .flags = 0x22,
					  .is_data = true,
					  .path = "//anon" };

	for (size_t i = 0; i < m->code.mappings.n; i++) {
		map.start = m->code.mappings.items[i].address;
		map.length = m->code.mappings.items[i].size;
		map.page_offset = m->code.mappings.items[i].offset;
		writer_mmap2(m->writer, &map, 2, id);
	}
	writer_mmap2(m->writer, &data, 2, id);
}

static void write_kernel(struct maker *m)
{
	const struct spe_region text = spe_generate_defaults.kernel_text;
	const struct record_mmap map = { .pid = UINT32_MAX,
					 .start = text.start,
					 .length = text.size,
					 .page_offset = text.start,
					 .protection = 5,
					 .path = "[kernel.kallsyms]_text" };

	writer_mmap2(m->writer, &map, 1, NULL);
}

/* Process by process: it begins, maps its program, starts its threads. */
static void write_processes(struct maker *m)
{
	static const char *const names[N_PROCESSES] = { "server", "client", "logger" };

	for (uint64_t n = 0; n < N_THREADS; n++) {
		struct thread t = thread_number(n), main_thread = { t.pid, t.pid };
		struct sample_id id = moment(main_thread, DUMMY_ID, 0, time_of(0) - 1000 + n);
		struct record_task task = { t.pid, t.pid, t.tid, t.pid, id.time_ns };
		struct record_comm comm = { t.pid, t.tid, t.tid == t.pid, names[n / THREADS_EACH] };

		if (t.tid == t.pid) {
			task.ppid = n == 0 ? 1 : FIRST_PID;
			task.ptid = task.ppid;
		}
		writer_task(m->writer, RECORD_FORK, &task, &id);
		if (t.tid != t.pid)
			continue;
		writer_comm(m->writer, &comm, &id);
		write_program(m, t.pid, &id);
	}
	for (uint64_t cpu = 0; cpu < m->options->n_cpus; cpu++) {
		struct thread t = running(m, cpu, 0);
		struct sample_id id = moment(t, SPE_ID, cpu, time_of(0) - 100);

		writer_itrace_start(m->writer, t.pid, t.tid, &id);
	}
}

static void write_exits(struct maker *m)
{
	for (uint64_t n = N_THREADS; n-- > 0;) {
		struct thread t = thread_number(n);
		struct sample_id id =
			moment(t, DUMMY_ID, 0, time_of(m->length) + 1000 + N_THREADS - n);
		struct record_task task = { t.pid, t.pid, t.tid, t.pid, id.time_ns };

		writer_task(m->writer, RECORD_EXIT, &task, &id);
	}
}

/* AUXTRACE_INFO: version 1, or what perf has written since 6.14 and 6.1 does not know. */
static void write_spe_info(struct maker *m)
{
	struct writer_spe_cpu *cpus = mem_zalloc(m->options->n_cpus, sizeof(*cpus));

	for (uint32_t cpu = 0; cpu < m->options->n_cpus; cpu++) {
		cpus[cpu] =
			(struct writer_spe_cpu){ cpu, 0x413fd0c1, MAKE_SPE_TYPE, 1024, 0xff00feaa };
		if (m->options->two_pmus && cpu % 2 == 1) {
			cpus[cpu].midr = 0x411fd410; /* Cortex-A78 */
			cpus[cpu].pmu_type++;
			cpus[cpu].min_interval = 4096;
		}
	}
	if (m->options->info_v2)
		writer_spe_info_v2(m->writer, MAKE_SPE_TYPE, cpus, m->options->n_cpus);
	else
		writer_spe_info_v1(m->writer, MAKE_SPE_TYPE, true);
	free(cpus);
}

#define BIT(n) ((uint64_t)1 << (n))

enum { BRANCH_ANY = 1 << 3 }; /* of branch_sample_type */

/* The first event and its ids are split between even and odd CPUs; returns the number of events. */
static size_t add_second_pmu(struct writer_event *events, size_t n_events, uint64_t n_cpus)
{
	uint64_t *ids = (uint64_t *)(uintptr_t)events[0].ids;

	events[n_events] = events[0];
	events[n_events].attr.type++;
	events[n_events].name = "arm_spe_1/ts_enable=1,pa_enable=1,jitter=1/";
	for (uint64_t cpu = 0; cpu < n_cpus; cpu++)
		ids[cpu % 2 * ((n_cpus + 1) / 2) + cpu / 2] = SPE_ID + cpu;
	events[0].n_ids = (n_cpus + 1) / 2;
	events[n_events].ids = ids + events[0].n_ids;
	events[n_events].n_ids = n_cpus / 2;
	return n_events + 1;
}

static int open_writer(struct maker *m, struct err *err)
{
	const uint64_t common = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
				BIT(SAMPLE_CPU) | BIT(SAMPLE_IDENTIFIER);
	uint64_t n = m->options->n_cpus;
	struct writer_event events[] = {
		{ .attr = { .type = MAKE_SPE_TYPE,
			    .config = 0x10003,
			    .sample_period = 1024,
			    .sample_type = common | BIT(SAMPLE_ADDR) | BIT(SAMPLE_WEIGHT) |
					   BIT(SAMPLE_DATA_SRC) | BIT(SAMPLE_PHYS_ADDR),
			    .flags = BIT(ATTR_DISABLED) | BIT(ATTR_SAMPLE_ID_ALL) },
		  .name = "arm_spe_0/ts_enable=1,pa_enable=1,jitter=1/" },
		{ .attr = { .type = ATTR_TYPE_SOFTWARE,
			    .config = 9,
			    .sample_period = 1,
			    .sample_type = common,
			    .flags = BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_MMAP) | BIT(ATTR_COMM) |
				     BIT(ATTR_TASK) | BIT(ATTR_MMAP2) | BIT(ATTR_COMM_EXEC) |
				     BIT(ATTR_CONTEXT_SWITCH) | BIT(ATTR_EXCLUDE_KERNEL) |
				     BIT(ATTR_EXCLUDE_HV) },
		  .name = "dummy:u" },
		{ .attr = { .type = ATTR_TYPE_HARDWARE,
			    .sample_period = 100000,
			    .sample_type = common | BIT(SAMPLE_PERIOD) | BIT(SAMPLE_CALLCHAIN),
			    .flags = BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_EXCLUDE_KERNEL) |
				     BIT(ATTR_EXCLUDE_HV) },
		  .name = "cycles:u" },
		{ .attr = { .type = ATTR_TYPE_RAW,
			    .config = 0x1cd,
			    .sample_period = 1000,
			    .sample_type = common | BIT(SAMPLE_PERIOD) | BIT(SAMPLE_ADDR) |
					   BIT(SAMPLE_WEIGHT) | BIT(SAMPLE_DATA_SRC) |
					   BIT(SAMPLE_PHYS_ADDR),
			    .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		  .name = "memory" },
		{ .n_ids = 0 }, /* of the second PMU */
	};
	size_t n_events;

	static const uint64_t first_ids[] = { SPE_ID, DUMMY_ID, CYCLES_ID, MEMORY_ID };

	if (m->options->branches) {
		events[CYCLES_EVENT].attr.sample_type |= BIT(SAMPLE_BRANCH_STACK);
		events[CYCLES_EVENT].attr.branch_sample_type = BRANCH_ANY;
	}
	m->ids = mem_alloc(COUNT(first_ids) * n, sizeof(*m->ids));
	for (size_t i = 0; i < COUNT(first_ids); i++) {
		events[i].ids = m->ids + i * n;
		events[i].n_ids = n;
		for (uint64_t cpu = 0; cpu < n; cpu++)
			m->ids[i * n + cpu] = first_ids[i] + cpu;
	}
	if (m->options->n_samples == 0)
		events[CYCLES_EVENT] = events[MEMORY_EVENT];
	m->memory_event = m->options->n_samples == 0 ? CYCLES_EVENT : MEMORY_EVENT;
	n_events = m->memory_event + (m->options->n_memory > 0);
	if (m->options->two_pmus)
		n_events = add_second_pmu(events, n_events, n);
	return writer_open(m->options->output, events, n_events, &m->writer, err);
}

static void write_capture(struct maker *m)
{
	uint64_t step = m->options->chunk_bytes / MAKE_RECORD_BYTES;

	writer_time_conv(m->writer, &clock_of_the_machine);
	write_spe_info(m);
	if (m->options->kernel_map)
		write_kernel(m);
	write_processes(m);
	writer_finished_init(m->writer);
	for (uint64_t done = 0; done < m->length; done += step) {
		uint64_t to = m->length - done < step ? m->length : done + step;

		for (uint64_t cpu = 0; cpu < m->options->n_cpus; cpu++)
			write_span(m, cpu, done, to);
		writer_finished_round(m->writer);
	}
	write_exits(m);
	writer_finished_round(m->writer);
	writer_sample_time(m->writer, time_of(0), time_of(m->length));
	make_machine(m->writer, m->options->n_cpus);
}

/* The code of the binary, or of a program that only exists in the capture. */
static int read_code(struct maker *m, struct err *err)
{
	const uint64_t address = 0xaaaac0000000, size = 1 << 20;

	if (m->options->binary != NULL)
		return code_places_read(&m->code, m->options->binary, m->options->only_functions,
					err);
	*vec_add(&m->code.ranges) = (struct code_range){ 0, address, size };
	*vec_add(&m->code.mappings) = (struct code_mapping){ address, size, 0 };
	m->code.size = size;
	return 0;
}

static void prepare(struct maker *m)
{
	uint64_t n_cpus = m->options->n_cpus;

	m->length = share(m, m->options->n_records, 0);
	if (m->length == 0)
		m->length = share(m, m->options->n_samples, 0);
	if (m->length == 0)
		m->length = share(m, m->options->n_memory, 0);
	m->random.state = m->options->seed;
	m->aux_offsets = mem_zalloc(n_cpus, sizeof(*m->aux_offsets));
	m->pools = mem_zalloc(n_cpus, sizeof(*m->pools));
	for (uint64_t cpu = 0; cpu < n_cpus && m->options->n_records > 0; cpu++)
		fill_pool(m, cpu);
}

static void release(struct maker *m)
{
	for (uint64_t cpu = 0; m->pools != NULL && cpu < m->options->n_cpus; cpu++)
		text_release(&m->pools[cpu]);
	free(m->pools);
	free(m->aux_offsets);
	free(m->ids);
	text_release(&m->chunk);
	code_places_release(&m->code);
}

int make_capture(const struct make_options *options, struct err *err)
{
	struct maker m = { .options = options };
	int rc = -1;

	if (read_code(&m, err) < 0 || open_writer(&m, err) < 0)
		goto out;
	prepare(&m);
	write_capture(&m);
	rc = writer_close(m.writer, err);
out:
	release(&m);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a small capture with all that the writer can write, each value chosen so that it can
 * be recognised: write-capture FILE BINARY, where BINARY is what the processes run (perf c2c
 * wants it to exist). What perf makes of it is checked by writer_perf.py.
 *
 * Two threads of a process on two CPUs; the SPE records are laid out by hand here, so that
 * nothing but the writer is on trial.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "capture/format/sample.h"
#include "capture/writer/emit.h"
#include "capture/writer/writer.h"

enum {
	PID = 4100,
	N_CPUS = 2,
	N_RECORDS = 150, /* SPE records for each CPU */
	N_SAMPLES = 20,	 /* of each PMU event */
	SPE_TYPE = 10,
};

static const uint64_t code = 0x400000, data = 0x7f0000000000, start_ns = 1000000000;

static const uint64_t spe_ids[] = { 101, 102 }, dummy_ids[] = { 201, 202 };
static const uint64_t cycles_ids[] = { 301, 302 }, miss_ids[] = { 401, 402 };

#define BIT(n) ((uint64_t)1 << (n))

enum {
	COMMON_SAMPLE = 1 << SAMPLE_IP | 1 << SAMPLE_TID | 1 << SAMPLE_TIME | 1 << SAMPLE_CPU |
			1 << SAMPLE_IDENTIFIER
};

static const struct writer_event events[] = {
	{
		.attr = {
			.type = SPE_TYPE,
			.config = 0x700010003,
			.sample_period = 1024,
			.sample_type = COMMON_SAMPLE | BIT(SAMPLE_ADDR) | BIT(SAMPLE_DATA_SRC) |
				       BIT(SAMPLE_WEIGHT) | BIT(SAMPLE_PHYS_ADDR),
			.flags = BIT(ATTR_DISABLED) | BIT(ATTR_SAMPLE_ID_ALL),
		},
		.ids = spe_ids, .n_ids = COUNT(spe_ids), .name = "arm_spe_0/ts_enable=1/",
	},
	{
		.attr = {
			.type = ATTR_TYPE_SOFTWARE,
			.config = 9,
			.sample_period = 1,
			.sample_type = COMMON_SAMPLE,
			.flags = BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_MMAP) | BIT(ATTR_COMM) |
				 BIT(ATTR_TASK) | BIT(ATTR_MMAP2) | BIT(ATTR_COMM_EXEC) |
				 BIT(ATTR_EXCLUDE_KERNEL) | BIT(ATTR_EXCLUDE_HV) |
				 BIT(ATTR_CONTEXT_SWITCH),
		},
		.ids = dummy_ids, .n_ids = COUNT(dummy_ids), .name = "dummy:u",
	},
	{
		.attr = {
			.type = ATTR_TYPE_HARDWARE,
			.sample_period = 4000,
			.sample_type = COMMON_SAMPLE | BIT(SAMPLE_PERIOD) | BIT(SAMPLE_CALLCHAIN),
			.flags = BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_FREQ),
		},
		.ids = cycles_ids, .n_ids = COUNT(cycles_ids), .name = "cycles:P",
	},
	{
		/* No name: it gets the one perf would make up. */
		.attr = {
			.type = ATTR_TYPE_HW_CACHE,
			.config = 0x10002,
			.sample_period = 100,
			.sample_type = COMMON_SAMPLE | BIT(SAMPLE_ADDR) | BIT(SAMPLE_PERIOD) |
				       BIT(SAMPLE_BRANCH_STACK) | BIT(SAMPLE_WEIGHT_STRUCT) |
				       BIT(SAMPLE_DATA_SRC) | BIT(SAMPLE_PHYS_ADDR),
			.branch_sample_type = BIT(17) | BIT(3), /* with index; any branch */
			.flags = BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_EXCLUDE_KERNEL) |
				 BIT(ATTR_EXCLUDE_HV) | BIT(ATTR_PRECISE_IP),
		},
		.ids = miss_ids, .n_ids = COUNT(miss_ids),
	},
};

/* A moment on a CPU, for the trailers: event 1 speaks of processes, event 0 of AUX data. */
static struct sample_id moment(uint64_t id, uint32_t cpu, uint64_t time_ns)
{
	return (struct sample_id){
		.has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU,
		.pid = PID,
		.tid = PID + cpu,
		.cpu = cpu,
		.time_ns = time_ns,
		.id = id,
	};
}

static void write_processes(struct writer *w, const char *binary)
{
	struct sample_id id = moment(dummy_ids[0], 0, start_ns);
	struct record_task thread = {
		.pid = PID, .ppid = PID, .tid = PID + 1, .ptid = PID, .time_ns = start_ns + 500
	};
	struct record_mmap maps[] = {
		{ .start = code,
		  .length = 0x10000,
		  .page_offset = 0x1000,
		  .major = 8,
		  .minor = 1,
		  .inode = 77,
		  .protection = 5,
		  .flags = 2,
		  .path = binary },
		{ .start = data,
		  .length = 0x100000,
		  .protection = 3,
		  .flags = 0x22,
		  .is_data = true,
		  .path = "//anon" },
		{ .start = 0x500000,
		  .length = 0x8000,
		  .protection = 5,
		  .flags = 2,
		  .build_id = { .size = 4, .bytes = { 0xde, 0xad, 0xbe, 0xef } },
		  .path = "/opt/app/library.so" },
	};

	writer_comm(
		w,
		&(struct record_comm){ .pid = PID, .tid = PID, .is_exec = true, .comm = "worker" },
		&id);
	for (size_t i = 0; i < COUNT(maps); i++) {
		maps[i].pid = PID;
		maps[i].tid = PID;
		writer_mmap2(w, &maps[i], 2 | (maps[i].build_id.size > 0 ? MISC_MMAP_BUILD_ID : 0),
			     &id);
	}
	writer_task(w, RECORD_FORK, &thread, &id);
	id = moment(dummy_ids[1], 1, start_ns + 600);
	writer_comm(w, &(struct record_comm){ .pid = PID, .tid = PID + 1, .comm = "helper" }, &id);
}

/* Packets: docs/reference/spe-packets.md. 64 bytes: PC, context, operation, events, … */
static void emit_spe_record(struct text *out, uint32_t cpu, unsigned i)
{
	bool is_store = cpu == 1;
	size_t begin = out->n;

	emit_bytes(out, "\xb0", 1);
	emit_u64(out, (code + 0x100 + 4 * i) | BIT(63));
	emit_bytes(out, "\x65", 1);
	emit_u32(out, PID + cpu);
	emit_bytes(out, is_store ? "\x49\x01" : "\x49\x00", 2);
	emit_bytes(out, "\x52\x16\x00", 3); /* retired, L1D access, TLB access */
	emit_bytes(out, "\x99\x05\x00", 3);
	emit_bytes(out, "\x98", 1);
	emit_u16(out, (uint16_t)(100 + i));
	emit_bytes(out, "\xb2", 1);
	emit_u64(out, data + 64 * (uint64_t)(i % 3) + 8 * cpu);
	emit_bytes(out, "\x9a\x02\x00", 3);
	emit_bytes(out, "\xb3", 1);
	emit_u64(out, (0x80000000 + 64 * (uint64_t)(i % 3) + 8 * cpu) | BIT(63));
	emit_bytes(out, is_store ? "\x00\x00" : "\x43\x09", 2); /* from a core nearby */
	emit_zeros(out, 55 - (out->n - begin));
	emit_bytes(out, "\x71", 1);
	emit_u64(out, start_ns + 10000 + 100 * (uint64_t)i);
}

static void write_spe(struct writer *w, uint32_t cpu)
{
	struct text bytes = { 0 };
	struct sample_id id = moment(spe_ids[cpu], cpu, start_ns + 1000);
	struct record_auxtrace header = { .idx = cpu, .tid = UINT32_MAX, .cpu = cpu };

	for (unsigned i = 0; i < N_RECORDS; i++)
		emit_spe_record(&bytes, cpu, i);
	header.size = bytes.n;
	writer_itrace_start(w, PID, PID + cpu, &id);
	id.time_ns = start_ns + 100000;
	writer_aux(w,
		   &(struct record_aux){ .size = bytes.n, .flags = cpu == 1 ? AUX_COLLISION : 0 },
		   &id);
	/* The last 100 bytes have been at the start of the ring. */
	writer_auxtrace_pieces(w, &header, bytes.bytes, bytes.n - 100, bytes.bytes + bytes.n - 100);
	text_release(&bytes);
}

static void write_samples(struct writer *w, uint32_t cpu)
{
	const uint64_t chain[] = { (uint64_t)-512, code + 0x200, code + 0x300, code + 0x400 };
	const uint64_t branches[] = { code + 0x44, code + 0x80, 2 | 9 << 4,
				      code + 0x20, code + 0x40, 1 | 7 << 4 };

	for (unsigned i = 0; i < N_SAMPLES; i++) {
		struct sample s = {
			.ip = code + 0x200,
			.pid = PID,
			.tid = PID + cpu,
			.cpu = cpu,
			.time_ns = start_ns + 20000 + 1000 * i + cpu,
			.id = cycles_ids[cpu],
			.period = 5000 + i,
			.callchain = { (const uint8_t *)chain, COUNT(chain) },
			.addr = data + 0x1000 + 8 * i,
			.weight = 300 + i,
			.weight2 = 7,
			/* load, DRAM, no snoop, TLB walked */
			.data_src = 2 | 0x82 << 5 | 2 << 19 | BIT(27) | BIT(31) | BIT(33) |
				    BIT(35) | BIT(36),
			.phys_addr = 0x90000000 + i,
			.branches = { (const uint8_t *)branches, COUNT(branches) / 3 },
			.branch_hw_index = UINT64_MAX,
		};

		writer_sample(w, 2, 2, &s);
		s.time_ns += 10;
		s.id = miss_ids[cpu];
		s.period = 100;
		writer_sample(w, 3, 2 | MISC_EXACT_IP, &s);
	}
}

static void write_switches(struct writer *w)
{
	struct sample_id id = moment(dummy_ids[1], 1, start_ns + 50000);
	struct record_switch out = { .is_out = true, .is_preempted = true, .has_other = true };
	struct record_switch in = { .has_other = true };

	writer_switch(w, &out, &id);
	id.time_ns += 1000;
	writer_switch(w, &in, &id);
	id.time_ns += 1000;
	writer_lost(w, &(struct record_lost){ .id = cycles_ids[0], .n = 3 }, &id);
	id.time_ns += 1000;
	writer_ksymbol(w,
		       &(struct record_ksymbol){ .address = 0xffff800000100000,
						 .length = 64,
						 .type = 1,
						 .name = "bpf_prog_1" },
		       &id);
}

static void write_exits(struct writer *w)
{
	for (uint32_t cpu = N_CPUS; cpu-- > 0;) {
		uint64_t time_ns = start_ns + 200000 + 100 * (N_CPUS - cpu);
		struct sample_id id = moment(dummy_ids[cpu], cpu, time_ns);
		struct record_task task = {
			.pid = PID, .ppid = PID, .tid = PID + cpu, .ptid = PID, .time_ns = time_ns
		};

		writer_task(w, RECORD_EXIT, &task, &id);
	}
}

static void write_machine(struct writer *w)
{
	static const char *const arguments[] = { "perf", "record", "two words", "./main" };
	static const char *const all[] = { "0-2" }, *const each[] = { "0", "1", "2" };
	static const struct cpu_place places[] = { { 4, 1, 0 }, { 5, 1, 2 }, { 6, 2, 0 } };
	const struct writer_cpu_topology topology = {
		.core_siblings = all,
		.n_core_siblings = COUNT(all),
		.thread_siblings = each,
		.n_thread_siblings = COUNT(each),
		.die_siblings = all,
		.n_die_siblings = COUNT(all),
		.places = places,
		.n_places = COUNT(places),
	};
	const struct writer_numa_node nodes[] = { { 0, 1048576, 524288, "0-1" } };
	const uint64_t blocks[] = { UINT64_MAX, 0xff };
	const struct writer_memory_node memory[] = { { 0, blocks, 72 } };
	const struct writer_pmu pmus[] = { { 1, "software" }, { SPE_TYPE, "arm_spe_0" } };
	const struct writer_cache caches[] = { { 1, 64, 256, 4, "Data", "64K", "0" },
					       { 2, 64, 2048, 8, "Unified", "1024K", "0" } };
	const struct build_id id = { .size = 20, .bytes = { 0x12, 0x34, [19] = 0xff } };

	writer_feature_string(w, FEATURE_HOSTNAME, "pluto");
	writer_feature_string(w, FEATURE_OSRELEASE, "6.1.0-test");
	writer_feature_string(w, FEATURE_VERSION, "0.1");
	writer_feature_string(w, FEATURE_ARCH, "aarch64");
	writer_feature_string(w, FEATURE_CPUDESC, "Test CPU");
	writer_feature_string(w, FEATURE_CPUID, "0x00000000413fd0c1");
	writer_feature_u64(w, FEATURE_TOTAL_MEM, 2097152);
	writer_feature_u64(w, FEATURE_CLOCKID, 5);
	writer_clock_data(w, 1, 1234567890, 1600000000000000000);
	writer_n_cpus(w, COUNT(places), N_CPUS);
	writer_command_line(w, COUNT(arguments), arguments);
	writer_cpu_topology(w, &topology);
	writer_numa_topology(w, nodes, COUNT(nodes));
	writer_memory_topology(w, 0x40000000, memory, COUNT(memory));
	writer_pmus(w, pmus, COUNT(pmus));
	writer_caches(w, caches, COUNT(caches));
	writer_sample_time(w, start_ns, start_ns + 300000);
	writer_build_id(w, &id, "/opt/app/main", -1, 2);
}

int main(int argc, char **argv)
{
	const struct record_time_conv ticks_are_ns = { .mult = 1,
						       .mask = UINT64_MAX >> 8,
						       .has_short = true };
	struct writer *w = NULL;
	struct err err;

	if (argc != 3) {
		fprintf(stderr, "usage: write-capture FILE BINARY\n");
		return 2;
	}
	if (writer_open(argv[1], events, COUNT(events), &w, &err) < 0)
		goto failed;
	writer_time_conv(w, &ticks_are_ns);
	writer_spe_info_v1(w, SPE_TYPE, true);
	write_processes(w, argv[2]);
	writer_finished_init(w);
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
		write_spe(w, cpu);
		write_samples(w, cpu);
	}
	write_switches(w);
	write_exits(w);
	writer_finished_round(w);
	write_machine(w);
	if (writer_close(w, &err) == 0)
		return 0;
failed:
	fprintf(stderr, "write-capture: %s\n", err.text);
	return 1;
}

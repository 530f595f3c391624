/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a capture of SPE records that say exactly what standard input says:
 *
 *	write-accesses OUTPUT PROGRAM [ARCH [MAPPING...]]
 *
 * ARCH is that of the machine (aarch64). PROGRAM (a path as recorded) is mapped at 0x400000, unless
 * mappings are given: START:LENGTH:OFFSET:PROTECTION, in order; anonymous memory is at 0x10000000
 * and above. A line is a record, those of a cpu in order of time, cpu by cpu; numbers but cpu, pid
 * and tid are hexadecimal:
 *
 *	CPU PID TID TIME_NS PC ADDRESS OPERATION SOURCE LATENCY [PHYSICAL [EVENTS [ISSUE]]]
 *
 * PHYSICAL 0: there is none. EVENTS are bits to be set besides the usual ones. ISSUE is the part of
 * the latency before issue.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "capture/writer/writer.h"
#include "spe/encode.h"
#include "spe/packet.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { SPE_PMU = 10, N_CPUS = 16, INTERVAL = 1024, KERNEL_MODE = 1, USER_MODE = 2, EXECUTABLE = 4 };

#define KERNEL_START UINT64_C(0xffff800008000000)

static const uint64_t ids[] = { 1 };

/* Everything while a capture is written. */
struct making {
	struct writer *writer;
	struct tuples threads, processes;
	VEC_OF(struct record_mmap) maps; /* of each process */
	struct text traces[N_CPUS];
};

static struct writer *open_writer(const char *path, const char *arch)
{
	const struct writer_event event = {
		.name = "arm_spe_0/ts_enable=1/",
		.attr = { .type = SPE_PMU,
			  .sample_period = INTERVAL,
			  .sample_type = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
					 BIT(SAMPLE_CPU) | BIT(SAMPLE_IDENTIFIER),
			  .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		.ids = ids,
		.n_ids = COUNT(ids),
	};
	struct writer *w = NULL;
	struct err err;

	if (writer_open(path, &event, 1, &w, &err) < 0) {
		fprintf(stderr, "write-accesses: %s\n", err.text);
		exit(1);
	}
	writer_feature_string(w, FEATURE_ARCH, arch);
	writer_feature_string(w, FEATURE_CPUID, "0x00000000410fd0c1");
	writer_time_conv(w, &(struct record_time_conv){ .mult = 1 });
	writer_spe_info_v1(w, SPE_PMU, true);
	return w;
}

/* Its code, from _text on; recorders know nothing of its data. */
static void write_kernel(struct writer *w)
{
	const struct record_mmap map = { .pid = UINT32_MAX,
					 .start = KERNEL_START,
					 .length = 0x1000000,
					 .page_offset = KERNEL_START,
					 .protection = 5,
					 .path = "[kernel.kallsyms]_text" };

	writer_mmap2(w, &map, KERNEL_MODE, NULL);
}

static void write_maps(struct making *m, uint32_t pid)
{
	for (size_t i = 0; i < m->maps.n; i++) {
		struct record_mmap map = m->maps.items[i];

		map.pid = pid;
		map.tid = pid;
		writer_mmap2(m->writer, &map, USER_MODE, NULL);
	}
}

static void introduce(struct making *m, uint32_t pid, uint32_t tid)
{
	struct record_task fork = { .pid = pid, .ppid = pid, .tid = tid, .ptid = pid };
	struct record_comm name = { .pid = pid, .tid = pid, .is_exec = true, .comm = "accesses" };
	uint32_t n = m->processes.n;

	if (tuples_add(&m->processes, &(uint64_t){ pid }) == n) {
		writer_comm(m->writer, &name, NULL);
		write_maps(m, pid);
	}
	n = m->threads.n;
	if (tid != pid && tuples_add(&m->threads, &(uint64_t){ tid }) == n)
		writer_task(m->writer, RECORD_FORK, &fork, NULL);
}

static void add_record(struct making *m, uint32_t cpu, const struct spe_record *r)
{
	uint8_t *out = (uint8_t *)text_room(&m->traces[cpu], SPE_RECORD_MAX);

	m->traces[cpu].n += spe_encode(r, &spe_layout_n1, out);
}

static void read_records(struct making *m)
{
	uint32_t cpu, pid, tid;
	uint64_t pc, va, pa = 0, events = 0, time_ns;
	unsigned op, source, latency, issue;
	char line[256];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		int n = sscanf(line,
			       "%" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNx64 " %" SCNx64
			       " %" SCNx64 " %x %x %x %" SCNx64 " %" SCNx64 " %x",
			       &cpu, &pid, &tid, &time_ns, &pc, &va, &op, &source, &latency, &pa,
			       &events, &issue);
		struct spe_record r = {
			.has = HAS_PC | HAS_CONTEXT | HAS_OP | HAS_EVENTS | HAS_TOTAL | HAS_TICKS |
			       HAS_VA | (op & 1 ? 0u : HAS_SOURCE) |
			       (n > 9 && pa != 0 ? HAS_PA : 0u) | (n > 11 ? HAS_ISSUE : 0u),
			.pa = n > 9 ? pa : 0,
			.pc = pc,
			.va = va,
			.context = tid,
			.context_level = 1,
			.op_class = SPE_OP_LDST,
			.op = (uint8_t)op,
			.events = BIT(SPE_EV_RETIRED) | BIT(SPE_EV_L1D_ACCESS) |
				  (n > 10 ? events : 0),
			.source = (uint16_t)source,
			.total = (uint16_t)latency,
			.issue = (uint16_t)(n > 11 ? issue : 0),
			.ticks = time_ns,
		};

		if (n < 9) {
			fprintf(stderr, "write-accesses: not an access: %s", line);
			exit(1);
		}
		introduce(m, pid, tid);
		add_record(m, cpu % N_CPUS, &r);
	}
}

static int write_traces(struct making *m)
{
	struct err err;

	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
		struct record_auxtrace header = {
			.idx = cpu, .cpu = cpu, .tid = UINT32_MAX, .size = m->traces[cpu].n
		};

		if (header.size > 0)
			writer_auxtrace(m->writer, &header, m->traces[cpu].bytes);
		text_release(&m->traces[cpu]);
	}
	if (writer_close(m->writer, &err) == 0)
		return 0;
	fprintf(stderr, "write-accesses: %s\n", err.text);
	return 1;
}

/* Memory without a file, and what is mapped of the program. */
static bool read_maps(struct making *m, const char *program, char **words, int n)
{
	*vec_add(&m->maps) = (struct record_mmap){ .start = 0x10000000,
						   .length = 0x1000000,
						   .protection = 3,
						   .flags = 0x22,
						   .is_data = true,
						   .path = "//anon" };
	if (n == 0)
		*vec_add(&m->maps) = (struct record_mmap){
			.start = 0x400000, .length = 0x10000, .protection = 5, .path = program
		};
	for (int i = 0; i < n; i++) {
		struct record_mmap *map = vec_add(&m->maps);

		*map = (struct record_mmap){ .path = program };
		if (sscanf(words[i], "%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%" SCNx32, &map->start,
			   &map->length, &map->page_offset, &map->protection) != 4)
			return false;
		map->is_data = (map->protection & EXECUTABLE) == 0;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct making m = { 0 };
	int status;

	if (argc < 3 || !read_maps(&m, argv[2], argv + 4, argc > 4 ? argc - 4 : 0))
		return 2;
	tuples_init(&m.threads, 1);
	tuples_init(&m.processes, 1);
	m.writer = open_writer(argv[1], argc >= 4 ? argv[3] : "aarch64");
	write_kernel(m.writer);
	read_records(&m);
	status = write_traces(&m);
	tuples_release(&m.threads);
	tuples_release(&m.processes);
	vec_release(&m.maps);
	return status;
}

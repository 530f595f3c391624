/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "capture/writer/writer.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { SPE_PMU = 10, TEXT_BYTES = 0x10000, INTERVAL = 1024, USER_MODE = 2 };

/* Functions that alpha made at run time, as perf-PID.map has them. */
static const char jit_map[] = "700000 100 first\n700100 100 second\n"
			      "700200 100 __memcpy_generic\n";

static const uint64_t sample_type = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
				    BIT(SAMPLE_CPU) | BIT(SAMPLE_PERIOD) | BIT(SAMPLE_CALLCHAIN) |
				    BIT(SAMPLE_IDENTIFIER);
static const uint64_t ids[N_FIXTURE_EVENTS] = { 1, 2, 3, 4 };

static struct writer *open_writer(const char *path, const struct contents *contents)
{
	struct writer_event events[N_FIXTURE_EVENTS] = {
		[EVENT_SPE] = { .name = "arm_spe_0/ts_enable=1/", .attr.type = SPE_PMU },
		[EVENT_CYCLES] = { .name = "cycles" },
		[EVENT_MISSES] = { .name = "cache-misses", .attr.config = 3 },
		[EVENT_CLOCK] = { .name = "cpu-clock", .attr.type = ATTR_TYPE_SOFTWARE },
	};
	struct writer *w = NULL;
	struct err err;

	for (size_t i = 0; i < N_FIXTURE_EVENTS; i++) {
		events[i].ids = &ids[i];
		events[i].n_ids = 1;
		events[i].attr.sample_type = contents->without_chains
						     ? sample_type & ~BIT(SAMPLE_CALLCHAIN)
						     : sample_type;
		events[i].attr.sample_period = INTERVAL;
		events[i].attr.flags = BIT(ATTR_SAMPLE_ID_ALL);
	}
	if (contents->misses != NULL) {
		events[EVENT_MISSES].name = contents->misses->name;
		events[EVENT_MISSES].attr.type = contents->misses->type;
		events[EVENT_MISSES].attr.config = contents->misses->config;
	}
	if (contents->spe_config[3] != 0 || contents->spe_config[4] != 0)
		events[EVENT_SPE].attr.size = ATTR_SIZE_MAX;
	events[EVENT_SPE].attr.config = contents->spe_config[0];
	events[EVENT_SPE].attr.config1 = contents->spe_config[1];
	events[EVENT_SPE].attr.config2 = contents->spe_config[2];
	events[EVENT_SPE].attr.config3 = contents->spe_config[3];
	events[EVENT_SPE].attr.config4 = contents->spe_config[4];
	if (contents->spe_interval > 0)
		events[EVENT_SPE].attr.sample_period = contents->spe_interval;
	events[EVENT_SPE].attr.flags |= contents->spe_flags;
	events[EVENT_CLOCK].attr.sample_type |= BIT(SAMPLE_REGS_INTR);
	events[EVENT_CLOCK].attr.sample_regs_intr = 7;
	assert_int_equal(writer_open(path, events, N_FIXTURE_EVENTS, &w, &err), 0);
	return w;
}

static void write_map(struct writer *w, uint32_t pid, uint64_t start, const char *path)
{
	struct record_mmap map = {
		.pid = pid,
		.tid = pid,
		.start = start,
		.length = TEXT_BYTES,
		.protection = 5,
		.path = path,
	};

	writer_mmap2(w, &map, USER_MODE, NULL);
}

static void write_process(struct writer *w, uint32_t pid, const char *comm, const char *path)
{
	struct record_comm name = { .pid = pid, .tid = pid, .is_exec = true, .comm = comm };

	writer_comm(w, &name, NULL);
	write_map(w, pid, TEXT_START, path);
}

static void write_thread(struct writer *w, uint32_t pid, uint32_t tid, const char *comm)
{
	struct record_task fork = { .pid = pid, .ppid = pid, .tid = tid, .ptid = pid };
	struct record_comm name = { .pid = pid, .tid = tid, .comm = comm };

	writer_task(w, RECORD_FORK, &fork, NULL);
	writer_comm(w, &name, NULL);
}

static void write_spe(struct writer *w, uint32_t cpu, const struct spe_record *records, size_t n)
{
	uint8_t *bytes = mem_alloc(n + 1, SPE_RECORD_MAX);
	struct record_auxtrace header = { .idx = cpu, .cpu = cpu, .tid = UINT32_MAX };
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += spe_encode(&records[i], &spe_layout_n1, bytes + size);
	header.size = size;
	if (size > 0)
		writer_auxtrace(w, &header, bytes);
	free(bytes);
}

static void write_contents(struct writer *w, const struct contents *contents)
{
	const struct sample_id start = { .has = HAS_TIME, .time_ns = START_NS };
	size_t n_first = contents->n_first > 0 ? contents->n_first : contents->n_records / 2;

	writer_feature_string(w, FEATURE_ARCH, "aarch64");
	writer_feature_string(w, FEATURE_CPUID, "0x00000000410fd0c1");
	writer_time_conv(w, &(struct record_time_conv){ .mult = 1 });
	writer_spe_info_v1(w, SPE_PMU, true);
	write_process(w, ALPHA, "alpha", "/bin/alpha");
	write_map(w, ALPHA, FIRST, "//anon");
	write_thread(w, ALPHA, ALPHA_THREAD, "worker");
	write_process(w, BETA, "beta", "/bin/beta");
	writer_itrace_start(w, ALPHA, ALPHA, &start);
	for (size_t i = 0; i < contents->n_samples; i++) {
		struct sample s = contents->samples[i];
		size_t event = s.id == NO_EVENT ? EVENT_CYCLES : s.id;

		s.id = s.id == NO_EVENT ? NO_EVENT : ids[event];
		writer_sample(w, event, USER_MODE, &s);
	}
	if (contents->n_records > 0) {
		write_spe(w, 0, contents->records, n_first);
		write_spe(w, 1, contents->records + n_first, contents->n_records - n_first);
	}
	if (contents->write_more != NULL)
		contents->write_more(w);
}

/* "DIRECTORY/NAME", to be freed. */
static char *path_in(const char *directory, const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", directory, name) > 0);
	return path;
}

static void write_jit_map(const char *directory)
{
	char *path = path_in(directory, "perf-100.map");
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(jit_map, file) >= 0);
	assert_int_equal(fclose(file), 0);
	free(path);
}

void open_fixture(const struct contents *contents, unsigned n_workers, struct session *out)
{
	char *directory = mem_strndup("/tmp/cyclops-analysis-XXXXXX", 28);
	struct session_options options = { .n_workers = n_workers };
	struct err err = { .text = "" };
	struct writer *w;
	char *path;

	assert_non_null(mkdtemp(directory));
	write_jit_map(directory);
	path = path_in(directory, "perf.data");
	w = open_writer(path, contents);
	write_contents(w, contents);
	assert_int_equal(writer_close(w, &err), 0);
	options.path = path;
	options.symbols.jit_map_dir = directory;
	options.symbols.symfs = contents->symfs;
	if (session_open(out, &options, &err) < 0)
		fail_msg("%s", err.text);
	unlink(path);
	free(path);
}

void close_fixture(struct session *s)
{
	assert_int_equal(diags_bytes(capture_diags(s->capture), DIAG_NOTE), 0);
	close_damaged_fixture(s);
}

void close_damaged_fixture(struct session *s)
{
	const char *directory = s->symbols_options.jit_map_dir;
	char *map = path_in(directory, "perf-100.map");

	session_release(s);
	unlink(map);
	rmdir(directory);
	free(map);
	free((char *)(uintptr_t)directory);
}

struct spe_record spe_of(uint64_t pc, uint32_t tid, uint8_t op_class, uint64_t events,
			 uint16_t total, uint64_t ticks)
{
	return (struct spe_record){
		.has = HAS_PC | HAS_CONTEXT | HAS_OP | HAS_EVENTS | HAS_TOTAL | HAS_TICKS,
		.pc = pc,
		.context = tid,
		.context_level = 1,
		.op_class = op_class,
		.events = events,
		.total = total,
		.ticks = ticks,
	};
}

struct sample sample_of(unsigned event, uint64_t ip, uint32_t pid, uint64_t period,
			const uint64_t *chain, size_t n)
{
	return (struct sample){
		.id = event,
		.ip = ip,
		.pid = pid,
		.tid = pid,
		.time_ns = 1000,
		.period = period,
		.callchain = { (const uint8_t *)chain, n },
	};
}

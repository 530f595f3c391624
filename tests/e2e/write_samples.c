/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a capture of PMU samples that say exactly what standard input says:
 *
 *	write-samples OUTPUT PROGRAM ARCH CPUID
 *
 * PROGRAM (a path as recorded) is mapped at 0x400000 in every process, anonymous memory at
 * 0x10000000. Events come first, then samples in order of time; numbers are hexadecimal:
 *
 *	E NAME TYPE CONFIG CONFIG1 SAMPLE_TYPE BRANCH_SAMPLE_TYPE
 *	S EVENT CPU PID TID TIME IP ADDR PERIOD WEIGHT WEIGHT2 WEIGHT3 DATA_SRC MISC [FROM TO FLAGS]...
 *	M PID START LENGTH PAGE_OFFSET MISC PATH
 *
 * M is a mapping, such as that of a guest's kernel. Of an event whose SAMPLE_TYPE has call chains, the chain follows in place of branches.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "capture/format/sample.h"
#include "capture/writer/emit.h"
#include "capture/writer/writer.h"

#define BIT(n) ((uint64_t)1 << (n))

enum {
	MAX_EVENTS = 8,
	MAX_NUMBERS = 2048,
	SAMPLE_NUMBERS = 13,
	EVENT_NUMBERS = 5,
	MAPPING_NUMBERS = 5,
	USER_MODE = 2
};

struct making {
	const char *path, *program, *arch, *cpuid;
	struct writer_event events[MAX_EVENTS];
	uint64_t ids[MAX_EVENTS];
	size_t n_events;
	struct writer *writer; /* NULL: events are still being named */
	struct tuples threads, processes;
};

static void die(const char *what, const char *line)
{
	fprintf(stderr, "write-samples: %s: %s\n", what, line);
	exit(1);
}

/* The numbers of a line from `text` on. */
static size_t read_numbers(const char *text, uint64_t out[MAX_NUMBERS])
{
	size_t n = 0;

	for (char *end; n < MAX_NUMBERS; text = end) {
		uint64_t value = strtoull(text, &end, 16);

		if (end == text)
			break;
		out[n++] = value;
	}
	return n;
}

static void add_event(struct making *m, char *line)
{
	char *name = strtok(line + 1, " "), *rest = strtok(NULL, "\n");
	struct writer_event *e = &m->events[m->n_events];
	uint64_t v[MAX_NUMBERS];

	if (m->n_events == MAX_EVENTS || rest == NULL || read_numbers(rest, v) != EVENT_NUMBERS)
		die("not an event", line);
	m->ids[m->n_events] = m->n_events + 1;
	*e = (struct writer_event){
		.name = mem_strndup(name, strlen(name)),
		.attr = { .type = (uint32_t)v[0],
			  .config = v[1],
			  .config1 = v[2],
			  .sample_period = 1000,
			  .sample_type = v[3] | BIT(SAMPLE_IP) | BIT(SAMPLE_TID) |
					 BIT(SAMPLE_TIME) | BIT(SAMPLE_CPU) |
					 BIT(SAMPLE_IDENTIFIER),
			  .branch_sample_type = v[4],
			  .flags = BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_MMAP) | BIT(ATTR_MMAP2) |
				   BIT(ATTR_COMM) | BIT(ATTR_TASK) },
		.ids = &m->ids[m->n_events],
		.n_ids = 1,
	};
	m->n_events++;
}

static void open_writer(struct making *m)
{
	struct err err;

	if (writer_open(m->path, m->events, m->n_events, &m->writer, &err) < 0)
		die(err.text, m->path);
	writer_feature_string(m->writer, FEATURE_ARCH, m->arch);
	writer_feature_string(m->writer, FEATURE_CPUID, m->cpuid);
}

static void write_maps(struct making *m, uint32_t pid)
{
	const struct record_mmap maps[] = {
		{ .pid = pid,
		  .tid = pid,
		  .start = 0x400000,
		  .length = 0x1000000,
		  .protection = 5,
		  .path = m->program },
		{ .pid = pid,
		  .tid = pid,
		  .start = 0x10000000,
		  .length = 0x1000000,
		  .protection = 3,
		  .flags = 0x22,
		  .is_data = true,
		  .path = "//anon" },
	};

	for (size_t i = 0; i < COUNT(maps); i++)
		writer_mmap2(m->writer, &maps[i], USER_MODE,
			     &(struct sample_id){ .pid = pid, .tid = pid, .id = 1 });
}

static void introduce(struct making *m, uint32_t pid, uint32_t tid)
{
	struct record_task fork = { .pid = pid, .ppid = pid, .tid = tid, .ptid = pid };
	struct record_comm name = { .pid = pid, .tid = pid, .is_exec = true, .comm = "samples" };
	struct sample_id id = { .pid = pid, .tid = pid, .id = 1 };
	uint32_t n = m->processes.n;

	if (tuples_add(&m->processes, &(uint64_t){ pid }) == n) {
		writer_comm(m->writer, &name, &id);
		write_maps(m, pid);
	}
	n = m->threads.n;
	if (tid != pid && tuples_add(&m->threads, &(uint64_t){ tid }) == n)
		writer_task(m->writer, RECORD_FORK, &fork, &id);
}

static void add_sample(struct making *m, const char *line)
{
	uint64_t v[MAX_NUMBERS];
	size_t n = read_numbers(line + 1, v), n_words = n < SAMPLE_NUMBERS ? 0 : n - SAMPLE_NUMBERS;
	bool has_chain;
	struct sample s = { .branch_hw_index = UINT64_MAX };

	if (m->writer == NULL)
		open_writer(m);
	if (n < SAMPLE_NUMBERS || v[0] >= m->n_events)
		die("not a sample", line);
	has_chain = m->events[v[0]].attr.sample_type & BIT(SAMPLE_CALLCHAIN);
	if (!has_chain && n_words % 3 != 0)
		die("not a sample", line);
	s.id = m->ids[v[0]];
	s.cpu = (uint32_t)v[1];
	s.pid = (uint32_t)v[2];
	s.tid = (uint32_t)v[3];
	s.time_ns = v[4];
	s.ip = v[5];
	s.addr = v[6];
	s.period = v[7];
	s.weight = v[8];
	s.weight2 = (uint16_t)v[9];
	s.weight3 = (uint16_t)v[10];
	s.data_src = v[11];
	for (size_t i = SAMPLE_NUMBERS; i < n; i++)
		store_u64((uint8_t *)&v[i], v[i]);
	if (has_chain)
		s.callchain = (struct sample_words){ (const uint8_t *)&v[SAMPLE_NUMBERS], n_words };
	else
		s.branches =
			(struct sample_words){ (const uint8_t *)&v[SAMPLE_NUMBERS], n_words / 3 };
	introduce(m, s.pid, s.tid);
	writer_sample(m->writer, v[0], (uint16_t)v[12], &s);
}

static void add_mapping(struct making *m, char *line)
{
	uint64_t v[MAX_NUMBERS];
	char *path = strrchr(line, ' ');

	if (m->writer == NULL)
		open_writer(m);
	if (path == NULL)
		die("not a mapping", line);
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (read_numbers(line + 1, v) != MAPPING_NUMBERS)
		die("not a mapping", line);
	writer_mmap(m->writer,
		    &(struct record_mmap){ .pid = (uint32_t)v[0],
					   .tid = (uint32_t)v[0],
					   .start = v[1],
					   .length = v[2],
					   .page_offset = v[3],
					   .path = path },
		    (uint16_t)v[4], &(struct sample_id){ .id = 1 });
}

static int finish(struct making *m)
{
	struct err err;

	if (m->writer == NULL)
		open_writer(m);
	writer_finished_round(m->writer);
	for (size_t i = 0; i < m->n_events; i++)
		free((void *)(uintptr_t)m->events[i].name);
	tuples_release(&m->threads);
	tuples_release(&m->processes);
	if (writer_close(m->writer, &err) == 0)
		return 0;
	fprintf(stderr, "write-samples: %s\n", err.text);
	return 1;
}

int main(int argc, char **argv)
{
	struct making m = { 0 };
	size_t size = 0;
	char *line = NULL;

	if (argc != 5)
		return 2;
	m.path = argv[1];
	m.program = argv[2];
	m.arch = argv[3];
	m.cpuid = argv[4];
	tuples_init(&m.threads, 1);
	tuples_init(&m.processes, 1);
	while (getline(&line, &size, stdin) > 0) {
		if (line[0] == 'E')
			add_event(&m, line);
		else if (line[0] == 'M')
			add_mapping(&m, line);
		else
			add_sample(&m, line);
	}
	free(line);
	return finish(&m);
}

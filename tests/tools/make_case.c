/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a capture of records that are spelled out on standard input, so that a test knows
 * every number in it. One thread 100 of process 100, "case", whose program is mapped at
 * 0x400000 (file offset 0). A line is:
 *
 *	spe CPU PC CLASS OP EVENTS TOTAL ISSUE XLAT SOURCE TICKS [N STEP]	a record, or N of them
 *				STEP ticks apart; "-" where there is no such packet
 *	chunk CPU FLAGS		ends the CPU's buffer, with flags of its AUX record
 *	sample EVENT CPU IP PERIOD TICKS	a PMU sample: event 0 is cycles, 1 is refills
 *	switch CPU TICKS		the thread leaves the CPU, or comes back: in turns
 *	throttle TICKS, lost N TICKS
 *
 * usage: make-case OUTPUT PERIOD CONFIG NS_PER_TICK [PROGRAM [MIN_LATENCY]] <LINES
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "capture/format/sample.h"
#include "capture/writer/writer.h"
#include "spe/encode.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { N_CPUS = 4, SPE_PMU = 10, PID = 100, TEXT_BYTES = 1 << 20, USER_MODE = 2, MAX_WORDS = 16 };
enum { EVENT_SPE, EVENT_CYCLES, EVENT_REFILLS, N_EVENTS };

static const uint64_t text_start = 0x400000;
static const uint64_t ids[N_EVENTS] = { 1, 2, 3 };

struct maker {
	struct writer *writer;
	uint64_t ns_per_tick;
	struct text buffers[N_CPUS];
	uint64_t offsets[N_CPUS], last_ticks[N_CPUS];
	bool is_out[N_CPUS];
};

static struct sample_id at_time(const struct maker *m, uint64_t ticks, uint64_t cpu)
{
	return (struct sample_id){
		.has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU,
		.pid = PID,
		.tid = PID,
		.cpu = (uint32_t)cpu,
		.time_ns = ticks * m->ns_per_tick,
		.id = ids[EVENT_SPE],
	};
}

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 0);
}

/* Sets a value and its bit, unless the word is "-". */
static uint64_t optional(const char *word, uint32_t bit, uint32_t *has)
{
	if (strcmp(word, "-") == 0)
		return 0;
	*has |= bit;
	return number(word);
}

static void add_spe(struct maker *m, char **words, size_t n_words)
{
	uint64_t cpu = number(words[1]) % N_CPUS;
	uint64_t n = n_words > 11 ? number(words[11]) : 1,
		 step = n_words > 12 ? number(words[12]) : 0;
	struct spe_record r = {
		.has = HAS_CONTEXT,
		.context = PID,
		.context_level = 1,
	};

	r.pc = optional(words[2], HAS_PC, &r.has);
	r.op_class = (uint8_t)optional(words[3], HAS_OP, &r.has);
	r.op = (uint8_t)optional(words[4], HAS_OP, &r.has);
	r.events = optional(words[5], HAS_EVENTS, &r.has);
	r.total = (uint16_t)optional(words[6], HAS_TOTAL, &r.has);
	r.issue = (uint16_t)optional(words[7], HAS_ISSUE, &r.has);
	r.xlat = (uint16_t)optional(words[8], HAS_XLAT, &r.has);
	r.source = (uint16_t)optional(words[9], HAS_SOURCE, &r.has);
	r.ticks = optional(words[10], HAS_TICKS, &r.has);
	for (uint64_t i = 0; i < n; i++, r.ticks += step) {
		uint8_t *out = (uint8_t *)text_room(&m->buffers[cpu], SPE_RECORD_MAX);

		m->buffers[cpu].n += spe_encode(&r, &spe_layout_n1, out);
		m->last_ticks[cpu] = r.ticks;
	}
}

static void end_chunk(struct maker *m, uint64_t cpu, uint64_t flags)
{
	struct text *buffer = &m->buffers[cpu];
	struct record_auxtrace header = { .idx = (uint32_t)cpu,
					  .cpu = (uint32_t)cpu,
					  .tid = UINT32_MAX,
					  .size = buffer->n,
					  .offset = m->offsets[cpu] };
	struct record_aux aux = { header.offset, header.size, flags };
	struct sample_id id = at_time(m, m->last_ticks[cpu], cpu);

	writer_aux(m->writer, &aux, &id);
	if (buffer->n > 0)
		writer_auxtrace(m->writer, &header, buffer->bytes);
	m->offsets[cpu] += buffer->n;
	text_reset(buffer);
}

static void add_sample(struct maker *m, char **words)
{
	size_t event = EVENT_CYCLES + number(words[1]) % 2;
	struct sample s = {
		.id = ids[event],
		.pid = PID,
		.tid = PID,
		.cpu = (uint32_t)number(words[2]),
		.ip = number(words[3]),
		.period = number(words[4]),
		.time_ns = number(words[5]) * m->ns_per_tick,
	};

	writer_sample(m->writer, event, USER_MODE, &s);
}

static void add_switch(struct maker *m, uint64_t cpu, uint64_t ticks)
{
	struct sample_id id = at_time(m, ticks, cpu);

	m->is_out[cpu] = !m->is_out[cpu];
	writer_switch(m->writer, &(struct record_switch){ .is_out = m->is_out[cpu] }, &id);
}

/* time, id, stream id; then the trailer's pid, tid, time, cpu, identifier. */
static void add_throttle(struct maker *m, uint64_t ticks)
{
	uint64_t time = ticks * m->ns_per_tick;
	uint64_t body[7] = { time, ids[EVENT_CYCLES], 0, (uint64_t)PID << 32 | PID, time,
			     0,	   ids[EVENT_CYCLES] };

	writer_record(m->writer, RECORD_THROTTLE, 0, body, sizeof(body));
}

static void add_line(struct maker *m, char *line)
{
	char *words[MAX_WORDS] = { 0 };
	size_t n = 0;

	for (char *word = strtok(line, " \t\n"); word != NULL && n < MAX_WORDS;
	     word = strtok(NULL, " \t\n"))
		words[n++] = word;
	if (n >= 11 && strcmp(words[0], "spe") == 0) {
		add_spe(m, words, n);
	} else if (n == 3 && strcmp(words[0], "chunk") == 0) {
		end_chunk(m, number(words[1]) % N_CPUS, number(words[2]));
	} else if (n == 6 && strcmp(words[0], "sample") == 0) {
		add_sample(m, words);
	} else if (n == 3 && strcmp(words[0], "switch") == 0) {
		add_switch(m, number(words[1]) % N_CPUS, number(words[2]));
	} else if (n == 2 && strcmp(words[0], "throttle") == 0) {
		add_throttle(m, number(words[1]));
	} else if (n == 3 && strcmp(words[0], "lost") == 0) {
		struct sample_id id = at_time(m, number(words[2]), 0);

		writer_lost(m->writer, &(struct record_lost){ ids[EVENT_CYCLES], number(words[1]) },
			    &id);
	} else if (n > 0) {
		fprintf(stderr, "make-case: cannot read the line of '%s'\n", words[0]);
		exit(2);
	}
}

static struct writer *open_writer(char **argv, int argc)
{
	const uint64_t type = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
			      BIT(SAMPLE_CPU) | BIT(SAMPLE_PERIOD) | BIT(SAMPLE_IDENTIFIER);
	struct writer_event events[N_EVENTS] = {
		[EVENT_SPE] = { .attr = { .type = SPE_PMU,
					  .config = number(argv[3]),
					  .config2 = argc > 6 ? number(argv[6]) : 0,
					  .sample_period = number(argv[2]) },
				.name = "arm_spe_0//" },
		[EVENT_CYCLES] = { .attr = { .sample_period = 100000 }, .name = "cycles" },
		[EVENT_REFILLS] = { .attr = { .type = ATTR_TYPE_RAW,
					      .config = 3,
					      .sample_period = 1000 },
				    .name = "l1d_cache_refill" },
	};
	struct writer *w = NULL;
	struct err err;

	for (size_t i = 0; i < N_EVENTS; i++) {
		events[i].ids = &ids[i];
		events[i].n_ids = 1;
		events[i].attr.sample_type = type;
		events[i].attr.flags = BIT(ATTR_SAMPLE_ID_ALL);
	}
	if (writer_open(argv[1], events, N_EVENTS, &w, &err) == 0)
		return w;
	fprintf(stderr, "make-case: %s\n", err.text);
	exit(1);
}

static void write_head(struct maker *m, const char *program)
{
	static const struct writer_pmu pmus[] = { { SPE_PMU, "arm_spe_0" } };
	struct record_comm name = { .pid = PID, .tid = PID, .is_exec = true, .comm = "case" };
	struct record_mmap map = { .pid = PID,
				   .tid = PID,
				   .start = text_start,
				   .length = TEXT_BYTES,
				   .protection = 5,
				   .path = program };

	writer_feature_string(m->writer, FEATURE_ARCH, "aarch64");
	writer_feature_string(m->writer, FEATURE_CPUID, "0x00000000413fd0c1");
	writer_pmus(m->writer, pmus, COUNT(pmus));
	writer_time_conv(m->writer, &(struct record_time_conv){ .mult = m->ns_per_tick });
	writer_spe_info_v1(m->writer, SPE_PMU, true);
	writer_comm(m->writer, &name, NULL);
	writer_mmap2(m->writer, &map, USER_MODE, NULL);
}

int main(int argc, char **argv)
{
	struct maker m = { 0 };
	struct err err;
	char line[512];

	if (argc < 5) {
		fprintf(stderr, "usage: make-case OUTPUT PERIOD CONFIG NS_PER_TICK [PROGRAM]\n");
		return 2;
	}
	m.writer = open_writer(argv, argc);
	m.ns_per_tick = number(argv[4]);
	write_head(&m, argc > 5 ? argv[5] : "/opt/case/program");
	while (fgets(line, sizeof(line), stdin) != NULL)
		add_line(&m, line);
	for (uint64_t cpu = 0; cpu < N_CPUS; cpu++) {
		if (m.buffers[cpu].n > 0)
			end_chunk(&m, cpu, 0);
		text_release(&m.buffers[cpu]);
	}
	if (writer_close(m.writer, &err) == 0)
		return 0;
	fprintf(stderr, "make-case: %s\n", err.text);
	return 1;
}

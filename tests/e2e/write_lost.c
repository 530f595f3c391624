/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a capture that lost samples to collisions, for lost_samples.py:
 *
 *	write-lost FILE SEED sampled|flags
 *
 * A program of OPERATIONS operations, SLOW_LOADS of them loads at SLOW_PC, is sampled each INTERVAL
 * operations. More than a third of the samples due at SLOW_PC are lost, of others few. AUX records
 * say that there were collisions; with "sampled" the events SAMPLE_COLLISION and SAMPLE_FEED were
 * sampled beside SPE. Prints the counts of these as `perf stat -x,` does.
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
#include "spe/packet.h"

#define BIT(n) ((uint64_t)1 << (n))

enum {
	SPE_PMU = 10,
	CORE_PMU = 8,
	PROGRAMMED = 256,
	INTERVAL = 384, /* with jitter, on this CPU */
	OPERATIONS = 1399 * INTERVAL,
	SLOW_LOADS = 100000,
	FEED = 0x4001,
	COLLISION = 0x4003,
	FEED_PERIOD = 50,
	COLLISION_PERIOD = 4,
	PID = 100,
	STEP_NS = 100,
	START_NS = 1000000,
};

static const uint64_t slow_pc = 0x400100, other_pc = 0x400200, data = 0x10000000;
static const double lost_slow = 0.377, lost_others = 0.0465;

enum { SPE, FED, COLLIDED, N_EVENTS };
static const uint64_t ids[N_EVENTS] = { 1, 2, 3 };

#define SAMPLED                                                                                    \
	(BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) | BIT(SAMPLE_CPU) |                   \
	 BIT(SAMPLE_IDENTIFIER))

static const struct writer_event events[N_EVENTS] = {
	[SPE] = { .name = "arm_spe_0/ts_enable=1,jitter=1/",
		  .attr = { .type = SPE_PMU,
			    .config = BIT(16),
			    .sample_period = PROGRAMMED,
			    .sample_type = SAMPLED,
			    .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		  .ids = &ids[SPE],
		  .n_ids = 1 },
	[FED] = { .name = "armv8_pmuv3_0/sample_feed/",
		  .attr = { .type = CORE_PMU,
			    .config = FEED,
			    .sample_period = FEED_PERIOD,
			    .sample_type = SAMPLED,
			    .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		  .ids = &ids[FED],
		  .n_ids = 1 },
	[COLLIDED] = { .name = "r4003",
		       .attr = { .type = ATTR_TYPE_RAW,
				 .config = COLLISION,
				 .sample_period = COLLISION_PERIOD,
				 .sample_type = SAMPLED,
				 .flags = BIT(ATTR_SAMPLE_ID_ALL) },
		       .ids = &ids[COLLIDED],
		       .n_ids = 1 },
};

static double next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / (double)BIT(53);
}

static void add_record(struct text *trace, bool is_slow, uint64_t time_ns)
{
	const struct spe_record r = {
		.has = HAS_PC | HAS_CONTEXT | HAS_OP | HAS_EVENTS | HAS_TOTAL | HAS_ISSUE |
		       HAS_TICKS | (is_slow ? HAS_VA | HAS_SOURCE : 0u),
		.pc = is_slow ? slow_pc : other_pc,
		.va = data,
		.context = PID,
		.context_level = 1,
		.op_class = is_slow ? SPE_OP_LDST : SPE_OP_OTHER,
		.events = BIT(SPE_EV_RETIRED),
		.total = is_slow ? 900 : 5,
		.issue = 4,
		.ticks = time_ns,
	};
	uint8_t *out = (uint8_t *)text_room(trace, SPE_RECORD_MAX);

	trace->n += spe_encode(&r, &spe_layout_n1, out);
}

static void write_samples(struct writer *w, size_t event, uint64_t n, uint64_t end_ns)
{
	uint64_t n_samples = n / events[event].attr.sample_period;

	for (uint64_t i = 0; i < n_samples; i++)
		writer_sample(w, event, 2,
			      &(struct sample){ .ip = other_pc,
						.pid = PID,
						.tid = PID,
						.id = ids[event],
						.time_ns = START_NS + i * (end_ns - START_NS) /
									      (n_samples + 1) });
}

static void write_process(struct writer *w)
{
	const struct record_mmap map = { .pid = PID,
					 .tid = PID,
					 .start = 0x400000,
					 .length = 0x10000,
					 .protection = 5,
					 .path = "/opt/program" };

	writer_comm(
		w,
		&(struct record_comm){ .pid = PID, .tid = PID, .is_exec = true, .comm = "program" },
		NULL);
	writer_mmap2(w, &map, 2, NULL);
}

int main(int argc, char **argv)
{
	struct record_auxtrace header = { .tid = UINT32_MAX };
	uint64_t random, time_ns = START_NS, taken = 0, lost = 0;
	struct text trace = { 0 };
	struct writer *w = NULL;
	struct sample_id id = { .has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU, .id = ids[SPE] };
	bool is_sampled;
	struct err err;

	if (argc != 4)
		return 2;
	random = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
	is_sampled = strcmp(argv[3], "sampled") == 0;
	for (uint64_t i = 0; i < OPERATIONS; i += INTERVAL, time_ns += STEP_NS) {
		bool is_slow = next_random(&random) < (double)SLOW_LOADS / OPERATIONS;

		if (next_random(&random) < (is_slow ? lost_slow : lost_others)) {
			lost++;
			continue;
		}
		taken++;
		add_record(&trace, is_slow, time_ns);
	}
	if (writer_open(argv[1], events, is_sampled ? N_EVENTS : 1, &w, &err) < 0)
		goto failed;
	writer_time_conv(w, &(struct record_time_conv){ .mult = 1 });
	writer_spe_info_v1(w, SPE_PMU, true);
	write_process(w);
	id.time_ns = time_ns;
	writer_aux(w, &(struct record_aux){ .size = trace.n, .flags = AUX_COLLISION }, &id);
	header.size = trace.n;
	writer_auxtrace(w, &header, trace.bytes);
	text_release(&trace);
	if (is_sampled) {
		write_samples(w, FED, taken, time_ns);
		write_samples(w, COLLIDED, lost, time_ns);
	}
	writer_feature_string(w, FEATURE_ARCH, "aarch64");
	writer_feature_string(w, FEATURE_CPUID, "0x00000000413fd0c1");
	printf("%" PRIu64 ",,sample_feed,%" PRIu64 ",100.00,,\n", taken, time_ns - START_NS);
	printf("%" PRIu64 ",,armv8_pmuv3_0/sample_collision/u,%" PRIu64 ",100.00,,\n", lost,
	       time_ns - START_NS);
	if (writer_close(w, &err) == 0)
		return 0;
failed:
	fprintf(stderr, "write-lost: %s\n", err.text);
	return 1;
}

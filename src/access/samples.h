/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores that PMU samples tell of: x86 load latency and stores (PEBS), AMD's IBS, POWER's
 * random sampling. Data source and weight stand for what SPE records say of the same.
 */
#ifndef CYCLOPS_ACCESS_SAMPLES_H
#define CYCLOPS_ACCESS_SAMPLES_H

#include <stdbool.h>

#include "access/kind.h"
#include "estimate/latency.h"
#include "session/session.h"
#include "table/table.h"

/* What memory samples are. */
struct access_sampling {
	bool is_of_spe; /* perf made them of SPE records, their weight is the total latency */
	int event;	/* number of the only event that counts; -1: all do */
};

/*
 * Are memory operations those of PMU samples? Only if there is no SPE data: the two are
 * different samplings, not to be added up.
 */
bool access_is_sampled(const struct session *);

/*
 * Which samples count. Where perf inject made samples of SPE records there may be one for each event
 * of a record, all with its data source: then those of "memory", one for each load and store.
 */
struct access_sampling access_sampling_of(const struct session *);

/* The kind of access of a sample with a data source; MEMORY_NONE: it is none, or not known. */
enum memory_kind sample_memory_kind(const struct batch *, size_t row);

/* The latencies of a sample; weights are wider than the counters of SPE. */
struct sample_latencies {
	uint32_t cycles[N_ALL_LATENCIES];
	uint8_t state[N_ALL_LATENCIES]; /* enum latency_state */
};

/*
 * A weight of 0 is none: of stores without a latency, of hits where only misses are timed. One of
 * 65535 is a full counter, and so is what does not fit; of SPE records also 4095.
 */
struct sample_latencies sample_latencies_of(const struct access_sampling *, const struct batch *,
					    size_t row);

/* Notes what the numbers of these samples are, and what their sampling leaves out. */
void access_samples_note(const struct session *, struct table *);

/* Notes memory samples that do not count because the capture has SPE data. */
void access_samples_note_unused(const struct session *, struct table *);

#endif

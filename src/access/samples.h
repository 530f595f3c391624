/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory accesses recorded as PMU samples: load latency and stores of x86 (PEBS), AMD's IBS, random
 * sampling of POWER. The sample's data source and weight take the place of SPE's data source and
 * latency.
 */
#ifndef CYCLOPS_ACCESS_SAMPLES_H
#define CYCLOPS_ACCESS_SAMPLES_H

#include <stdbool.h>

#include "access/kind.h"
#include "estimate/latency.h"
#include "session/session.h"
#include "table/table.h"

/* Which samples stand for memory accesses. */
struct access_sampling {
	bool is_of_spe; /* perf made them of SPE records; the weight is the total latency */
	int event;	/* number of the only event to use; -1: all */
};

/*
 * Are PMU samples used as memory accesses? Only if the capture has no SPE data: the two are
 * different samplings, which must not be added up.
 */
bool access_is_sampled(const struct session *);

/*
 * Which samples to use. Out of one SPE record, perf inject may make a sample for each event, all
 * with the same data source. Then only the samples of "memory" are used: one for each load and
 * store.
 */
struct access_sampling access_sampling_of(const struct session *);

/* The kind of access by the sample's data source; MEMORY_NONE: no access, or not known. */
enum memory_kind sample_memory_kind(const struct batch *, size_t row);

/* The latencies of a sample, in cycles. Weights are wider than the counters of SPE. */
struct sample_latencies {
	uint32_t cycles[N_ALL_LATENCIES];
	uint8_t state[N_ALL_LATENCIES]; /* enum latency_state */
};

/*
 * Reads the latencies of a sample out of its weights. A weight of 0 is absent: stores may have no
 * latency, and some CPUs time misses only. 65535 is a saturated counter, as is a weight of 2^31 or
 * more; for samples made of SPE records 4095 is one, too.
 */
struct sample_latencies sample_latencies_of(const struct access_sampling *, const struct batch *,
					    size_t row);

/*
 * Adds notes to the table: what the weights of these samples mean, which accesses are not sampled.
 */
void access_samples_note(const struct session *, struct table *);

/* Adds a note for each event whose memory samples are not used because the capture has SPE data. */
void access_samples_note_unused(const struct session *, struct table *);

#endif

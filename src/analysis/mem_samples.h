/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores that PMU samples tell of: x86 load latency and stores (PEBS), AMD's IBS, POWER's
 * random sampling. Data source and weight stand for what SPE records say of the same.
 */
#ifndef CYCLOPS_ANALYSIS_MEM_SAMPLES_H
#define CYCLOPS_ANALYSIS_MEM_SAMPLES_H

#include <stdbool.h>

#include "analysis/mem.h"
#include "table/table.h"

/*
 * Are memory operations those of PMU samples? Only if there is no SPE data: the two are
 * different samplings, not to be added up.
 */
bool mem_is_sampled(const struct session *);

/*
 * Which samples count. Where perf inject made samples of SPE records there may be one for each event
 * of a record, all with its data source: then those of "memory", one for each load and store.
 */
struct mem_sampling mem_sampling_of(const struct session *);

/* The kind of access of a sample with a data source; MEM_NONE: it is none, or not known. */
enum mem_kind mem_sample_kind(const struct batch *, size_t row);

/* The latencies of a sample; weights are wider than the counters of SPE. */
struct sample_latencies {
	uint32_t cycles[N_ALL_LATENCIES];
	uint8_t state[N_ALL_LATENCIES]; /* enum latency_state */
};

/*
 * A weight of 0 is none: of stores without a latency, of hits where only misses are timed. One of
 * 65535 is a full counter, and so is what does not fit; of SPE records also 4095.
 */
struct sample_latencies sample_latencies_of(const struct mem_sampling *, const struct batch *,
					    size_t row);

void sample_latencies_add(struct mem_cost *, const struct sample_latencies *);
void sample_histograms_add(struct mem_histograms *, const struct sample_latencies *);

/* Notes what the numbers of these samples are, and what their sampling leaves out. */
void mem_samples_note(const struct session *, struct table *);

/* Notes memory samples that do not count because the capture has SPE data. */
void mem_samples_note_unused(const struct session *, struct table *);

#endif

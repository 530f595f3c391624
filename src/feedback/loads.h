/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled loads by instruction: how they walk through memory, how fast, and how long those take that miss the L1 cache. */
#ifndef CYCLOPS_FEEDBACK_LOADS_H
#define CYCLOPS_FEEDBACK_LOADS_H

#include <stddef.h>
#include <stdint.h>

#include "access/pattern.h"
#include "access/samples.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "session/analysis.h"

/* Of one instruction in one thread, or in all of them. */
struct load_sum {
	struct addr_pattern walk;
	uint64_t n_missed;	  /* their source is behind the L1 cache */
	uint64_t n_timed, cycles; /* missed, with a latency; full counters are lower bounds */
	uint64_t n_full;

	/* From each sample to the next one of the thread, by direction. */
	uint64_t up_bytes, up_ns, down_bytes, down_ns;

	/* The sample before, of this batch. */
	uint64_t address, time_ns, batch;
};

enum { SAMPLED_LOAD_PLACE, SAMPLED_LOAD_PROCESS, SAMPLED_LOAD_TID, SAMPLED_LOAD_WORDS };

/* Options: none. Result: this. Keys: place, process, thread. */
struct sampled_loads {
	struct access_sampling sampling;
	struct tuples keys;
	VEC_OF(struct load_sum) sums;
	uint64_t n, batch;
};

extern const struct analysis_class sampled_loads_class;

/* Adds the sums of another thread. */
void load_sum_merge_other(struct load_sum *, const struct load_sum *from);

#endif

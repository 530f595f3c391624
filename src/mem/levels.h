/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long loads take from each level of the memory hierarchy, by SPE records: the table that `cyclops latency`
 * measures, out of a capture.
 *
 * Direct: what records say, execution and translation. Derived: from one sampled load to the next, both of the same level,
 * a thread executed as many loads as a record stands for; the time between them by that number. That is the latency
 * of loads that wait for each other, and less where they overlap.
 */
#ifndef CYCLOPS_MEM_LEVELS_H
#define CYCLOPS_MEM_LEVELS_H

#include "cpu/cpu.h"
#include "estimate/clock.h"
#include "estimate/latency.h"
#include "scan/select.h"
#include "session/analysis.h"
#include "table/table.h"

enum { LEVELS_TLB_HIT, LEVELS_WALK, N_LEVELS_CONDITIONS };

/* The loads of a level, with or without a page table walk. */
struct level_loads {
	uint64_t n;
	struct latency_sum sums[N_LATENCIES];
	uint64_t gap_ns,
		n_gap_loads; /* between sampled loads of this kind, and the loads that were executed then */
};

struct load_levels {
	const struct session *session;
	struct level_loads of[N_SOURCE_LEVELS][N_LEVELS_CONDITIONS];
};

/* Options: none. Result: struct load_levels. */
extern const struct analysis_class load_levels_class;

/* `select`: that the records passed; NULL: all did. */
void load_levels_table(const struct load_levels *, const struct core_clock *, const struct select *,
		       struct table *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine so small that its behaviour can be worked out by hand: an L1D of two sets of two
 * lines, an L2 of four sets of two, a system cache of eight sets of two; latencies that tell
 * which part answered.
 */
#ifndef CYCLOPS_TESTS_MODEL_SMALL_H
#define CYCLOPS_TESTS_MODEL_SMALL_H

#include "model/params.h"

static inline struct params small_params(void)
{
	struct params p = {
		.midr = 0x413fd0c1,
		.core_mhz = 1000,
		.timer_mhz = 100,
		.n_cpus = 4,
		.cores_per_cluster = 2,
		.l1i_bytes = 4 * LINE_BYTES,
		.l1i_ways = 2,
		.l1d_bytes = 4 * LINE_BYTES,
		.l1d_ways = 2,
		.l2_bytes = 8 * LINE_BYTES,
		.l2_ways = 2,
		.system_cache_bytes = 16 * LINE_BYTES,
		.system_cache_ways = 2,
		.itlb_entries = 2,
		.dtlb_entries = 2,
		.l2tlb_entries = 4,
		.l2tlb_ways = 4,
		.l2_cycles = 10,
		.l2_finish = 1,
		.peer_core_cycles = 30,
		.peer_core_finish = 2,
		.system_cache_cycles = 100,
		.system_cache_finish = 3,
		.peer_cluster_cycles = 200,
		.peer_cluster_finish = 4,
		.dram_cycles = 1000,
		.dram_finish = 5,
		.l2tlb_cycles = 6,
		.walk_cycles = 20,
		.width = 2,
		.window = 8,
		.memory_queue = 4,
		.outstanding_misses = 2,
		.store_buffer = 2,
		.issue_cycles = 2,
		.issue_memory_cycles = 4,
		.branch_units = 1,
		.integer_units = 2,
		.multicycle_units = 1,
		.memory_units = 2,
		.vector_units = 2,
		.mispredict_cycles = 11,
		.resteer_cycles = 3,
		.conditional_entries = 64,
		.history_bits = 4,
		.target_entries = 64,
		.indirect_entries = 64,
		.return_stack = 4,
		.min_interval = 256,
		.latency_max = 4095,
		.quantum = 100,
		.sharing_quantum = 100,
		.mux_interval_us = 10,
	};

	for (unsigned i = 0; i < N_TIMINGS; i++)
		p.latency[i] = 1;
	p.latency[TIMING_LOAD] = 4;
	p.latency[TIMING_LOAD_VECTOR] = 5;
	p.latency[TIMING_MULTIPLY] = 3;
	return p;
}

#endif

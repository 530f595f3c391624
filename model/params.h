/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of a modelled CPU, from catalog/model/<id>.json, which has a source for each of
 * them. docs/model.md explains them.
 */
#ifndef CYCLOPS_MODEL_PARAMS_H
#define CYCLOPS_MODEL_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/insn.h"

enum { LINE_SHIFT = 6, LINE_BYTES = 1 << LINE_SHIFT, MAX_CPUS = 64 };
enum { PAGE_SHIFT = 12, HUGE_PAGE_SHIFT = 21 };

/* Cycles are those of the core's clock. */
struct params {
	uint32_t midr;
	uint32_t core_mhz, timer_mhz;
	uint32_t n_cpus, cores_per_cluster;

	uint32_t l1i_bytes, l1i_ways, l1d_bytes, l1d_ways, l2_bytes, l2_ways;
	uint32_t system_cache_bytes, system_cache_ways;
	uint32_t itlb_entries, dtlb_entries, l2tlb_entries, l2tlb_ways;

	/* From issue until a dependent instruction can start; of an L1 hit: `latency`. */
	uint32_t l2_cycles, peer_core_cycles, system_cache_cycles, peer_cluster_cycles, dram_cycles;
	/* From then until SPE calls the load finished. */
	uint32_t l2_finish, peer_core_finish, system_cache_finish, peer_cluster_finish, dram_finish;
	uint32_t system_cache_spread, dram_spread; /* latencies vary by so much, up and down */
	uint32_t dram_line_gap;			   /* between lines from DRAM to one core */
	uint32_t l2tlb_cycles, walk_cycles;	   /* a walk also loads the last-level entry */

	uint32_t width, window, memory_queue, outstanding_misses, store_buffer;
	uint32_t issue_cycles, issue_memory_cycles; /* from dispatch, at least */
	uint32_t mispredict_cycles, resteer_cycles;
	uint32_t conditional_entries, history_bits, target_entries, indirect_entries, return_stack;
	uint32_t branch_units, integer_units, multicycle_units, memory_units, vector_units;
	uint32_t latency[N_TIMINGS];
	uint32_t busy[N_TIMINGS]; /* cycles until its unit can start the next; 0 is as 1 */

	uint32_t prefetch_distance;	  /* of the stride prefetcher; 0: none */
	uint32_t prefetch_longest_stride; /* bytes */
	uint32_t prefetch_next_line;	  /* into the L2, after a miss in the L1: 0 or 1 */
	uint32_t tlb_prefetch; /* of the next page, when misses go from page to page: 0 or 1 */
	uint32_t huge_pages;   /* data lies in pages of 2 MiB: 0 or 1 */
	uint32_t min_interval, latency_max;
	uint32_t mux_interval_us; /* of multiplexed events of the PMU */
	uint32_t random_periods;  /* of events of the PMU: 0 or 1 */
	uint32_t skid_cycles;	  /* of PMU interrupts; 0: the skid is in instructions */
	/* Faults of branch stacks. Percent: of stacks; of mispredicted conditional branches */
	uint32_t stack_wrong_newest, stack_shallow, stack_wrong_path;
	uint32_t interrupt_cycles;	   /* between interrupts, on average; 0: none */
	uint32_t interrupt_signals;	   /* they are signals: 0 or 1 */
	uint32_t quantum, sharing_quantum; /* cycles that a thread may be ahead of others */
};

/*
 * Sets a parameter from a decimal number, or 0x and hexadecimal digits. Fails if the name is unknown
 * or the value is out of range.
 */
int params_set(struct params *, const char *name, const char *value, struct err *);

/* Fails if a parameter is missing, or if sizes and ways do not make a power of two of sets. */
int params_check(const struct params *, struct err *);

#endif

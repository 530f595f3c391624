/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of a modelled CPU: events of the Neoverse N1's PMU, with the names and meanings of
 * catalog/cpu/neoverse-n1.json. There are no wrong-path instructions, so speculative and retired
 * counts agree.
 */
#ifndef CYCLOPS_MODEL_COUNTS_H
#define CYCLOPS_MODEL_COUNTS_H

#include <stddef.h>
#include <stdint.h>

enum count {
	COUNT_CPU_CYCLES,
	COUNT_IDLE_CYCLES, /* no event of the PMU: no thread ran on the CPU */
	COUNT_INST_RETIRED,
	COUNT_STALL_FRONTEND,
	COUNT_STALL_BACKEND,

	COUNT_L1I_CACHE,
	COUNT_L1I_CACHE_REFILL,
	COUNT_L1I_TLB,
	COUNT_L1I_TLB_REFILL,
	COUNT_ITLB_WALK,

	COUNT_L1D_CACHE_RD,
	COUNT_L1D_CACHE_WR,
	COUNT_L1D_CACHE_REFILL_RD,
	COUNT_L1D_CACHE_REFILL_WR,
	COUNT_L1D_CACHE_WB,
	COUNT_L1D_CACHE_INVAL,
	COUNT_L1D_TLB_RD,
	COUNT_L1D_TLB_WR,
	COUNT_L1D_TLB_REFILL_RD,
	COUNT_L1D_TLB_REFILL_WR,
	COUNT_L2D_TLB,
	COUNT_L2D_TLB_REFILL,
	COUNT_DTLB_WALK,
	COUNT_UNALIGNED_LD_SPEC,
	COUNT_UNALIGNED_ST_SPEC,

	COUNT_L2D_CACHE_RD,
	COUNT_L2D_CACHE_WR,
	COUNT_L2D_CACHE_REFILL_RD,
	COUNT_L2D_CACHE_REFILL_WR,
	COUNT_L2D_CACHE_WB,
	COUNT_L2D_CACHE_INVAL,
	COUNT_LL_CACHE_RD,
	COUNT_LL_CACHE_MISS_RD,
	COUNT_BUS_ACCESS_RD,
	COUNT_BUS_ACCESS_WR,

	COUNT_BR_NOT_TAKEN, /* no event */
	COUNT_BR_TAKEN,
	COUNT_BR_MIS_PRED_RETIRED,
	COUNT_BR_IMMED_SPEC,
	COUNT_BR_RETURN_SPEC,
	COUNT_BR_INDIRECT_SPEC,

	COUNT_BR_PRED,
	COUNT_DP_SPEC,
	COUNT_LD_SPEC,
	COUNT_ST_SPEC,
	COUNT_ASE_SPEC,
	COUNT_VFP_SPEC,
	COUNT_CRYPTO_SPEC,
	COUNT_DMB_SPEC,
	COUNT_DSB_SPEC,
	COUNT_ISB_SPEC,
	COUNT_SYSTEM_SPEC, /* not an event of the PMU */

	COUNT_SAMPLE_POP,
	COUNT_SAMPLE_FEED,
	COUNT_SAMPLE_FILTRATE,
	COUNT_SAMPLE_COLLISION,
	N_COUNTS,
};

/* Counts are gone through in groups: most of them do not change from instruction to instruction. */
enum {
	COUNTS_GROUP = 8,
	COUNTS_ROOM = (N_COUNTS + COUNTS_GROUP - 1) / COUNTS_GROUP * COUNTS_GROUP
};

struct counts {
	uint64_t n[COUNTS_ROOM];
};

/* Adds what was counted since `*seen` to the sum, and brings that up to date. */
static inline void counts_add_new(struct counts *restrict sum, const struct counts *restrict now,
				  struct counts *restrict seen)
{
	for (size_t group = 0; group < COUNTS_ROOM; group += COUNTS_GROUP) {
		const uint64_t *new = now->n + group;
		uint64_t *old = seen->n + group, change = 0;

		for (size_t i = 0; i < COUNTS_GROUP; i++)
			change |= new[i] ^ old[i];
		for (size_t i = 0; change != 0 && i < COUNTS_GROUP; i++) {
			sum->n[group + i] += new[i] - old[i];
			old[i] = new[i];
		}
	}
}

#endif

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
	COUNT_SYSTEM_SPEC, /* not an event of the PMU */

	COUNT_SAMPLE_POP,
	COUNT_SAMPLE_FEED,
	COUNT_SAMPLE_FILTRATE,
	COUNT_SAMPLE_COLLISION,
	N_COUNTS,
};

/* A multiple of what the host adds at a time. */
enum { COUNTS_ROOM = (N_COUNTS + 7) / 8 * 8 };

struct counts {
	uint64_t n[COUNTS_ROOM];
};

/* Adds what was counted from `before` to `after`. */
static inline void counts_add(struct counts *restrict sum, const struct counts *restrict after,
			      const struct counts *restrict before)
{
	for (size_t i = 0; i < COUNTS_ROOM; i++)
		sum->n[i] += after->n[i] - before->n[i];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/events.h"

#include <string.h>

#include "base/alloc.h"

#define NEVER                                                                                      \
	{                                                                                          \
		N_COUNTS                                                                           \
	}

#define PARTS(...)                                                                                 \
	{                                                                                          \
		__VA_ARGS__, N_COUNTS                                                              \
	}

const struct modelled_event modelled_events[] = {
	{ "CPU_CYCLES", PARTS(COUNT_CPU_CYCLES) },
	{ "INST_RETIRED", PARTS(COUNT_INST_RETIRED) },
	{ "INST_SPEC", PARTS(COUNT_INST_RETIRED) },
	{ "STALL_FRONTEND", PARTS(COUNT_STALL_FRONTEND) },
	{ "STALL_BACKEND", PARTS(COUNT_STALL_BACKEND) },
	{ "L1I_CACHE", PARTS(COUNT_L1I_CACHE) },
	{ "L1I_CACHE_REFILL", PARTS(COUNT_L1I_CACHE_REFILL) },
	{ "L1I_TLB", PARTS(COUNT_L1I_TLB) },
	{ "L1I_TLB_REFILL", PARTS(COUNT_L1I_TLB_REFILL) },
	{ "ITLB_WALK", PARTS(COUNT_ITLB_WALK) },
	{ "L1D_CACHE", PARTS(COUNT_L1D_CACHE_RD, COUNT_L1D_CACHE_WR) },
	{ "L1D_CACHE_RD", PARTS(COUNT_L1D_CACHE_RD) },
	{ "L1D_CACHE_WR", PARTS(COUNT_L1D_CACHE_WR) },
	{ "L1D_CACHE_REFILL", PARTS(COUNT_L1D_CACHE_REFILL_RD, COUNT_L1D_CACHE_REFILL_WR) },
	{ "L1D_CACHE_REFILL_RD", PARTS(COUNT_L1D_CACHE_REFILL_RD) },
	{ "L1D_CACHE_REFILL_WR", PARTS(COUNT_L1D_CACHE_REFILL_WR) },
	{ "L1D_CACHE_WB", PARTS(COUNT_L1D_CACHE_WB) },
	{ "L1D_CACHE_INVAL", PARTS(COUNT_L1D_CACHE_INVAL) },
	{ "L1D_TLB", PARTS(COUNT_L1D_TLB_RD, COUNT_L1D_TLB_WR) },
	{ "L1D_TLB_RD", PARTS(COUNT_L1D_TLB_RD) },
	{ "L1D_TLB_WR", PARTS(COUNT_L1D_TLB_WR) },
	{ "L1D_TLB_REFILL", PARTS(COUNT_L1D_TLB_REFILL_RD, COUNT_L1D_TLB_REFILL_WR) },
	{ "L1D_TLB_REFILL_RD", PARTS(COUNT_L1D_TLB_REFILL_RD) },
	{ "L1D_TLB_REFILL_WR", PARTS(COUNT_L1D_TLB_REFILL_WR) },
	{ "L2D_TLB", PARTS(COUNT_L2D_TLB) },
	{ "L2D_TLB_REFILL", PARTS(COUNT_L2D_TLB_REFILL) },
	{ "DTLB_WALK", PARTS(COUNT_DTLB_WALK) },
	{ "L2D_CACHE", PARTS(COUNT_L2D_CACHE_RD, COUNT_L2D_CACHE_WR) },
	{ "L2D_CACHE_RD", PARTS(COUNT_L2D_CACHE_RD) },
	{ "L2D_CACHE_WR", PARTS(COUNT_L2D_CACHE_WR) },
	{ "L2D_CACHE_REFILL", PARTS(COUNT_L2D_CACHE_REFILL_RD, COUNT_L2D_CACHE_REFILL_WR) },
	{ "L2D_CACHE_REFILL_RD", PARTS(COUNT_L2D_CACHE_REFILL_RD) },
	{ "L2D_CACHE_REFILL_WR", PARTS(COUNT_L2D_CACHE_REFILL_WR) },
	{ "L2D_CACHE_WB", PARTS(COUNT_L2D_CACHE_WB) },
	{ "L2D_CACHE_INVAL", PARTS(COUNT_L2D_CACHE_INVAL) },
	{ "L2D_CACHE_ALLOCATE", NEVER }, /* the L2 gets nothing that it did not ask for */
	{ "L3D_CACHE", NEVER },		 /* no cluster has a cache of its own */
	{ "L3D_CACHE_REFILL", NEVER },
	{ "L3D_CACHE_ALLOCATE", NEVER },
	{ "LL_CACHE_RD", PARTS(COUNT_LL_CACHE_RD) },
	{ "LL_CACHE_MISS_RD", PARTS(COUNT_LL_CACHE_MISS_RD) },
	{ "BUS_ACCESS", PARTS(COUNT_BUS_ACCESS_RD, COUNT_BUS_ACCESS_WR) },
	{ "BUS_ACCESS_RD", PARTS(COUNT_BUS_ACCESS_RD) },
	{ "BUS_ACCESS_WR", PARTS(COUNT_BUS_ACCESS_WR) },
	{ "MEM_ACCESS", PARTS(COUNT_L1D_CACHE_RD, COUNT_L1D_CACHE_WR) },
	{ "MEM_ACCESS_RD", PARTS(COUNT_L1D_CACHE_RD) },
	{ "MEM_ACCESS_WR", PARTS(COUNT_L1D_CACHE_WR) },
	{ "UNALIGNED_LD_SPEC", PARTS(COUNT_UNALIGNED_LD_SPEC) },
	{ "UNALIGNED_ST_SPEC", PARTS(COUNT_UNALIGNED_ST_SPEC) },
	{ "UNALIGNED_LDST_SPEC", PARTS(COUNT_UNALIGNED_LD_SPEC, COUNT_UNALIGNED_ST_SPEC) },
	{ "BR_RETIRED", PARTS(COUNT_BR_NOT_TAKEN, COUNT_BR_TAKEN) },
	{ "BR_PRED", PARTS(COUNT_BR_NOT_TAKEN, COUNT_BR_TAKEN) },
	{ "BR_MIS_PRED", PARTS(COUNT_BR_MIS_PRED_RETIRED) },
	{ "BR_MIS_PRED_RETIRED", PARTS(COUNT_BR_MIS_PRED_RETIRED) },
	{ "BR_IMMED_SPEC", PARTS(COUNT_BR_IMMED_SPEC) },
	{ "BR_RETURN_SPEC", PARTS(COUNT_BR_RETURN_SPEC) },
	/* returns are indirect branches, too */
	{ "BR_INDIRECT_SPEC", PARTS(COUNT_BR_INDIRECT_SPEC, COUNT_BR_RETURN_SPEC) },
	{ "PC_WRITE_SPEC", PARTS(COUNT_BR_TAKEN) },
	{ "DP_SPEC", PARTS(COUNT_DP_SPEC) },
	{ "LD_SPEC", PARTS(COUNT_LD_SPEC) },
	{ "ST_SPEC", PARTS(COUNT_ST_SPEC) },
	{ "ASE_SPEC", PARTS(COUNT_ASE_SPEC) },
	{ "VFP_SPEC", PARTS(COUNT_VFP_SPEC) },
	{ "CRYPTO_SPEC", PARTS(COUNT_CRYPTO_SPEC) },
	{ "DMB_SPEC", PARTS(COUNT_DMB_SPEC) },
	{ "DSB_SPEC", PARTS(COUNT_DSB_SPEC) },
	{ "ISB_SPEC", PARTS(COUNT_ISB_SPEC) },
	{ "SAMPLE_POP", PARTS(COUNT_INST_RETIRED) },
	{ "SAMPLE_FEED", PARTS(COUNT_SAMPLE_FEED) },
	{ "SAMPLE_FILTRATE", PARTS(COUNT_SAMPLE_FILTRATE) },
	{ "SAMPLE_COLLISION", PARTS(COUNT_SAMPLE_COLLISION) },
};

const size_t n_modelled_events = COUNT(modelled_events);

uint64_t modelled_event_sum(const struct modelled_event *event, const struct counts *counts)
{
	uint64_t sum = 0;

	for (const uint16_t *part = event->parts; *part != N_COUNTS; part++)
		sum += counts->n[*part];
	return sum;
}

const struct modelled_event *modelled_event_find(const char *name)
{
	for (size_t i = 0; i < n_modelled_events; i++)
		if (strcmp(modelled_events[i].name, name) == 0)
			return &modelled_events[i];
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/data_src.h"

#include <linux/perf_event.h>
#include <stddef.h>

#include "base/alloc.h"

unsigned data_src_access(uint64_t data_src)
{
	const union perf_mem_data_src source = { .val = data_src };
	unsigned access = 0;

	if (source.mem_op & PERF_MEM_OP_LOAD)
		access |= DATA_LOAD;
	if (source.mem_op & PERF_MEM_OP_STORE)
		access |= DATA_STORE;
	if (access != 0 && source.mem_lock & PERF_MEM_LOCK_LOCKED)
		access |= DATA_LOCKED;
	return access;
}

/* Levels of samples, nearest to what the record says first. */
static const struct {
	uint64_t level; /* PERF_MEM_LVL_… */
	enum source_level source;
} sample_levels[] = {
	{ PERF_MEM_LVL_L1 | PERF_MEM_LVL_LFB, SOURCE_L1 },
	{ PERF_MEM_LVL_L2, SOURCE_L2 },
	{ PERF_MEM_LVL_L3, SOURCE_SYSTEM_CACHE },
	{ PERF_MEM_LVL_LOC_RAM, SOURCE_DRAM },
	{ PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2, SOURCE_REMOTE_DRAM },
	{ PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2, SOURCE_REMOTE },
	{ PERF_MEM_LVL_IO | PERF_MEM_LVL_UNC, SOURCE_DEVICE },
};

enum source_level data_src_level(uint64_t data_src)
{
	const union perf_mem_data_src source = { .val = data_src };

	if (!(source.mem_lvl & PERF_MEM_LVL_HIT))
		return SOURCE_UNKNOWN;
	for (size_t i = 0; i < COUNT(sample_levels); i++)
		if (source.mem_lvl & sample_levels[i].level)
			return sample_levels[i].source;
	return SOURCE_UNKNOWN;
}

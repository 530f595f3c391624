/* SPDX-License-Identifier: Apache-2.0 */
/* The data source of memory samples: union perf_mem_data_src of linux/perf_event.h. */
#ifndef CYCLOPS_ACCESS_DATA_SRC_H
#define CYCLOPS_ACCESS_DATA_SRC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "cpu/cpu.h"

/*
 * Bits of the fields of union perf_mem_data_src (docs/reference/perf-data.md, section 3.5). They
 * are defined here because older kernel headers lack some.
 */
enum {
	DATA_SRC_OP_LOAD = 2,
	DATA_SRC_OP_STORE = 4,
	DATA_SRC_LEVEL_NA = 1,
	DATA_SRC_LEVEL_HIT = 2,
	DATA_SRC_LEVEL_MISS = 4,
	DATA_SRC_LEVEL_L1 = 8,
	DATA_SRC_LEVEL_FILL_BUFFER = 0x10,
	DATA_SRC_LEVEL_L2 = 0x20,
	DATA_SRC_LEVEL_L3 = 0x40,
	DATA_SRC_LEVEL_LOCAL_RAM = 0x80,
	DATA_SRC_LEVEL_REMOTE_RAM1 = 0x100, /* one hop */
	DATA_SRC_LEVEL_REMOTE_RAM2 = 0x200, /* two hops */
	DATA_SRC_LEVEL_REMOTE_RAM = 0x300,
	DATA_SRC_LEVEL_REMOTE_CACHE1 = 0x400,
	DATA_SRC_LEVEL_REMOTE_CACHE2 = 0x800,
	DATA_SRC_LEVEL_REMOTE_CACHE = 0xc00,
	DATA_SRC_LEVEL_IO = 0x1000,
	DATA_SRC_LEVEL_UNCACHED = 0x2000,
	DATA_SRC_SNOOP_NONE = 2,
	DATA_SRC_SNOOP_HIT = 4,
	DATA_SRC_SNOOP_MISS = 8,
	DATA_SRC_SNOOP_HITM = 0x10,
	DATA_SRC_SNOOPX_FORWARD = 1,
	DATA_SRC_SNOOPX_PEER = 2,
	DATA_SRC_LOCK_LOCKED = 2,
	DATA_SRC_TLB_HIT = 2,
	DATA_SRC_TLB_MISS = 4,
	DATA_SRC_TLB_L1 = 8,
	DATA_SRC_TLB_L2 = 0x10,
	DATA_SRC_TLB_WALKER = 0x20,
	DATA_SRC_TLB_OS = 0x40,
	DATA_SRC_BLOCK_DATA = 2,
	DATA_SRC_BLOCK_ADDRESS = 4,
};

struct data_src {
	unsigned op, level, snoop, lock, tlb, level_number, snoopx, block;
	bool has_remote; /* mem_remote is set */
	bool is_remote;	 /* the same, without mem_hops, which may be a core of the same node */
};

static inline struct data_src data_src_read(uint64_t v)
{
	return (struct data_src){
		.op = v & 0x1f,
		.level = v >> 5 & 0x3fff,
		.snoop = v >> 19 & 0x1f,
		.lock = v >> 24 & 3,
		.tlb = v >> 26 & 0x7f,
		.level_number = v >> 33 & 0xf,
		.has_remote = (v >> 37 & 1) != 0,
		.snoopx = v >> 38 & 3,
		.block = v >> 40 & 7,
		.is_remote = (v >> 37 & 1) != 0 && (v >> 43 & 7) == 0,
	};
}

enum data_access {
	DATA_LOAD = 1,
	DATA_STORE = 2,
	DATA_LOCKED = 4, /* an atomic operation: set beside one of the others */
};

/* Bits of enum data_access; 0: no access, or not known which. */
unsigned data_src_access(uint64_t data_src);

/*
 * The level that the access hit ("L2", "remote-DRAM"). Where only a miss is recorded, the level
 * that it missed ("L1-miss", with SOURCE_UNKNOWN as its level). NULL: neither is recorded. The
 * result is constant, and equal sources have equal addresses.
 */
const struct cpu_source *data_src_source(uint64_t data_src);

/* The level that the access hit; SOURCE_UNKNOWN if no hit is recorded. */
enum source_level data_src_level(uint64_t data_src);

/* Is there a source of this name? Case does not matter. */
bool data_src_is_name(const char *name);

/*
 * The facts beside the level, as a set of bits: address translation, snoop, lock, blocked. Bits of
 * "not available" are left out, so that sets are equal if they mean the same. Two more bits are as
 * in SPE records: SPE_EV_TLB_ACCESS, translation is recorded; SPE_EV_TLB_WALK, it took a page table
 * walk.
 */
uint64_t data_src_facts(uint64_t data_src);

/* Appends the facts in words: "TLB-L2:HITM:LOCKED"; nothing if there are none. */
void data_src_facts_text(uint64_t facts, char separator, struct text *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "access/data_src.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "spe/packet.h"

unsigned data_src_access(uint64_t data_src)
{
	const struct data_src source = data_src_read(data_src);
	unsigned access = 0;

	if (source.op & DATA_SRC_OP_LOAD)
		access |= DATA_LOAD;
	if (source.op & DATA_SRC_OP_STORE)
		access |= DATA_STORE;
	if (access != 0 && source.lock & DATA_SRC_LOCK_LOCKED)
		access |= DATA_LOCKED;
	return access;
}

/* `at` orders the sources of one level. */
#define SOURCE(at, its_name, its_level)                                                            \
	{                                                                                          \
		.value = (at), .name = (its_name), .level = SOURCE_##its_level                     \
	}

/* Sources by the bits of mem_lvl. The first row whose bit is set names the source. */
static const struct {
	uint64_t level; /* DATA_SRC_LEVEL_… */
	struct cpu_source hit, miss;
} levels[] = {
	{ DATA_SRC_LEVEL_L1, SOURCE(1, "L1", L1), SOURCE(1, "L1-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_FILL_BUFFER, SOURCE(2, "LFB", L1), SOURCE(2, "LFB-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_L2, SOURCE(1, "L2", L2), SOURCE(3, "L2-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_L3, SOURCE(1, "L3", SYSTEM_CACHE), SOURCE(4, "L3-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_LOCAL_RAM, SOURCE(1, "DRAM", DRAM), SOURCE(5, "DRAM-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_REMOTE_RAM1, SOURCE(1, "remote-DRAM", REMOTE_DRAM),
	  SOURCE(6, "remote-DRAM-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_REMOTE_RAM2, SOURCE(2, "remote-DRAM-2hops", REMOTE_DRAM),
	  SOURCE(7, "remote-DRAM-2hops-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_REMOTE_CACHE1, SOURCE(1, "remote-cache", REMOTE),
	  SOURCE(8, "remote-cache-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_REMOTE_CACHE2, SOURCE(2, "remote-cache-2hops", REMOTE),
	  SOURCE(9, "remote-cache-2hops-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_IO, SOURCE(1, "IO", DEVICE), SOURCE(10, "IO-miss", UNKNOWN) },
	{ DATA_SRC_LEVEL_UNCACHED, SOURCE(2, "uncached", DEVICE),
	  SOURCE(11, "uncached-miss", UNKNOWN) },
};

/*
 * Sources by mem_lvl_num, which newer kernels fill instead; mem_remote selects `far`. The numbers
 * are those of perf_event.h. They stand here because older headers lack some.
 */
static const struct {
	uint8_t number;
	struct cpu_source near, far;
} numbered_levels[] = {
	{ 0x7, SOURCE(3, "L0", L1), SOURCE(3, "remote-L0", REMOTE) },
	{ 0x1, SOURCE(4, "L1", L1), SOURCE(4, "remote-L1", REMOTE) },
	{ 0xc, SOURCE(5, "LFB", L1), SOURCE(5, "remote-LFB", REMOTE) },
	{ 0x2, SOURCE(2, "L2", L2), SOURCE(6, "remote-L2", REMOTE) },
	{ 0x5, SOURCE(3, "L2-MHB", L2), SOURCE(7, "remote-L2-MHB", REMOTE) },
	{ 0x3, SOURCE(2, "L3", SYSTEM_CACHE), SOURCE(8, "remote-L3", REMOTE) },
	{ 0x4, SOURCE(3, "L4", SYSTEM_CACHE), SOURCE(9, "remote-L4", REMOTE) },
	{ 0x6, SOURCE(4, "MSC", SYSTEM_CACHE), SOURCE(10, "remote-MSC", REMOTE) },
	{ 0xb, SOURCE(5, "any-cache", SYSTEM_CACHE), SOURCE(11, "remote-cache", REMOTE) },
	{ 0xd, SOURCE(2, "DRAM", DRAM), SOURCE(3, "remote-DRAM", REMOTE_DRAM) },
	{ 0xe, SOURCE(3, "PMEM", DRAM), SOURCE(4, "remote-PMEM", REMOTE_DRAM) },
	{ 0x9, SOURCE(4, "CXL", DRAM), SOURCE(5, "remote-CXL", REMOTE_DRAM) },
	{ 0xa, SOURCE(3, "IO", DEVICE), SOURCE(5, "remote-IO", DEVICE) },
	{ 0x8, SOURCE(4, "uncached", DEVICE), SOURCE(6, "remote-uncached", DEVICE) },
};

/* A name that stands in both tables is one source: that of the first table. */
static const struct cpu_source *canonical(const struct cpu_source *source)
{
	for (size_t i = 0; i < COUNT(levels); i++)
		if (strcmp(levels[i].hit.name, source->name) == 0)
			return &levels[i].hit;
	return source;
}

static const struct cpu_source *source_of_number(const struct data_src *s)
{
	for (size_t i = 0; i < COUNT(numbered_levels); i++)
		if (s->level_number == numbered_levels[i].number)
			return canonical(s->has_remote ? &numbered_levels[i].far
						       : &numbered_levels[i].near);
	return NULL;
}

const struct cpu_source *data_src_source(uint64_t data_src)
{
	const uint64_t outcomes = DATA_SRC_LEVEL_NA | DATA_SRC_LEVEL_HIT | DATA_SRC_LEVEL_MISS;
	const struct data_src s = data_src_read(data_src);

	for (size_t i = 0; i < COUNT(levels); i++) {
		if (!(s.level & levels[i].level))
			continue;
		if (s.level & DATA_SRC_LEVEL_HIT)
			return &levels[i].hit;
		if (s.level & DATA_SRC_LEVEL_MISS)
			return &levels[i].miss;
	}
	/* mem_lvl_num names a hit, unless mem_lvl has a miss alone. */
	if ((s.level & outcomes) == DATA_SRC_LEVEL_MISS)
		return NULL;
	return source_of_number(&s);
}

enum source_level data_src_level(uint64_t data_src)
{
	const struct cpu_source *source = data_src_source(data_src);

	return source == NULL ? SOURCE_UNKNOWN : source->level;
}

bool data_src_is_name(const char *name)
{
	for (size_t i = 0; i < COUNT(levels); i++)
		if (strcasecmp(levels[i].hit.name, name) == 0 ||
		    strcasecmp(levels[i].miss.name, name) == 0)
			return true;
	for (size_t i = 0; i < COUNT(numbered_levels); i++)
		if (strcasecmp(numbered_levels[i].near.name, name) == 0 ||
		    strcasecmp(numbered_levels[i].far.name, name) == 0)
			return true;
	return false;
}

/* Where the fields begin in the union, in bits. */
enum { SNOOP = 19, LOCK = 24, TLB = 26, SNOOPX = 38, BLOCK = 40 };
#define FACT(at, value) ((uint64_t)(value) << (at))

static const struct {
	uint64_t bit;
	const char *word;
} facts[] = {
	{ FACT(TLB, DATA_SRC_TLB_L1), "TLB-L1" },
	{ FACT(TLB, DATA_SRC_TLB_L2), "TLB-L2" },
	{ FACT(TLB, DATA_SRC_TLB_WALKER), "TLB-WALKER" },
	{ FACT(TLB, DATA_SRC_TLB_OS), "TLB-FAULT" },
	{ FACT(TLB, DATA_SRC_TLB_HIT), "TLB-HIT" },
	{ FACT(TLB, DATA_SRC_TLB_MISS), "TLB-MISS" },
	{ FACT(SNOOP, DATA_SRC_SNOOP_NONE), "NO-SNOOP" },
	{ FACT(SNOOP, DATA_SRC_SNOOP_HIT), "SNOOP-HIT" },
	{ FACT(SNOOP, DATA_SRC_SNOOP_MISS), "SNOOP-MISS" },
	{ FACT(SNOOP, DATA_SRC_SNOOP_HITM), "HITM" },
	{ FACT(SNOOPX, DATA_SRC_SNOOPX_FORWARD), "FORWARDED" },
	{ FACT(SNOOPX, DATA_SRC_SNOOPX_PEER), "PEER" },
	{ FACT(LOCK, DATA_SRC_LOCK_LOCKED), "LOCKED" },
	{ FACT(BLOCK, DATA_SRC_BLOCK_DATA), "BLOCKED-DATA" },
	{ FACT(BLOCK, DATA_SRC_BLOCK_ADDRESS), "BLOCKED-ADDRESS" },
};

/*
 * A miss of the last-level TLB took a walk, and so did what the kernel had to handle (TLB-FAULT).
 * Kernels do not set the walker's bit. perf sets it, beside a hit or a miss, in samples that it
 * makes of SPE records; of these, only a miss took a walk.
 */
static uint64_t data_src_translation(const struct data_src *s)
{
	const unsigned last = DATA_SRC_TLB_L2 | DATA_SRC_TLB_WALKER;
	bool is_miss = (s->tlb & DATA_SRC_TLB_MISS) && (s->tlb & last);
	uint64_t is_walk = is_miss || s->tlb & DATA_SRC_TLB_OS;

	if (!(s->tlb & (DATA_SRC_TLB_HIT | DATA_SRC_TLB_MISS)))
		return 0;
	return (uint64_t)1 << SPE_EV_TLB_ACCESS | is_walk << SPE_EV_TLB_WALK;
}

uint64_t data_src_facts(uint64_t data_src)
{
	const struct data_src s = data_src_read(data_src);
	uint64_t bits = 0;

	for (size_t i = 0; i < COUNT(facts); i++)
		bits |= data_src & facts[i].bit;
	return bits | data_src_translation(&s);
}

void data_src_facts_text(uint64_t bits, char separator, struct text *out)
{
	bool is_first = true;

	for (size_t i = 0; i < COUNT(facts); i++) {
		if (!(bits & facts[i].bit))
			continue;
		if (!is_first)
			text_char(out, separator);
		text_str(out, facts[i].word);
		is_first = false;
	}
}

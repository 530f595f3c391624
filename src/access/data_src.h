/* SPDX-License-Identifier: Apache-2.0 */
/* What samples of memory events say of their access: union perf_mem_data_src of perf_event.h. */
#ifndef CYCLOPS_ACCESS_DATA_SRC_H
#define CYCLOPS_ACCESS_DATA_SRC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "cpu/cpu.h"

enum data_access {
	DATA_LOAD = 1,
	DATA_STORE = 2,
	DATA_LOCKED = 4, /* an atomic operation, which is one of the others, too */
};

/* Bits of enum data_access; 0: it is no access, or not known. */
unsigned data_src_access(uint64_t data_src);

/*
 * Where it hit ("L2", "remote-DRAM"), or what it missed without saying where it hit ("L1-miss",
 * of no level); NULL: it tells neither. Constant: equal sources have equal addresses.
 */
const struct cpu_source *data_src_source(uint64_t data_src);

/* The level of it, SOURCE_UNKNOWN if it did not hit or that is not told. */
enum source_level data_src_level(uint64_t data_src);

/* Is there a source of this name, whatever its case? */
bool data_src_is_name(const char *name);

/*
 * What else it says, as a word: how the address was translated, what the other caches had,
 * whether it was locked or blocked. What it does not tell leaves no trace: words are equal if
 * they say the same. The bits SPE_EV_TLB_ACCESS and SPE_EV_TLB_WALK are as in SPE records:
 * translation is told at all, and tables were walked.
 */
uint64_t data_src_facts(uint64_t data_src);

/* Appends them in words: "TLB-L2:HITM:LOCKED"; nothing if there are none. */
void data_src_facts_text(uint64_t facts, char separator, struct text *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The smaller tables of mem/answer.h, each from a result of the scan. */
#ifndef CYCLOPS_MEM_PARTS_H
#define CYCLOPS_MEM_PARTS_H

#include "access/vector_length.h"
#include "estimate/clock.h"
#include "mem/rows.h"

/* What translation costs: with and without a walk. `mem` is grouped by events. True: there are walks. */
bool mem_translation_table(const struct mem *, struct table *out);

/* How often each set of events was seen. `mem` is grouped by events. */
void mem_events_table(const struct mem *, size_t top, struct table *out);

/* What the whole selection adds up to. */
struct mem_region {
	const struct mem_set *set; /* for the times of threads: derived latency */
	const struct mem_rows *rows;
	const struct core_clock *clock;
	const struct vector_length *vectors; /* NULL: no bytes depend on it */
	uint32_t vector_bits;		     /* given; 0: not */
	const struct select *select;	     /* that the records passed; NULL: all did */
	const char *name;		     /* NULL: everything */
};
void mem_region_table(const struct mem_region *, struct table *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Address translation: two levels of TLBs, and page table walks. */
#ifndef CYCLOPS_MODEL_TLB_H
#define CYCLOPS_MODEL_TLB_H

#include <stdbool.h>

#include "model/assoc.h"
#include "model/frames.h"
#include "model/memory.h"

enum { TLB_WALKS = 4 }; /* for data, whose end is known */

/* A CPU's TLBs. */
struct tlbs {
	struct assoc itlb, dtlb; /* fully associative */
	struct assoc l2;	 /* unified */
	uint64_t last_page;	 /* the last page that missed the DTLB */
	int64_t last_step;	 /* pages from the miss before to that one */

	/* The last walks for loads and stores: until then others wait for that page, too. */
	struct {
		uint64_t key, end;
	} walks[TLB_WALKS];
	unsigned n_walks;
	uint64_t last_end; /* of all of them */
};

void tlbs_init(struct tlbs *, const struct params *);
void tlbs_release(struct tlbs *);

/* Invalidates the pages from `start` to before `end`. */
void tlbs_invalidate(struct tlbs *, uint32_t process, uint64_t start, uint64_t end);

/* Invalidates all pages of a process. */
void tlbs_invalidate_process(struct tlbs *, uint32_t process);

/* The outcome of a translation. */
struct translation {
	uint64_t pa;
	uint64_t cycles; /* 1: a hit in the ITLB or DTLB */
	bool walked;	 /* by a page table walk */
};

enum translation_kind { TRANSLATE_LOAD, TRANSLATE_STORE, TRANSLATE_FETCH };

/* Translates a virtual address of a process for a CPU, at cycle `time`. */
struct translation tlb_translate(struct tlbs *, struct frames *, struct memory *, unsigned cpu,
				 uint32_t process, uint64_t va, enum translation_kind,
				 uint64_t time);

/*
 * Translates an address for a hardware prefetch: a page that misses the TLBs is added to the L2
 * TLB.
 */
uint64_t tlb_prefetch(struct tlbs *, struct frames *, struct memory *, unsigned cpu,
		      uint32_t process, uint64_t va, uint64_t time);

#endif

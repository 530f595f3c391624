/* SPDX-License-Identifier: Apache-2.0 */
/* Address translation: two levels of TLBs, and page table walks. */
#ifndef CYCLOPS_MODEL_TLB_H
#define CYCLOPS_MODEL_TLB_H

#include <stdbool.h>

#include "model/assoc.h"
#include "model/frames.h"
#include "model/memory.h"

/* A CPU's TLBs. */
struct tlbs {
	struct assoc itlb, dtlb; /* of one set */
	struct assoc l2;	 /* for both */
	uint64_t last_page;	 /* that the data TLB missed */
	int64_t last_step;	 /* from the one before */
};

void tlbs_init(struct tlbs *, const struct params *);
void tlbs_release(struct tlbs *);

/* Forgets what is known of pages between `start` and `end`. */
void tlbs_forget(struct tlbs *, uint32_t process, uint64_t start, uint64_t end);

/* The same of all pages of a process. */
void tlbs_forget_process(struct tlbs *, uint32_t process);

/* The outcome of a translation. */
struct translation {
	uint64_t pa;
	uint64_t cycles; /* 1 if the first level had it */
	bool walked;
};

enum translation_kind { TRANSLATE_LOAD, TRANSLATE_STORE, TRANSLATE_FETCH };

/* Translates an address of a process for a CPU at cycle `time`. */
struct translation tlb_translate(struct tlbs *, struct frames *, struct memory *, unsigned cpu,
				 uint32_t process, uint64_t va, enum translation_kind,
				 uint64_t time);

/*
 * Translates an address for a prefetcher: no one waits for it. A page that no TLB knows comes
 * into the second level.
 */
uint64_t tlb_prefetch(struct tlbs *, struct frames *, struct memory *, unsigned cpu,
		      uint32_t process, uint64_t va, uint64_t time);

#endif

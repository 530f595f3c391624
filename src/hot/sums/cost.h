/* SPDX-License-Identifier: Apache-2.0 */
/* What records come to. */
#ifndef CYCLOPS_HOT_SUMS_COST_H
#define CYCLOPS_HOT_SUMS_COST_H

#include <stdint.h>

/*
 * The sums of a group. All its records are of one event: samples, SPE records, or branch entries.
 * There may be millions of groups, so numbers of records have 32 bits: 256 GiB of SPE records.
 */
struct hot_cost {
	union {
		uint64_t period; /* samples: events they stand for */
		uint64_t cycles; /* SPE: sum of total latencies; branch entries: cycles since the
				    branch before. Of the n_cycles records that have it */
	};
	union {
		uint64_t xlat_cycles; /* SPE: translation latency of those with a walk */
		uint64_t
			scaled; /* samples: `period` scaled, in 1 / HOT_SCALED_UNIT; 0 without mux */
		uint64_t n_decidable; /* branch entries that could be tested for the condition */
	};
	uint64_t squares;  /* SPE: sum of the squares of total latencies, for their variance */
	uint64_t full;	   /* SPE: the part of `cycles` by saturated counters */
	uint32_t n;	   /* records or samples; branch entries that match the condition */
	uint32_t n_cycles; /* those of them that `cycles` is the sum of */
	union {
		uint32_t n_saturated; /* SPE: counter was full, so `cycles` is a lower bound */
		uint32_t n_typed;     /* branch entries with a kind of branch */
	};
	union {
		uint32_t n_walks;     /* SPE: with a translation table walk */
		uint32_t n_predicted; /* branch entries that say whether they were predicted */
	};
	uint32_t n_branches, n_mispredicted; /* SPE; all branch entries, matching or not */
};

/* Scaled numbers of events have fractions of this: sums of whole numbers are the same in any order. */
enum { HOT_SCALED_UNIT = 256 };

static inline void hot_cost_add(struct hot_cost *to, const struct hot_cost *from)
{
	to->n += from->n;
	to->cycles += from->cycles; /* in a union with the period of samples */
	to->squares += from->squares;
	to->full += from->full;
	to->n_cycles += from->n_cycles;
	to->n_saturated += from->n_saturated;
	to->n_walks += from->n_walks;
	to->xlat_cycles += from->xlat_cycles;
	to->n_branches += from->n_branches;
	to->n_mispredicted += from->n_mispredicted;
}

#endif

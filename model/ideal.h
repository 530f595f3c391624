/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idealisations: one resource of the modelled machine is perfect. Programs compute the same; only
 * the cycles change.
 */
#ifndef CYCLOPS_MODEL_IDEAL_H
#define CYCLOPS_MODEL_IDEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

enum ideal_bit {
	IDEAL_L1D = 1 << 0,	       /* loads and stores hit the L1D */
	IDEAL_L2 = 1 << 1,	       /* what misses a first-level cache hits the L2 */
	IDEAL_LLC = 1 << 2,	       /* what misses the L2 hits the last-level cache */
	IDEAL_DRAM = 1 << 3,	       /* DRAM has the latency of the last-level cache */
	IDEAL_DRAM_BANDWIDTH = 1 << 4, /* no gap between lines from DRAM */
	IDEAL_LLC_HITS = 1 << 5,       /* the last-level cache has the latency of the L2 */
	IDEAL_L2_HITS = 1 << 6,	       /* the L2 has the latency of the L1D */
	IDEAL_PAGE_WALKS = 1 << 7,     /* the second-level TLB has every page */
	IDEAL_HUGE_PAGES = 1 << 8,     /* data lies in pages of 2 MiB */
	IDEAL_BRANCHES = 1 << 9,       /* every branch is predicted */
	IDEAL_FETCH = 1 << 10,	       /* instruction fetch takes no time */
	IDEAL_COHERENCE = 1 << 11,     /* lines that another CPU invalidated hit the L1D */
	IDEAL_ORDERING = 1 << 12,      /* barriers, acquire, release and atomics wait for nothing */
	IDEAL_ARITHMETIC = 1 << 13,    /* one cycle for all but loads, stores, system operations */
	IDEAL_MISSES = 1 << 14,	       /* any number of misses are outstanding */
	IDEAL_WINDOW = 1 << 15,	       /* any number of instructions are in flight */
	IDEAL_WIDTH = 1 << 16,	       /* any number of instructions are dispatched in a cycle */
	IDEAL_NO_PREFETCH = 1 << 17,   /* the prefetchers are off */
	IDEAL_UNITS = 1 << 18,	       /* any number of execution units */
	IDEAL_DTLB = 1 << 19,	       /* the first-level TLB for data has every page */
	IDEAL_ARITHMETIC_LATENCY = 1 << 20, /* IDEAL_ARITHMETIC, but units stay as busy */
	IDEAL_DIVISION = 1 << 21,	    /* divisions and roots are as fast as multiplications */
	IDEAL_OVERLAP_2 = 1 << 22,	    /* a miss takes a part of its time: several at a time */
	IDEAL_OVERLAP_4 = 1 << 23,
	IDEAL_OVERLAP_8 = 1 << 24,
	IDEAL_OVERLAP_16 = 1 << 25,
	IDEAL_FORWARDING = 1 << 26,   /* a load of what was just stored has it at once */
	IDEAL_INSTRUCTIONS = 1 << 27, /* other instructions do the same: ideal.instructions */
};

/* An idealisation as users name it. */
struct idealisation {
	const char *name;  /* "dram" */
	const char *title; /* "DRAM (as fast as LLC)" */
	uint32_t bit;
	bool is_core_limit; /* every core has this limit: only fewer instructions would help */
};

/* All idealisations, in the order of tables. */
extern const struct idealisation idealisations[];
extern const size_t n_idealisations;

/* "instructions-F" is kept in thousandths; its limits. */
enum { IDEAL_THOUSAND = 1000, IDEAL_INSTRUCTIONS_LEAST = 10, IDEAL_INSTRUCTIONS_MOST = 16000 };

/* Addresses from `start` to before `end`. */
struct ideal_range {
	uint64_t start, end;
};

/* What is perfect, and for which instructions: those in the ranges, or without ranges all. */
struct ideal {
	const char *name;      /* as the user typed it; borrowed */
	uint32_t bits;	       /* enum ideal_bit; 0: the machine as it is */
	uint32_t instructions; /* IDEAL_INSTRUCTIONS: as many by what is executed, in thousandths */
	VEC_OF(struct ideal_range) ranges;
};

/* The bits that hold for an instruction at `pc`. */
static inline uint32_t ideal_at(const struct ideal *ideal, uint64_t pc)
{
	if (ideal->ranges.n == 0)
		return ideal->bits;
	for (size_t i = 0; i < ideal->ranges.n; i++)
		if (pc - ideal->ranges.items[i].start <
		    ideal->ranges.items[i].end - ideal->ranges.items[i].start)
			return ideal->bits;
	return 0;
}

/* The binary logarithm of how many misses are under way at a time where one was. */
static inline unsigned ideal_overlap_shift(uint32_t bits)
{
	return 1 * ((bits & IDEAL_OVERLAP_2) != 0) + 2 * ((bits & IDEAL_OVERLAP_4) != 0) +
	       3 * ((bits & IDEAL_OVERLAP_8) != 0) + 4 * ((bits & IDEAL_OVERLAP_16) != 0);
}

/*
 * Text form: "BITS=NAME" or "BITS*INSTRUCTIONS:START-END:START-END=NAME", numbers in hexadecimal
 * digits. The name of an ideal that was read is borrowed from the text.
 */
void ideal_write(const struct ideal *, struct text *);
int ideal_read(const char *text, struct ideal *out, struct err *);
void ideal_release(struct ideal *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A region with what was measured of it, for each iteration: by region_cycles.c. Whether
 * units limit it: by region_units.c. How its accesses walk through memory: by region_walks.c. What it waits
 * for: by judge.c.
 */
#ifndef CYCLOPS_BOTTLENECK_JUDGED_H
#define CYCLOPS_BOTTLENECK_JUDGED_H

#include "bottleneck/inside.h"

enum {
	HIT_CYCLES = 4, /* of a load that finds its data in the L1D */
	LEAST_HERE = 5, /* records of an instruction that something is concluded from */
	LINE = 64,
	TRANSLATED = 1, /* of a translation that the first-level TLB has */
};

/* All numbers are for each iteration, in cycles where nothing else is said. */
struct judged {
	const struct bottlenecks *all;
	const struct bottleneck_sums *sums;
	const struct region *region;
	const struct function_insns *f;
	uint32_t number;
	size_t n; /* instructions of the region's range */
	uint64_t n_records;
	double iterations; /* records for each instruction that all iterations have */
	double insns;
	double time, time_ns; /* NAN: not known */
	/* Lost samples may be of this region or of others: it takes so many times `time`, within these. */
	double least_time, most_time;
	double width;
	double chain;
	double *chain_parts;
	/* The chain if what is stored and loaded again in the loop were in registers. */
	double register_chain;
	bool *is_slot;	/* by instruction: such a load or store … */
	double n_slots; /* … executed in an iteration */
	struct loop_address *addresses;
	double mispredictions;
	double n_mispredicted; /* branches */
	double restarts;       /* part of `mispredictions`: without the wait for the branch */
	double branch_waits;   /* part of that: beyond what code without misses takes to a branch */
	double data, walks;    /* latencies beyond those of a hit */
	double by_level[N_SOURCE_LEVELS];
	double latency;	   /* of all accesses, from issue on */
	double prefetches; /* of lines that are prefetched, by what the catalog says */
	double stores;	   /* of lines to store into, by what the catalog says */
	double time_share;
	double divisions; /* if the unit that divides never stands still: what they take; else 0 */
	double division_wait;	 /* the longest of a division for that unit */
	bool has_access_backlog; /* accesses wait for their units longer than an iteration takes */
};

/* What the records of an instruction of the region add up to; all 0 if it is of another region. */
const struct insn_sums *judged_sums(const struct judged *, size_t i);

/* The place of an instruction; UINT32_MAX: it has no records. */
uint32_t judged_place(const struct judged *, size_t i);

/* Its word; 0: the code is not known. */
uint32_t judged_word(const struct judged *, size_t i);

static inline double mean_of(const struct insn_latency *l, double otherwise)
{
	return l->n == 0 ? otherwise : (double)l->cycles / l->n;
}

/* Is it a prefetch of the program? */
bool is_prefetch_word(uint32_t word);

/* UDIV, SDIV; FDIV, FSQRT of scalars; FDIV of vectors. */
bool is_division_word(uint32_t word);

/* Of a region whose chain and latencies are known: what its units limit. */
void judged_measure_units(struct judged *);

/* Loads, atomics; a prefetch is none. */
bool loads_data(const struct insn_sums *);

/* Cycles that the lines of a store or prefetch take, by the catalog: no record tells. */
double judged_store_cycles(const struct judged *, const struct insn_sums *);

/*
 * Fills in what was measured. False if that is too little, and nothing is to be released; else
 * judged_release() is to be called.
 */
bool judged_measure(struct judged *);
void judged_release(struct judged *);

/* Cycles of an iteration: as measured; else no less than the chain and the width. */
double judged_time(const struct judged *);

/* Is it about as fast as the core's width allows? */
bool is_near_width(const struct judged *);

/* Is it the chain around the loop that takes the time? */
bool is_chain_limited(const struct judged *);

/* … and is it one through memory, although registers are free? */
bool is_forwarding_limited(const struct judged *);

/* Do divisions that do not wait for each other have half of the time or more? */
bool is_division_limited(const struct judged *);

/* The same of a load of the chain around the loop. */
enum finding_walk chained_walk(const struct judged *, size_t i);

/* How an access walks through memory: walk, stride, element size. */
void describe_walk(const struct judged *, size_t i, struct finding_loop *out);

/* Of a chain: does it go along columns, too? Interchanged loops have one chain for each of them. */
void describe_columns(const struct judged *, struct finding_loop *out);

/* How many cache lines are on their way at a time, if what moves as this access does is prefetched. */
void describe_lines(const struct judged *, size_t i, struct finding_loop *out);
void describe_bandwidth(const struct judged *, struct finding_loop *out);

/* What may make others of the loop wait, though no latency shows it: atomics, accesses that order others. */
bool find_ordering(const struct judged *, size_t *out_insn);

/*
 * Is there a prefetch of the loop that moves as the load does, whose data still miss the L1D?
 * Hardware tells it of some (LATE-PREFETCH); with others the line is seen on its way.
 */
bool describe_prefetch(const struct judged *, size_t load, struct bottleneck *out);

#endif

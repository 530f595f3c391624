/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of bottleneck.h share: functions, their loops, what is summed up of them. */
#ifndef CYCLOPS_BOTTLENECK_INSIDE_H
#define CYCLOPS_BOTTLENECK_INSIDE_H

#include "access/pattern.h"
#include "bottleneck/bottleneck.h"
#include "bottleneck/chain.h"
#include "estimate/clock.h"
#include "estimate/latency.h"
#include "session/analysis.h"

#define NO_SLOT UINT32_MAX
#define OF_SEVERAL UINT32_MAX /* processes */

/*
 * Sums of latencies; a full counter counts with what it shows at least. struct latency_sum leaves
 * those out: without them the slowest instructions would lose most of their part of a function.
 */
struct insn_latency {
	uint64_t cycles;
	uint32_t n;
};

/* What the records of one instruction add up to. */
struct insn_sums {
	uint64_t n;
	uint64_t n_loads;			 /* loads and atomics; prefetches are none */
	struct insn_latency total, access, xlat; /* access: from issue on, translation included */
	uint64_t n_walks, n_mispredicted, mispredicted_cycles, n_refills, n_llc_misses, n_late;
	uint64_t n_level[N_SOURCE_LEVELS], level_cycles[N_SOURCE_LEVELS]; /* of accesses */
	struct insn_latency level[N_SOURCE_LEVELS]; /* the same without full counters */
	uint64_t n_full[N_SOURCE_LEVELS];
	struct addr_pattern addresses;
	/* Of those: whose memory it is, OF_SEVERAL of no one process; and the first time (data_time()). */
	uint32_t process;
	uint64_t time_ns;
};

/* Times between records that follow each other, in halves: a pair may be of two functions. */
struct pair_sums {
	uint64_t n, half_ns, squares;
	uint64_t n_inside; /* of a function: records of pairs with both in it */
};

/* Numbers by size: exact up to 15, then in eight steps for each doubling. */
enum { SPREAD_BUCKETS = 512 };

struct spread {
	uint64_t n[SPREAD_BUCKETS], sum[SPREAD_BUCKETS];
};

/* Sums over the records of all code. */
struct code_sums {
	uint64_t n, n_full; /* records; those whose latency counter was full */
	uint64_t n_mispredicted, n_store_refills, n_store_llc_misses;
	struct spread cycles; /* total latencies */
	struct spread gap_ns; /* times between records that follow each other in a thread */
	uint32_t *totals;     /* while it is filled: records by total latency */
	unsigned all_totals;  /* all bits of these latencies: none is above */
};

/* A loop inside of a region that is part of it. */
struct inner_loop {
	size_t head, branch;
	double trips; /* each time that it is entered */
};

/* A loop that is looked at, or what else there is of a function. */
struct region {
	uint32_t function;
	bool is_loop;
	size_t head, branch; /* instructions of the function; of its rest: all */
	bool has_outer;	     /* the smallest loop around it is known: … */
	size_t outer_head, outer_branch;
	VEC_OF(struct inner_loop) inner; /* outer ones first */
	struct pair_sums pairs;		 /* with both records in it */
};

struct function_insns {
	struct module_id module;
	uint64_t offset;  /* of its first instruction */
	uint64_t address; /* the same in the module's own file */
	uint32_t place;	  /* one of its places */
	size_t n;	  /* instructions */
	uint32_t *words;
	uint64_t *counts;	/* records by instruction */
	uint32_t *slots;	/* by instruction; NO_SLOT: it has no records */
	uint32_t *regions;	/* by instruction: number of its region */
	bool *is_rare;		/* most iterations of its region do without it */
	bool *is_spine;		/* each iteration of its region has it */
	struct pair_sums pairs; /* half of those with one record in it */
};

/* A place with records. */
struct slot {
	uint32_t place, function, insn;
};

/* What the catalog says of the CPU; of one that it does not know, what it says of any Arm CPU. */
struct bottleneck_cpu {
	double width;		/* instructions a cycle at most */
	double window;		/* instructions that are under way at most */
	double restart_cycles;	/* from a mispredicted branch to the next instructions */
	double refill_cycles;	/* of a line of the L1D, from a cache outside of the core … */
	double llc_miss_cycles; /* … and if that has not got it, so many more */
	uint64_t l1i_lines, itlb_entries; /* that the core holds; 0: not known */
	double lines;			  /* that it can wait for at a time; 0: not known */
};

struct bottlenecks {
	struct session *session;
	struct bottleneck_cpu cpu;
	struct core_clock clock; /* basis CLOCK_UNKNOWN: assumed */
	VEC_OF(struct function_insns) functions;
	VEC_OF(struct region) regions;
	VEC_OF(struct slot) slots;
	uint32_t *slot_of_place;
	uint32_t n_places;
	int late_prefetch; /* bit of that event; -1: the CPU has none */
	struct analysis analysis, clock_pairs;
	VEC_OF(struct bottleneck) found;
	struct bottleneck
		largest; /* of causes that are not among them, the largest time_share * bound */
	struct bottleneck
		unexplained; /* of loops, the largest time_share * cost that no cause explains */
	bool has_largest, has_unexplained;
	bool *is_explained;   /* by function */
	uint64_t n_explained; /* records in loops of which it is known what limits them */
	struct bottleneck_code code;
};

/* Cuts a function into regions, by what its instructions were sampled. */
void regions_cut(struct bottlenecks *, uint32_t function);

/* SPE records of the first scan, at a place. */
struct place_sums {
	uint64_t n, cycles;
};

/* Into how many lines and pages the code goes that most records are of. `places`: by number. */
void code_measure_footprint(struct bottlenecks *, const struct names *,
			    const struct place_sums *places);

/* What an operation takes, and what that can be. */
void code_measure_time(struct bottlenecks *);

void code_sums_init(struct code_sums *);
void code_sums_release(struct code_sums *);

/* Adds the SPE records of a batch. When all are there: code_sums_finish(), before it is merged. */
void code_sums_add(struct code_sums *, const struct batch *);
void code_sums_add_gap(struct code_sums *, uint64_t ns);
void code_sums_finish(struct code_sums *);
void code_sums_merge(struct code_sums *, const struct code_sums *from);

/* Result of the scan; options: struct bottlenecks. */
struct bottleneck_sums {
	const struct bottlenecks *plan;
	struct insn_sums *slots;
	struct pair_sums *regions, *functions, all;
	struct code_sums code;

	/* The last address of each slot, and in which stretch that was: rows of a batch that are of one buffer. */
	struct {
		uint64_t address, stretch;
	} * last;
	uint64_t n_stretches;
};

extern const struct analysis_class bottleneck_class;

#endif

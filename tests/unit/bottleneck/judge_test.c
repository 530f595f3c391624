/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop waits for: sums of records that were made up, and the cause that has most of the time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

enum { RECORDS = 200, PAIRS = 100, MOST_SUMS = 3, FAR = 1 << 22 };

/* 2.8 GHz is assumed. */
static const double ghz = 2.8;

/* Sums of an instruction: means over its records. */
struct given {
	size_t insn;
	unsigned access, xlat;
	enum source_level level; /* SOURCE_UNKNOWN: it loads nothing, but for is_load */
	unsigned refills, llc_misses, mispredicted; /* of 100 records */
	unsigned mispredicted_cycles;		    /* of each */
	uint64_t span;				    /* of its addresses; 0: not known */
	unsigned total;				    /* from dispatch on; 0: not known */
	bool is_load;				    /* from a level that is not known */
};

/* The first bottleneck. Without is_found there is none. */
struct wanted {
	bool is_found;
	enum bottleneck_cause cause;
	size_t insn;
	double least_cost, most_cost;
	enum finding_walk walk;
	bool is_division, is_contended, lacks_lines;
	double bound;	    /* to a hundredth; 0: it is `cost` or more */
	double unexplained; /* part of the loop; 0: not asked */
	double left;	    /* bound of the largest cause that is no finding; 0: not asked */
};

static const struct {
	const char *what;
	uint32_t words[MOST_INSNS];
	double cycles; /* of an iteration; 0: not known */
	struct given given[MOST_SUMS];
	struct wanted wanted;
	struct lost_samples lost;
} cases[] = {
	{ "ldr x0, [x0] from the system cache",
	  { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  100,
	  { { 0, 110, 1, SOURCE_SYSTEM_CACHE, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.95, 1, WALK_CHASE } },
	{ "the same, of a CPU whose data sources are not known: no chain of calculations",
	  { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  100,
	  { { 0, 110, 1, SOURCE_UNKNOWN, 100, 100, 0, 0, FAR, .is_load = true } },
	  { true, BOTTLENECK_DATA, 0, 0.95, 1, WALK_CHASE } },
	{ "the same, times not known",
	  { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  0,
	  { { 0, 110, 1, SOURCE_SYSTEM_CACHE, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.95, 1, WALK_CHASE } },
	{ "ldr x4, [x3, x0, lsl #3]; eor x0, x4, x4, lsr #7",
	  { 0xf8607864, 0xca441c80, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  100,
	  { { 0, 110, 1, SOURCE_SYSTEM_CACHE, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.9, 1, WALK_LOOKUP } },
	{ "a line that another core takes",
	  { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  100,
	  { { 0, 110, 1, SOURCE_PEER_CORE, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.95, 1, WALK_CHASE, .is_contended = true } },
	{ "one line that is missed again and again",
	  { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  100,
	  { { 0, 110, 1, SOURCE_SYSTEM_CACHE, 100, 100, 0, 0, 48 } },
	  { true, BOTTLENECK_DATA, 0, 0.95, 1, WALK_CHASE, .is_contended = true } },
	{ "one line that is there mostly",
	  { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  20,
	  { { 0, 22, 1, SOURCE_L2, 30, 0, 0, 0, 48 } },
	  { true, BOTTLENECK_DATA, 0, 0.95, 1, WALK_CHASE } },
	{ "ldr x0, [x0] that walks the page table",
	  { 0xf9400000, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  100,
	  { { 0, 110, 81, SOURCE_L2, 100, 0, 0, 0, FAR } },
	  { true, BOTTLENECK_WALKS, 0, 0.7, 0.75, WALK_UNKNOWN } },
	{ "ldr x2, [x0, #8] before it walks",
	  { 0xf9400402, 0xf9400000, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  100,
	  { { 0, 110, 81, SOURCE_L2, 100, 0, 0, 0, FAR },
	    { 1, 110, 1, SOURCE_L2, 100, 0, 0, 0, FAR } },
	  { true, BOTTLENECK_WALKS, 0, 0.7, 0.75, WALK_UNKNOWN } },
	{ "mul x2, x2, x3",
	  { 0x9b037c42, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  20,
	  { { 0, 20, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { true, BOTTLENECK_CHAIN, 0, 0.95, 0.97, WALK_UNKNOWN } },
	{ "a counter that was measured to take four cycles, times not known: it is no chain to "
	  "break",
	  { 0xd1000421, 0xf9400083, 0xb5ffffc1, 0xd65f03c0 },
	  0,
	  { { 0, 4, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 }, { 1, 4, 1, SOURCE_L1, 0, 0, 0, 0, 48 } },
	  { false } },
	{ "ldr x2, [sp, #8]; add x2, x2, x3; str x2, [sp, #8]: in a register 1 of 7 cycles",
	  { 0xf94007e2, 0x8b030042, 0xf90007e2, 0xd1000421, 0xb5ffff81, 0xd65f03c0 },
	  7,
	  { { 0, 6, 1, SOURCE_L1, 0, 0, 0, 0, 0 }, { 2, 1, 1, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { true, BOTTLENECK_FORWARDING, 0, 0.83, 0.87, WALK_UNKNOWN } },
	{ "the same beside five madd: 23 registers are in use, so it was spilled",
	  { 0xf94007e2, 0x8b030042, 0xf90007e2, 0x9b061ca4, 0x9b0a2d28, 0x9b0e3dac, 0x9b124e30,
	    0x9b165eb4, 0xb5ffff01, 0xd65f03c0 },
	  7,
	  { { 0, 6, 1, SOURCE_L1, 0, 0, 0, 0, 0 }, { 2, 1, 1, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { true, BOTTLENECK_CHAIN, 0, 0.5, 0.8, WALK_UNKNOWN } },
	{ "ldr x0, [sp, #8]; ldr x0, [x0]; str x0, [sp, #8]: it waits for the node, not the stack",
	  { 0xf94007e0, 0xf9400000, 0xf90007e0, 0xd1000421, 0xb5ffff81, 0xd65f03c0 },
	  105,
	  { { 0, 104, 1, SOURCE_L1, 0, 0, 0, 0, 0 },
	    { 1, 110, 1, SOURCE_SYSTEM_CACHE, 100, 100, 0, 0, FAR },
	    { 2, 1, 1, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { true, BOTTLENECK_DATA, 1, 0.95, 1, WALK_CHASE } },
	{ "udiv x2, x2, x3",
	  { 0x9ac30842, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  20,
	  { { 0, 20, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { true, BOTTLENECK_CHAIN, 0, 0.95, 0.97, WALK_UNKNOWN, .is_division = true } },
	{ "a chain that is not most of the time: nothing else is known",
	  { 0x9b037c42, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  40,
	  { { 0, 20, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { false, .unexplained = 0.5 } },
	{ "the same, and one of 20 branches is mispredicted: 2 of 40 cycles are no finding",
	  { 0x9b037c42, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  40,
	  { { 0, 20, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 },
	    { 2, 1, 0, SOURCE_UNKNOWN, 0, 0, 5, 29, 0 } },
	  { false, .unexplained = 0.45, .left = 0.05 } },
	{ "the same; half of the samples were lost: it takes 20 cycles, or up to 40",
	  { 0x9b037c42, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  40,
	  { { 0, 20, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { true, BOTTLENECK_CHAIN, 0, 0.95, 0.97, WALK_UNKNOWN, .bound = 0.98 },
	  { .is_counted = true, .n = PAIRS, .most = PAIRS, .share = 0.5 } },
	{ "the same; ten more than are likely were lost: it may take less",
	  { 0x9b037c42, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  40,
	  { { 0, 20, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { true, BOTTLENECK_CHAIN, 0, 0.95, 0.97, WALK_UNKNOWN, .bound = 1 },
	  { .is_counted = true, .n = PAIRS, .most = PAIRS + 10, .share = 0.5 } },
	{ "half of the branches are mispredicted, after 19 cycles, and 11 to begin again",
	  { 0x9b037c42, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  20,
	  { { 0, 4, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 },
	    { 2, 1, 0, SOURCE_UNKNOWN, 0, 0, 50, 19, 0 } },
	  { true, BOTTLENECK_MISPREDICTIONS, 2, 0.74, 0.76, WALK_UNKNOWN, .unexplained = 0.05 } },
	{ "the same after 49 cycles, more than an iteration takes: without them the width is left",
	  { 0x9b037c42, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  20,
	  { { 0, 4, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 },
	    { 2, 1, 0, SOURCE_UNKNOWN, 0, 0, 50, 49, 0 } },
	  { true, BOTTLENECK_MISPREDICTIONS, 2, 0.95, 0.97, WALK_UNKNOWN, .bound = 0.9625 } },
	{ "str x2, [x3], #128 to DRAM: 300 cycles a line, in 100; it comes back for other elements",
	  { 0xf8080462, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  100,
	  { { 0, 1, 1, SOURCE_UNKNOWN, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_STORES, 0, 0.9, 1, WALK_COLUMNS } },
	{ "ldrb; strb: one byte at a time, as fast as the width",
	  { 0x38401444, 0x38001464, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  1.1,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, FAR }, { 1, 1, 1, SOURCE_UNKNOWN, 0, 0, 0, 0, FAR } },
	  { true, BOTTLENECK_SCALAR, 0, 0.9, 1, WALK_SEQUENTIAL } },
	{ "the same, and a call",
	  { 0x38401444, 0x38001464, 0x94000040, 0xd1000421, 0xb5ffff81, 0xd65f03c0 },
	  1.35,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, FAR }, { 1, 1, 1, SOURCE_UNKNOWN, 0, 0, 0, 0, FAR } },
	  { false } },
	{ "ldr w2, [x4], #8; add w0, w0, w2: lanes of a vector can add up",
	  { 0xb8408482, 0x0b020000, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  1.1,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, FAR }, { 1, 1, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { true, BOTTLENECK_SCALAR, 0, 0.9, 1, WALK_SEQUENTIAL } },
	{ "the same with ror w0, w0, #31 before: they cannot",
	  { 0xb8408482, 0x13807c00, 0x0b020000, 0xd1000421, 0xb5ffff81, 0xd65f03c0 },
	  2,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, FAR },
	    { 1, 1, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 },
	    { 2, 1, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0 } },
	  { false } },
	{ "ldr q0; str q0: vectors",
	  { 0x3cc10440, 0x3c810460, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  1.1,
	  { { 0, 5, 1, SOURCE_L1, 0, 0, 0, 0, FAR }, { 1, 1, 1, SOURCE_UNKNOWN, 0, 0, 0, 0, FAR } },
	  { false } },
	{ "ldr q0 from DRAM one line after the other",
	  { 0x3cc10440, 0x3c810460, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  20,
	  { { 0, 80, 1, SOURCE_DRAM, 25, 25, 0, 0, FAR },
	    { 1, 1, 1, SOURCE_UNKNOWN, 0, 0, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.9, 1, WALK_SEQUENTIAL } },
	{ "ldr x0, [x4], #8: 30 of 106 cycles beyond a hit are walks, and a fifth of all overlaps "
	  "not",
	  { 0xf8408480, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  20,
	  { { 0, 110, 31, SOURCE_DRAM, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.67, 0.69, WALK_SEQUENTIAL, .bound = 76.0 / 106 } },
	{ "the same, hits of the TLB: all but the chain of addresses",
	  { 0xf8408480, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  20,
	  { { 0, 110, 1, SOURCE_DRAM, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.94, 0.96, WALK_SEQUENTIAL, .bound = 0.95 } },
	{ "ldr x0, [x4]; add x4, x4, x5: each is another line, and elements of a line are read by "
	  "others",
	  { 0xf9400080, 0x8b050084, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  20,
	  { { 0, 110, 1, SOURCE_DRAM, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.94, 0.96, WALK_COLUMNS } },
	{ "the same, and one of ten is another line",
	  { 0xf9400080, 0x8b050084, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  20,
	  { { 0, 110, 1, SOURCE_DRAM, 10, 10, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.94, 0.96, WALK_SEQUENTIAL } },
	{ "the same, and nobody knows how many samples were lost: no bound but the loop's time",
	  { 0xf8408480, 0xd1000421, 0xb5ffffc1, 0xd65f03c0 },
	  20,
	  { { 0, 110, 1, SOURCE_DRAM, 100, 100, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.94, 0.96, WALK_SEQUENTIAL, .bound = 1 },
	  { .is_unknown = true } },
	{ "ldr x0, [x4], #8; udiv x3, x0, x6: what it reads is there, and it waits for the unit",
	  { 0xf8408480, 0x9ac60803, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  14,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, 0, 8 },
	    { 1, 12, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0, 304 } },
	  { true, BOTTLENECK_DIVISION, 1, 0.85, 0.86, WALK_UNKNOWN, .is_division = true } },
	{ "the same, times not known",
	  { 0xf8408480, 0x9ac60803, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  0,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, 0, 8 },
	    { 1, 12, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0, 304 } },
	  { true, BOTTLENECK_DIVISION, 1, 0.99, 1, WALK_UNKNOWN, .is_division = true } },
	{ "the same, of a third of the time",
	  { 0xf8408480, 0x9ac60803, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  36,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, 0, 8 },
	    { 1, 12, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0, 304 } },
	  { false } },
	{ "the same, as soon as it is loaded",
	  { 0xf8408480, 0x9ac60803, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  14,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, 0, 8 },
	    { 1, 12, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0, 22 } },
	  { false } },
	{ "the same, which is loaded late",
	  { 0xf8408480, 0x9ac60803, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  14,
	  { { 0, 4, 1, SOURCE_L1, 0, 0, 0, 0, 0, 298 },
	    { 1, 12, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0, 312 } },
	  { false } },
	{ "prfm [x4, #640]; ldr x0, [x4], #64: the lines of the prefetch come late, 7 at a time of "
	  "16",
	  { 0xf9814080, 0xf8440480, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  40,
	  { { 0, 4, 1, SOURCE_UNKNOWN, 100, 100, 0, 0, FAR },
	    { 1, 80, 1, SOURCE_DRAM, 60, 60, 0, 0, FAR } },
	  { true, BOTTLENECK_PREFETCH, 1, 0.9, 1, WALK_COLUMNS } },
	{ "the same in half of the time, 15 at a time: there is no room for lines further ahead",
	  { 0xf9814080, 0xf8440480, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  20,
	  { { 0, 4, 1, SOURCE_UNKNOWN, 100, 100, 0, 0, FAR },
	    { 1, 80, 1, SOURCE_DRAM, 60, 60, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 1, 0.9, 1, WALK_COLUMNS, .lacks_lines = true } },
	{ "the same, all in time: the prefetches themselves take what the core can",
	  { 0xf9814080, 0xf8440480, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  20,
	  { { 0, 4, 1, SOURCE_UNKNOWN, 100, 100, 0, 0, FAR },
	    { 1, 4, 1, SOURCE_L1, 0, 0, 0, 0, FAR } },
	  { true, BOTTLENECK_DATA, 0, 0.9, 1, WALK_COLUMNS, .lacks_lines = true } },
	{ "the same in 40 cycles: they take no time",
	  { 0xf9814080, 0xf8440480, 0xd1000421, 0xb5ffffa1, 0xd65f03c0 },
	  40,
	  { { 0, 4, 1, SOURCE_UNKNOWN, 100, 100, 0, 0, FAR },
	    { 1, 4, 1, SOURCE_L1, 0, 0, 0, 0, FAR } },
	  { false } },
	{ "ldr q0, [x2]; str q0, [x3]: three stores in 100 miss",
	  { 0x3dc00040, 0x3d800060, 0x91004042, 0x91004063, 0xd1000421, 0xb5ffff61, 0xd65f03c0 },
	  20,
	  { { 0, 5, 1, SOURCE_L1, 0, 0, 0, 0, FAR, 8 },
	    { 1, 1, 1, SOURCE_UNKNOWN, 3, 0, 0, 0, FAR, 8 },
	    { 2, 1, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0, 3 } },
	  { true, BOTTLENECK_STORES, 1, 0.14, 0.16, WALK_SEQUENTIAL } },
	{ "the same, while loads wait for their units",
	  { 0x3dc00040, 0x3d800060, 0x91004042, 0x91004063, 0xd1000421, 0xb5ffff61, 0xd65f03c0 },
	  20,
	  { { 0, 5, 1, SOURCE_L1, 0, 0, 0, 0, FAR, 41 },
	    { 1, 1, 1, SOURCE_UNKNOWN, 3, 0, 0, 0, FAR, 41 },
	    { 2, 1, 0, SOURCE_UNKNOWN, 0, 0, 0, 0, 0, 3 } },
	  { false } },
};

static void give(struct insn_sums *s, const struct given *g)
{
	s->access.cycles = (uint64_t)g->access * RECORDS;
	s->total =
		(struct insn_latency){ (uint64_t)g->total * RECORDS, g->total > 0 ? RECORDS : 0 };
	s->xlat.cycles = (uint64_t)g->xlat * RECORDS;
	s->xlat.n = g->xlat > 0 ? RECORDS : 0;
	s->n_walks = g->xlat > 30 ? RECORDS : 0;
	s->n_refills = g->refills * RECORDS / 100;
	s->n_llc_misses = g->llc_misses * RECORDS / 100;
	s->n_mispredicted = g->mispredicted * RECORDS / 100;
	s->mispredicted_cycles = s->n_mispredicted * g->mispredicted_cycles;
	if (g->level != SOURCE_UNKNOWN || g->is_load) {
		s->n_loads = s->n_level[g->level] = RECORDS;
		s->level_cycles[g->level] = s->access.cycles;
	}
	for (uint64_t k = 0; k < 2 * MOST_INSNS && g->span > 0; k++)
		addr_pattern_add(&s->addresses,
				 0x10000 + k * 8 % (g->span + 8) + (k == 1 ? g->span : 0));
}

static void fill_sums(size_t i, struct bottleneck_fixture *b)
{
	const struct function_insns *f = b->all->functions.items;
	size_t n_insns = f->n - 1; /* of the loop */
	double ns = cases[i].cycles / ghz / (double)n_insns * INTERVAL;
	struct pair_sums pairs = { PAIRS, (uint64_t)(2 * ns * PAIRS),
				   (uint64_t)(2 * ns * ns * PAIRS) };

	for (size_t k = 0; k < n_insns; k++) {
		struct insn_sums *s = &b->sums->slots[f->slots[k]];

		s->n = RECORDS;
		s->access = (struct insn_latency){ RECORDS, RECORDS };
	}
	for (size_t k = 0; k < MOST_SUMS && cases[i].given[k].access > 0; k++)
		give(&b->sums->slots[cases[i].given[k].insn], &cases[i].given[k]);
	if (cases[i].cycles == 0)
		pairs = (struct pair_sums){ 1, 1000, 1000 };
	b->sums->regions[1] = b->sums->functions[0] = b->sums->all = pairs;
}

static void the_largest_cause_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct function_case function = { 0 };
		const struct wanted *want = &cases[i].wanted;
		struct bottleneck_fixture b;
		const struct bottleneck *first;

		memcpy(function.words, cases[i].words, sizeof(function.words));
		for (size_t k = 0; k < MOST_INSNS; k++)
			function.counts[k] =
				function.words[k] == 0 || function.words[k] == 0xd65f03c0 ? 0
											  : RECORDS;
		open_function(&function, &b);
		fill_sums(i, &b);
		b.session.lost = cases[i].lost;
		bottlenecks_find(b.all);
		first = bottleneck_at(b.all, 0);
		if ((first != NULL) != want->is_found)
			fail_msg("%s: %s", cases[i].what, first == NULL ? "nothing" : "something");
		if (first != NULL &&
		    (first->cause != want->cause ||
		     first->place != b.all->slots.items[want->insn].place ||
		     first->cost < want->least_cost || first->cost > want->most_cost ||
		     first->loop.walk != want->walk || first->is_division != want->is_division ||
		     first->is_contended != want->is_contended ||
		     first->lacks_lines != want->lacks_lines))
			fail_msg("%s: cause %d, cost %g, walk %d, division %d, contended %d",
				 cases[i].what, first->cause, first->cost, first->loop.walk,
				 first->is_division, first->is_contended);
		/* All gaps are as long. */
		if (first != NULL && cases[i].cycles > 0 &&
		    (fabs(first->spread - 1) > 0.01 || first->rest_spread != 1))
			fail_msg("%s: spread %g, of the rest %g", cases[i].what, first->spread,
				 first->rest_spread);
		if (first != NULL &&
		    (first->bound < first->cost || first->time_share * first->bound > 1 ||
		     (want->bound > 0 && fabs(first->bound - want->bound) > 0.01)))
			fail_msg("%s: cost %g, bound %g, not %g", cases[i].what, first->cost,
				 first->bound, want->bound);
		if (want->unexplained > 0 &&
		    fabs(bottlenecks_unexplained(b.all)->cost - want->unexplained) > 0.01)
			fail_msg("%s: unexplained %g, not %g", cases[i].what,
				 bottlenecks_unexplained(b.all)->cost, want->unexplained);
		if (want->left > 0 &&
		    (bottlenecks_largest_left(b.all)->place != b.all->slots.items[2].place ||
		     fabs(bottlenecks_largest_left(b.all)->bound - want->left) > 0.01))
			fail_msg("%s: left is %g, not %g", cases[i].what,
				 bottlenecks_largest_left(b.all)->bound, want->left);
		close_function(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_cause_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

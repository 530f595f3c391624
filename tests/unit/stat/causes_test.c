/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes by what they cost: counts of programs whose cause is known (most of them from the machine
 * model, where one resource at a time was made perfect), and what is said of them first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "findings/words.h"
#include "stat/causes/costs.h"
#include "stat/stat.h"
#include "../cpu/embedded_catalog.h"

/* "CPU_CYCLES 1e9 STALL_BACKEND 2e8" */
static void add_counts(struct counts *c, const char *text)
{
	char event[64];
	double value;
	int n;

	for (; sscanf(text, "%63s %lf%n", event, &value, &n) == 2; text += n)
		counts_add(c, event)->value = value;
}

/* A program, and what is said first. */
static const struct program {
	const char *name, *cpu, *counts;
	const char *metric, *cause; /* of the first finding; NULL: there is none */
	enum remedy_kind first, second;
	const char *evidence; /* part of it */
} programs[] = {
	/* What-if: every branch predicted. */
	{ "copies of unpredictable length", "neoverse-n1",
	  "CPU_CYCLES 4428133 INST_RETIRED 3378855 STALL_FRONTEND 3481145 STALL_BACKEND 3847 "
	  "BR_MIS_PRED_RETIRED 223520 L1I_CACHE_REFILL 10 ITLB_WALK 1 L1D_CACHE_REFILL 1264 "
	  "L2D_CACHE_REFILL 2145 LL_CACHE_MISS_RD 2141 DTLB_WALK 36",
	  "frontend_stalled_cycles", "mispredict", REMEDY_BRANCH_FREE_SIZES, REMEDY_NONE,
	  "≤ 55.5 % of cycles: 66.2 mispredicted branches per 1000 instructions × 11 cycles" },
	/* 9.3 in a thousand: below any threshold of rates. */
	{ "copies among other work", "neoverse-n1",
	  "CPU_CYCLES 34500000 INST_RETIRED 82455000 STALL_FRONTEND 13350000 STALL_BACKEND 200000 "
	  "BR_MIS_PRED_RETIRED 766832 L1I_CACHE_REFILL 900 ITLB_WALK 9 L1D_CACHE_REFILL 9000 "
	  "L2D_CACHE_REFILL 4000 LL_CACHE_MISS_RD 2000 DTLB_WALK 90",
	  "frontend_stalled_cycles", "mispredict", REMEDY_BRANCH_FREE_SIZES, REMEDY_NONE,
	  "≤ 24.4 % of cycles: 9.30 mispredicted branches" },
	/* The N1 paper: the prefetch gains half, huge pages little. */
	{ "stride of the N1 paper", "neoverse-n1",
	  "CPU_CYCLES 43809490290 INST_RETIRED 10040907789 STALL_FRONTEND 4020406 STALL_BACKEND "
	  "36777347524 L1D_CACHE_REFILL 1069353328 L2D_CACHE_REFILL 785969088 LL_CACHE_RD "
	  "1956721560 LL_CACHE_MISS_RD 1956637893 DTLB_WALK 140572709",
	  "backend_stalled_cycles", "llc_miss", REMEDY_CACHE_SCATTERED, REMEDY_HUGE_PAGES,
	  "12.6 DRAM lines are in flight at a time: 49 %" },
	/* The same with the prefetch: as many lines as the core can have. */
	{ "stride with prefetch", "neoverse-n1",
	  "CPU_CYCLES 20858281670 INST_RETIRED 14031047062 STALL_FRONTEND 4020406 STALL_BACKEND "
	  "14000000000 L1D_CACHE_REFILL 331828745 L2D_CACHE_REFILL 966401485 LL_CACHE_RD "
	  "1960623393 "
	  "LL_CACHE_MISS_RD 1960505782 DTLB_WALK 140572709",
	  "backend_stalled_cycles", "llc_miss", REMEDY_FEWER_BYTES, REMEDY_CACHE_SCATTERED,
	  "26.6 DRAM lines are in flight" },
	/* What-if: 34 % by arithmetic of one cycle, 15 % by an L1D that never misses. */
	{ "multiply 256 x 256", "neoverse-n1",
	  "CPU_CYCLES 38338118 INST_RETIRED 59249444 STALL_FRONTEND 436171 STALL_BACKEND 21049684 "
	  "BR_MIS_PRED_RETIRED 33287 L1I_CACHE_REFILL 6 L1D_CACHE_REFILL_RD 8323396 "
	  "L2D_CACHE_REFILL_RD 165668 LL_CACHE_MISS_RD 21410 L1D_TLB_REFILL 4243846 DTLB_WALK 387",
	  "backend_stalled_cycles", "core", REMEDY_CORE, REMEDY_CACHE,
	  "sample to find the instruction" },
	/* 99 % of it divides. */
	{ "divisions", "neoverse-n1",
	  "CPU_CYCLES 3901635 INST_RETIRED 2100025 STALL_FRONTEND 1869 STALL_BACKEND 2699803 "
	  "L1D_CACHE_REFILL_RD 10 L2D_CACHE_REFILL_RD 6 LL_CACHE_MISS_RD 6 DTLB_WALK 1",
	  "backend_stalled_cycles", "core", REMEDY_CORE, REMEDY_NONE,
	  "69.1 % of cycles are not explained" },
	/* Four threads, each with a sum of its own, in two lines. What-if: 94 % without coherence. */
	{ "false sharing", "neoverse-n1",
	  "CPU_CYCLES 33966000 INST_RETIRED 7812000 STALL_FRONTEND 340000 STALL_BACKEND 31830000 "
	  "L1D_CACHE 2441000 L1D_CACHE_REFILL 62220 L1D_CACHE_REFILL_RD 62000 L1D_CACHE_INVAL "
	  "61870 L2D_CACHE_REFILL_RD 63130 LL_CACHE_MISS_RD 1027 L1D_TLB_REFILL 62 DTLB_WALK 70",
	  "backend_stalled_cycles", "coherence", REMEDY_LESS_SHARING, REMEDY_NONE,
	  "99 % of the number of L1D misses" },
	/* Atomic additions to one sum: what misses are stores. Own sums gain 90 %. */
	{ "an atomic sum", "neoverse-n1",
	  "CPU_CYCLES 17100000 INST_RETIRED 4310000 STALL_FRONTEND 1e5 STALL_BACKEND 15800000 "
	  "L1D_CACHE 482000 L1D_CACHE_REFILL 37500 L1D_CACHE_REFILL_RD 180 L1D_CACHE_REFILL_WR "
	  "37320 "
	  "L1D_CACHE_INVAL 37170 L2D_CACHE_REFILL_RD 1281 L2D_CACHE_REFILL_WR 37290 "
	  "LL_CACHE_MISS_RD "
	  "992 L1D_TLB_REFILL 61 DTLB_WALK 69",
	  "backend_stalled_cycles", "coherence", REMEDY_LOCK_LESS, REMEDY_LESS_SHARING, NULL },
	/* Requests for a line wait for those before them: a transfer alone is a quarter of it. */
	{ "false sharing in one line", "neoverse-n1",
	  "CPU_CYCLES 411800000 INST_RETIRED 14700000 STALL_FRONTEND 1e6 STALL_BACKEND 407800000 "
	  "L1D_CACHE 7254000 L1D_CACHE_REFILL 452500 L1D_CACHE_REFILL_RD 452300 L1D_CACHE_INVAL "
	  "451900 L2D_CACHE_REFILL_RD 455700 LL_CACHE_MISS_RD 2145 L1D_TLB_REFILL 107 DTLB_WALK "
	  "120",
	  "backend_stalled_cycles", "coherence", REMEDY_LESS_SHARING, REMEDY_NONE, NULL },
	/* Whether the lock is free, a branch asks: it waits for the line, and then was mispredicted. */
	{ "a lock that spins", "neoverse-n1",
	  "CPU_CYCLES 1.3e8 INST_RETIRED 1.93e7 STALL_FRONTEND 6.62e7 STALL_BACKEND 5.14e7 "
	  "BR_MIS_PRED_RETIRED 1e5 L1I_CACHE_REFILL 700 ITLB_WALK 100 L1D_CACHE 4.9e6 "
	  "L1D_CACHE_REFILL 256600 L1D_CACHE_REFILL_RD 197600 L1D_CACHE_INVAL 280500 "
	  "L2D_CACHE_REFILL_RD 213900 LL_CACHE_MISS_RD 2090 L1D_TLB_REFILL 100 DTLB_WALK 112",
	  "frontend_stalled_cycles", "coherence", REMEDY_LESS_SHARING, REMEDY_NONE,
	  "662 stalled cycles" },
	{ "branches that wait for data of their own", "neoverse-n1",
	  "CPU_CYCLES 1.3e8 INST_RETIRED 1.93e7 STALL_FRONTEND 6.62e7 STALL_BACKEND 5.14e7 "
	  "BR_MIS_PRED_RETIRED 1e5 L1I_CACHE_REFILL 700 ITLB_WALK 100 L1D_CACHE 4.9e6 "
	  "L1D_CACHE_REFILL 256600 L1D_CACHE_REFILL_RD 197600 L1D_CACHE_INVAL 50 "
	  "L2D_CACHE_REFILL_RD 213900 LL_CACHE_MISS_RD 2090 L1D_TLB_REFILL 100 DTLB_WALK 112",
	  "frontend_stalled_cycles", "fetch", REMEDY_BRANCH_FREE, REMEDY_NONE,
	  "662 stalled cycles" },
	/* A few lines that go from core to core cost little: the core is what waits. */
	{ "divisions beside some sharing", "neoverse-n1",
	  "CPU_CYCLES 3901635 INST_RETIRED 2100025 STALL_FRONTEND 1869 STALL_BACKEND 2699803 "
	  "L1D_CACHE 300000 L1D_CACHE_REFILL 500 L1D_CACHE_REFILL_RD 500 L1D_CACHE_INVAL 480 "
	  "L2D_CACHE_REFILL_RD 500 LL_CACHE_MISS_RD 6 DTLB_WALK 1",
	  "backend_stalled_cycles", "core", REMEDY_CORE, REMEDY_NONE, NULL },
	/* Three passes over 6 MB in order: fusing them gains 65 %, prefetching half of that. */
	{ "streams from DRAM", "neoverse-n1",
	  "CPU_CYCLES 33200000 INST_RETIRED 24240000 STALL_FRONTEND 1e5 STALL_BACKEND 26700000 "
	  "L1D_CACHE_REFILL 1646000 L1D_CACHE_REFILL_RD 1646000 L2D_CACHE_REFILL_RD 1969000 "
	  "LL_CACHE_MISS_RD 1969000 L1D_TLB_REFILL 30740 DTLB_WALK 30740",
	  "backend_stalled_cycles", "llc_miss", REMEDY_FEWER_BYTES, REMEDY_CACHE,
	  "54 lines of each page are read: the accesses are in order" },
	/* Columns of a table by rows: interchanging the loops gains 46 %. */
	{ "columns", "neoverse-n1",
	  "CPU_CYCLES 15600000 INST_RETIRED 14660000 STALL_FRONTEND 1e5 STALL_BACKEND 10600000 "
	  "L1D_CACHE_REFILL 2419000 L1D_CACHE_REFILL_RD 2398000 L2D_CACHE_REFILL_RD 2425000 "
	  "LL_CACHE_MISS_RD 181200 L1D_TLB_REFILL 377900 DTLB_WALK 378000",
	  "backend_stalled_cycles", "l2_miss", REMEDY_CACHE_SCATTERED, REMEDY_HUGE_PAGES,
	  "26.2 L2 misses are outstanding during a stall, with 6.4 lines of each page" },
	/* The same down a smaller table: its lines are in the L2, its walks early. Interchange gains 32 %, huge pages 4 %. */
	{ "columns, walks that are early", "neoverse-n1",
	  "CPU_CYCLES 4855346 INST_RETIRED 9411349 STALL_FRONTEND 157894 STALL_BACKEND 1585955 "
	  "L1D_CACHE_REFILL 1562768 L1D_CACHE_REFILL_RD 1560120 L1D_CACHE_INVAL 0 "
	  "L2D_CACHE_REFILL_RD 55281 LL_CACHE_MISS_RD 97077 L1D_TLB_REFILL 1562573 DTLB_WALK "
	  "1527388",
	  "backend_stalled_cycles", "llc_miss", REMEDY_CACHE_SCATTERED, REMEDY_HUGE_PAGES, NULL },
	/* memcpy() in the L1D has nothing to gain: units of loads and stores are busy. */
	{ "a copy in the L1D", "neoverse-n1",
	  "CPU_CYCLES 13607009 INST_RETIRED 18073088 STALL_FRONTEND 193499 STALL_BACKEND 7232404 "
	  "L1D_CACHE_REFILL 32964 L1D_CACHE_INVAL 0 L2D_CACHE_REFILL_RD 1370 LL_CACHE_MISS_RD 1478 "
	  "DTLB_WALK 34 LD_SPEC 4501732 ST_SPEC 4492701 DP_SPEC 6786230 ASE_SPEC 23330 VFP_SPEC 6",
	  "backend_stalled_cycles", "core", REMEDY_NONE, REMEDY_NONE,
	  "counts alone do not tell which" },
	/* The same with a third of the accesses: the units have rest, something waits. */
	{ "a slower copy", "neoverse-n1",
	  "CPU_CYCLES 40821027 INST_RETIRED 18073088 STALL_FRONTEND 193499 STALL_BACKEND 30000000 "
	  "L1D_CACHE_REFILL 32964 L1D_CACHE_INVAL 0 L2D_CACHE_REFILL_RD 1370 LL_CACHE_MISS_RD 1478 "
	  "DTLB_WALK 34 LD_SPEC 4501732 ST_SPEC 4492701 DP_SPEC 6786230 ASE_SPEC 23330 VFP_SPEC 6",
	  "backend_stalled_cycles", "core", REMEDY_CORE, REMEDY_NONE, NULL },
	/* Sums in memory: as busy, but more loads than stores. Registers gain 72 %. */
	{ "sums in memory", "neoverse-n1",
	  "CPU_CYCLES 3091047 INST_RETIRED 4934744 STALL_FRONTEND 132506 STALL_BACKEND 988089 "
	  "L1D_CACHE_REFILL 684 L1D_CACHE_INVAL 0 L2D_CACHE_REFILL_RD 863 LL_CACHE_MISS_RD 1033 "
	  "DTLB_WALK 28 LD_SPEC 1476378 ST_SPEC 985027 DP_SPEC 1972642 ASE_SPEC 5157 VFP_SPEC 8",
	  "backend_stalled_cycles", "core", REMEDY_CORE, REMEDY_NONE, NULL },
	/* Records of 180 bytes, one member of each: every third line. The other loop outside gains half. */
	{ "a member of each record", "neoverse-n1",
	  "CPU_CYCLES 11800000 INST_RETIRED 12390000 STALL_FRONTEND 1e5 STALL_BACKEND 7190000 "
	  "L1D_CACHE_REFILL 1379000 L1D_CACHE_REFILL_RD 1353000 L2D_CACHE_REFILL_RD 1607000 "
	  "LL_CACHE_MISS_RD 68760 L1D_TLB_REFILL 60560 DTLB_WALK 1093",
	  "backend_stalled_cycles", "l2_miss", REMEDY_CACHE_SCATTERED, REMEDY_NONE,
	  "22.8 lines of each page" },
	/* The same in pages of 2 MiB: how far apart lines are is not known. */
	{ "large pages", "neoverse-n1",
	  "CPU_CYCLES 11800000 INST_RETIRED 12390000 STALL_FRONTEND 1e5 STALL_BACKEND 7190000 "
	  "L1D_CACHE_REFILL 1379000 L1D_CACHE_REFILL_RD 1353000 L2D_CACHE_REFILL_RD 1607000 "
	  "LL_CACHE_MISS_RD 68760 L1D_TLB_REFILL 240 DTLB_WALK 24",
	  "backend_stalled_cycles", "l2_miss", REMEDY_CACHE, REMEDY_NONE, NULL },
	/* 190 KiB of straight code, a line of 16 instructions after the other. */
	{ "unrolled too far", "neoverse-n1",
	  "CPU_CYCLES 3650000 INST_RETIRED 2658000 STALL_FRONTEND 2978000 STALL_BACKEND 1e3 "
	  "BR_MIS_PRED_RETIRED 355 L1I_CACHE_REFILL 166100 ITLB_WALK 20",
	  "frontend_stalled_cycles", "l1i_miss", REMEDY_CODE_ORDER, REMEDY_NONE,
	  "62.5 L1I misses per 1000 instructions" },
	/* What-if: 37 % by DRAM as fast as the LLC, 19 % by LLC hits as fast as the L2, 12 % by walks. */
	{ "chase through memory", "neoverse-n1",
	  "CPU_CYCLES 58515023 INST_RETIRED 5095276 STALL_FRONTEND 10331 STALL_BACKEND 57032776 "
	  "L1D_CACHE_REFILL_RD 359691 L1D_CACHE_REFILL_WR 332162 L2D_CACHE_REFILL_RD 258501 "
	  "L2D_CACHE_REFILL_WR 331246 LL_CACHE_MISS_RD 122539 L1D_TLB_REFILL 594095 DTLB_WALK "
	  "479302",
	  "backend_stalled_cycles", "llc_miss", REMEDY_CACHE_CHAIN, REMEDY_HUGE_PAGES,
	  "page walks" },
	{ "chase in the last-level cache", "neoverse-n1",
	  "CPU_CYCLES 46398756 INST_RETIRED 2124319 STALL_FRONTEND 2182 STALL_BACKEND 45865489 "
	  "L1D_CACHE_REFILL_RD 400000 L2D_CACHE_REFILL_RD 400270 LL_CACHE_MISS_RD 263 "
	  "L1D_TLB_REFILL 454313 DTLB_WALK 177140",
	  "backend_stalled_cycles", "l2_miss", REMEDY_CACHE_CHAIN, REMEDY_HUGE_PAGES, "L2 misses" },
	/* What-if: 63 % by L2 hits as fast as the L1. */
	{ "chase in the L2", "neoverse-n1",
	  "CPU_CYCLES 5845826 INST_RETIRED 1632799 STALL_FRONTEND 2261 STALL_BACKEND 5435361 "
	  "L1D_CACHE_REFILL_RD 400001 L2D_CACHE_REFILL_RD 15 LL_CACHE_MISS_RD 15 L1D_TLB_REFILL "
	  "98883 "
	  "DTLB_WALK 66",
	  "backend_stalled_cycles", "l1d_miss", REMEDY_CACHE_L1, REMEDY_HUGE_PAGES, "L1D misses" },
	/* What-if: 67 % by L2, 22 % by huge pages. */
	{ "a line of each page", "neoverse-n1",
	  "CPU_CYCLES 1215990 INST_RETIRED 1012134 STALL_FRONTEND 3429 STALL_BACKEND 903885 "
	  "L1D_CACHE_REFILL_RD 98289 L2D_CACHE_REFILL_RD 100054 LL_CACHE_MISS_RD 521 "
	  "L1D_TLB_REFILL "
	  "102402 DTLB_WALK 102120",
	  "backend_stalled_cycles", "l2_miss", REMEDY_CACHE_SCATTERED, REMEDY_HUGE_PAGES,
	  "page walks" },
	/* Walks whose tables and data are near. */
	{ "walks", "neoverse-n1",
	  "CPU_CYCLES 1e7 INST_RETIRED 4e6 STALL_FRONTEND 3e4 STALL_BACKEND 6e6 "
	  "L1D_CACHE_REFILL_RD "
	  "2e4 L2D_CACHE_REFILL_RD 4e3 LL_CACHE_MISS_RD 500 DTLB_WALK 2e5",
	  "backend_stalled_cycles", "dtlb_walk", REMEDY_HUGE_PAGES, REMEDY_NONE,
	  "≤ 60.0 % of cycles: 50.0 page walks per 1000 instructions × 30 cycles" },
	/* What-if: 76 % by an L2 that never misses; nothing is loaded. */
	{ "scattered stores", "neoverse-n1",
	  "CPU_CYCLES 3366678 INST_RETIRED 2400024 STALL_FRONTEND 1610 STALL_BACKEND 2744165 "
	  "L1D_CACHE_REFILL_RD 0 L1D_CACHE_REFILL_WR 398468 L2D_CACHE_REFILL_RD 519 "
	  "L2D_CACHE_REFILL_WR 376092 LL_CACHE_MISS_RD 2983 L1D_TLB_REFILL 395334 DTLB_WALK 274773",
	  "backend_stalled_cycles", "stores", REMEDY_STORE_IN_ORDER, REMEDY_HUGE_PAGES,
	  "for stores" },
	{ "code that is too large", "neoverse-n1",
	  "CPU_CYCLES 1e8 INST_RETIRED 1e8 STALL_FRONTEND 3e7 STALL_BACKEND 1e6 "
	  "BR_MIS_PRED_RETIRED "
	  "1e5 L1I_CACHE_REFILL 6e6 ITLB_WALK 1e3",
	  "frontend_stalled_cycles", "l1i_miss", REMEDY_CODE_ORDER, REMEDY_NONE, "L1I misses" },
	{ "code in many pages", "neoverse-n1",
	  "CPU_CYCLES 1e8 INST_RETIRED 1e8 STALL_FRONTEND 3e7 STALL_BACKEND 1e6 "
	  "BR_MIS_PRED_RETIRED "
	  "1e5 L1I_CACHE_REFILL 1e5 ITLB_WALK 1e6",
	  "frontend_stalled_cycles", "itlb_walk", REMEDY_CODE_PAGES, REMEDY_NONE, "for code" },
	{ "taken branches", "neoverse-n1",
	  "CPU_CYCLES 1e8 INST_RETIRED 1e8 STALL_FRONTEND 3e7 STALL_BACKEND 1e6 "
	  "BR_MIS_PRED_RETIRED "
	  "1e3 L1I_CACHE_REFILL 1e3 ITLB_WALK 10",
	  "frontend_stalled_cycles", "fetch", REMEDY_FRONT_END, REMEDY_NONE, "taken branches" },
	/* Every instruction does work, none of it is of vectors. */
	{ "a scalar loop", "neoverse-n1",
	  "CPU_CYCLES 832799 INST_RETIRED 3278019 INST_SPEC 3278019 STALL_FRONTEND 3468 "
	  "STALL_BACKEND 9823 BR_MIS_PRED_RETIRED 103 L1I_CACHE_REFILL 4 ITLB_WALK 1 "
	  "L1D_CACHE_REFILL 64 L2D_CACHE_REFILL 791 LL_CACHE_MISS_RD 772 DTLB_WALK 15 LD_SPEC "
	  "819200 "
	  "ST_SPEC 409603 DP_SPEC 1639215 ASE_SPEC 0 VFP_SPEC 0",
	  "", NULL, REMEDY_VECTORISE, REMEDY_NONE, "0.0 % of operations are vector operations" },
	{ "steady vector work", "neoverse-n1",
	  "CPU_CYCLES 361695 INST_RETIRED 992261 INST_SPEC 992261 STALL_FRONTEND 26472 "
	  "STALL_BACKEND "
	  "7203 BR_MIS_PRED_RETIRED 1506 L1I_CACHE_REFILL 6 ITLB_WALK 1 L1D_CACHE_REFILL 7 "
	  "L2D_CACHE_REFILL 58 LL_CACHE_MISS_RD 55 DTLB_WALK 3 LD_SPEC 192131 ST_SPEC 516 DP_SPEC "
	  "203200 ASE_SPEC 394763 VFP_SPEC 3002",
	  NULL, NULL, REMEDY_NONE, REMEDY_NONE, NULL },
	/*
	 * A vector kernel whose data the L1D holds: the misses are those of the start, mostly prefetched
	 * or of stores. They may cost 5.9 % at most. What-if: no miss of the L1D gains 0.3 %.
	 */
	{ "steady vector work that starts cold", "neoverse-n1",
	  "CPU_CYCLES 5054329 INST_RETIRED 11913771 STALL_FRONTEND 267512 STALL_BACKEND 646431 "
	  "BR_MIS_PRED_RETIRED 8173 L1I_CACHE_REFILL 475 ITLB_WALK 46 L1D_CACHE_REFILL_RD 1927 "
	  "L2D_CACHE_REFILL_RD 1598 LL_CACHE_MISS_RD 1639 L1D_TLB_REFILL 34 DTLB_WALK 34",
	  NULL, NULL, REMEDY_NONE, REMEDY_NONE, NULL },
	/* Twice as many may be enough, though no root stands out. */
	{ "twice as many cold misses", "neoverse-n1",
	  "CPU_CYCLES 5054329 INST_RETIRED 11913771 STALL_FRONTEND 267512 STALL_BACKEND 646431 "
	  "BR_MIS_PRED_RETIRED 8173 L1I_CACHE_REFILL 475 ITLB_WALK 46 L1D_CACHE_REFILL_RD 3854 "
	  "L2D_CACHE_REFILL_RD 3196 LL_CACHE_MISS_RD 3278 L1D_TLB_REFILL 34 DTLB_WALK 34",
	  "ll_cache_read_mpki", "llc_miss", REMEDY_CACHE_CHAIN, REMEDY_NONE, "≤ 11.7 % of cycles" },
	/* Stalls without a miss of the L2 outstanding are no misses of the L2. */
	{ "stalls with misses were counted", "neoverse-v1",
	  "CPU_CYCLES 1e9 INST_RETIRED 5e8 STALL_BACKEND_MEM 1e8 L1D_CACHE_REFILL_RD 4e6 "
	  "L2D_CACHE_REFILL_RD 4e6 LL_CACHE_MISS_RD 4e6",
	  "ll_cache_read_mpki", "llc_miss", REMEDY_CACHE_CHAIN, REMEDY_NONE, "≤ 10.0 % of cycles" },
	/* In slots a wrong path has a root of its own. */
	{ "wrong paths in slots", "neoverse-n2",
	  "CPU_CYCLES 1e9 INST_RETIRED 2e9 STALL_SLOT 1.5e9 STALL_SLOT_FRONTEND 1.2e9 "
	  "STALL_SLOT_BACKEND 3e8 OP_RETIRED 2.1e9 OP_SPEC 3.4e9 BR_MIS_PRED 2e7 "
	  "BR_MIS_PRED_RETIRED 1.6e7",
	  "bad_speculation", NULL, REMEDY_BRANCH_FREE_SIZES, REMEDY_NONE, "mispredicted branches" },
	/* The paper's own remedy for useful work of scalars; vectors take fewer instructions. */
	{ "useful scalar slots", "neoverse-n2",
	  "CPU_CYCLES 1e9 STALL_SLOT 1e9 STALL_SLOT_FRONTEND 4e8 STALL_SLOT_BACKEND 6e8 OP_RETIRED "
	  "3.9e9 OP_SPEC 4e9 BR_MIS_PRED 1e5 INST_SPEC 3.8e9 ASE_SPEC 1e7 SVE_INST_SPEC 0",
	  "retiring", NULL, REMEDY_VECTORISE, REMEDY_NONE, NULL },
	{ "useful vector slots", "neoverse-n2",
	  "CPU_CYCLES 1e9 STALL_SLOT 1e9 STALL_SLOT_FRONTEND 4e8 STALL_SLOT_BACKEND 6e8 OP_RETIRED "
	  "3.9e9 OP_SPEC 4e9 BR_MIS_PRED 1e5 INST_SPEC 3.8e9 ASE_SPEC 1e9 SVE_INST_SPEC 0",
	  "retiring", NULL, REMEDY_LESS_WORK, REMEDY_NONE, NULL },
	/* No stalls are known: at most what is not retired. */
	{ "misses without stalls", "neoverse-n1",
	  "CPU_CYCLES 1e9 INST_RETIRED 6.8e8 L1D_CACHE_REFILL 3.468e7 L1D_CACHE 3e8",
	  "l1d_cache_mpki", "l1d_miss", REMEDY_CACHE_L1, REMEDY_NONE,
	  "≤ 24.3 % of cycles: 51.0 L1D misses per 1000 instructions × 7 cycles" },
	/* The Raspberry Pi's naive multiply: a main TLB miss costs 116 - 56 cycles. */
	{ "naive multiply on ARM1176", "arm1176",
	  "CPU_CYCLES 11759598287 INSTR_EXEC 1241209259 IBUF_STALL 259324219 DCACHE_CACHED_ACCESS "
	  "18343722 DCACHE_MISS 3757582 DTLB_MISS 904898 MAIN_TLB_MISS 696010 BR_EXEC 134550814 "
	  "BR_MISPREDICT 1474255",
	  NULL, NULL, REMEDY_NONE, REMEDY_NONE, NULL },
	{ "wrong paths", "neoverse-n1",
	  "CPU_CYCLES 1e9 INST_RETIRED 1e9 INST_SPEC 1.3e9 STALL_FRONTEND 5e7 STALL_BACKEND 5e7",
	  "spec_overhead", NULL, REMEDY_SPECULATION, REMEDY_NONE, "threshold 10" },
	/* Each mispredicted branch stalls for 600 cycles, and misses of data take as long together. */
	{ "branches that wait for nodes", "neoverse-n1",
	  "CPU_CYCLES 122300000 INST_RETIRED 30400000 STALL_FRONTEND 102000000 STALL_BACKEND "
	  "11500000 BR_MIS_PRED_RETIRED 173000 BR_RETIRED 7e6 L1D_CACHE_REFILL 1797000 L1D_CACHE "
	  "9e6 "
	  "L2D_CACHE_REFILL 781000 L2D_CACHE 1.8e6 LL_CACHE_RD 781000 LL_CACHE_MISS_RD 135000 "
	  "L1I_CACHE_REFILL 2e3 L1I_CACHE 8e6",
	  "frontend_stalled_cycles", "l2_miss", REMEDY_CACHE, REMEDY_BRANCH_FREE, NULL },
	/* A millisecond of a program: 447 lines of code are fetched from DRAM, and no more come. */
	{ "a short run", "neoverse-n1",
	  "CPU_CYCLES 1043236 INST_RETIRED 3235051 STALL_FRONTEND 197945 STALL_BACKEND 29121 "
	  "L1I_CACHE_REFILL 447 L1I_CACHE 795179 ITLB_WALK 44 L1I_TLB_REFILL 45 "
	  "BR_MIS_PRED_RETIRED 3550 BR_RETIRED 450061 LL_CACHE_MISS_RD 1055 LL_CACHE_RD 1055",
	  "frontend_stalled_cycles", "cold-code", REMEDY_LONGER_RUN, REMEDY_NONE,
	  "447 L1I misses that the LLC missed, too" },
	{ "the same, fetched again and again", "neoverse-n1",
	  "CPU_CYCLES 1043236 INST_RETIRED 3235051 STALL_FRONTEND 197945 STALL_BACKEND 29121 "
	  "L1I_CACHE_REFILL 4470 L1I_CACHE 795179 ITLB_WALK 44 L1I_TLB_REFILL 45 "
	  "BR_MIS_PRED_RETIRED 3550 BR_RETIRED 450061 LL_CACHE_MISS_RD 1055 LL_CACHE_RD 1055",
	  "frontend_stalled_cycles", "fetch", REMEDY_BRANCH_FREE, REMEDY_FRONT_END, NULL },
	{ "other chip", "neoverse-n1",
	  "CPU_CYCLES 1e9 INST_RETIRED 5e8 STALL_FRONTEND 1e7 STALL_BACKEND 1e7 L2D_CACHE_REFILL "
	  "1e5 "
	  "REMOTE_ACCESS 6e4",
	  "remote_access_ratio", NULL, REMEDY_NODES, REMEDY_NONE, "threshold 0.1" },
};

static const char *cause_of(const struct finding *f)
{
	if (f->cause == CAUSE_CORE)
		return "core";
	if (f->cause == CAUSE_COLD_CODE)
		return "cold-code";
	return f->cause == CAUSE_FETCH ? "fetch" : f->issue;
}

static enum remedy_kind remedy_at(const struct finding *f, size_t i)
{
	return i < f->remedies.n ? f->remedies.items[i].kind : REMEDY_NONE;
}

static bool are_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void says_what_costs_most(void **state)
{
	const struct catalog *catalog = *state;
	const struct stat_options options = { 0 };

	for (size_t i = 0; i < COUNT(programs); i++) {
		const struct program *p = &programs[i];
		struct counts c = { 0 };
		struct cpu_pmu *pmu = NULL;
		struct stat_answer answer;
		struct err err = { 0 };
		const struct finding *first;
		const struct cell *evidence;

		assert_int_equal(
			cpu_pmu_open(catalog, catalog_cpu_find(catalog, p->cpu), 0, &pmu, &err), 0);
		add_counts(&c, p->counts);
		assert_int_equal(stat_answer_make(pmu, &c, &options, &answer, &err), 0);
		first = answer.found.list.n > 0 ? answer.found.list.items[0] : NULL;
		if ((first == NULL) != (p->metric == NULL))
			fail_msg("%s: %zu findings", p->name, answer.found.list.n);
		if (first != NULL) {
			evidence = table_cell(&answer.findings, 0,
					      (size_t)table_column(&answer.findings, "evidence"));
			if (!are_same(first->metric == NULL ? "" : first->metric->name,
				      p->metric) ||
			    (p->cause != NULL && !are_same(cause_of(first), p->cause)) ||
			    remedy_at(first, 0) != p->first ||
			    (p->second != REMEDY_NONE && remedy_at(first, 1) != p->second) ||
			    (p->evidence != NULL && (evidence->type != CELL_TEXT ||
						     strstr(evidence->text, p->evidence) == NULL)))
				fail_msg("%s: %s, %s, remedies %d %d: '%s'", p->name,
					 first->metric == NULL ? "" : first->metric->name,
					 cause_of(first), remedy_at(first, 0), remedy_at(first, 1),
					 evidence->type == CELL_TEXT ? evidence->text : "");
		}
		stat_answer_release(&answer);
		counts_release(&c);
		cpu_pmu_free(pmu);
	}
}

/* No bound is above what its side loses, and levels count what missed the level before at most. */
static void costs_are_bounded(void **state)
{
	const struct catalog *catalog = *state;
	const struct stat_options options = { 0 };

	for (size_t i = 0; i < COUNT(programs); i++) {
		struct counts c = { 0 };
		struct cpu_pmu *pmu = NULL;
		struct stat_costs costs = { 0 };
		struct stat s;
		struct err err = { 0 };

		assert_int_equal(cpu_pmu_open(catalog, catalog_cpu_find(catalog, programs[i].cpu),
					      0, &pmu, &err),
				 0);
		add_counts(&c, programs[i].counts);
		stat_init(&s, pmu, &c, &options);
		stat_costs_find(&s, &costs);
		for (size_t k = 0; k < costs.list.n; k++) {
			const struct stat_cost *cost = &costs.list.items[k];

			assert_true(cost->bound <= stat_side_share(&s, cost->penalty->side));
			assert_true(cost->bound <= cost->raw && cost->weight <= cost->raw);
			assert_true(k == 0 || costs.list.items[k - 1].weight >= cost->weight);
		}
		stat_costs_release(&costs);
		stat_release(&s);
		counts_release(&c);
		cpu_pmu_free(pmu);
	}
}

/* Whether threads wait for each other: by the CPUs that were at work. */
static void threads_wait_for_each_other(void **state)
{
	static const char waits[] =
		"CPU_CYCLES 1.12e10 INST_RETIRED 2.8e9 STALL_FRONTEND 1e8 STALL_BACKEND 9.5e9 "
		"L1D_CACHE_REFILL 1e7 L2D_CACHE_REFILL 1e7 LL_CACHE_MISS_RD 1e4 DTLB_WALK 2e4";
	static const struct {
		const char *what;
		double busy_ns;	   /* in a second; 0: not told */
		double taken;	   /* L1D_CACHE_INVAL; below 0: not counted */
		unsigned n_cpus;   /* with a part of the cycles each; 0: not told */
		const char *cause; /* NULL: not told */
	} cases[] = {
		{ "four threads, lines not counted", 4e9, -1, 0, NULL },
		{ "one thread, lines not counted", 1e9, -1, 0, "core" },
		{ "nobody knows how many, lines not counted", 0, -1, 0, "core" },
		{ "four threads, no line is taken", 4e9, 10, 0, "core" },
		{ "four threads, each miss is of a line that was taken", 4e9, 9.9e6, 0,
		  "coherence" },
		{ "the same by CPU", 0, 9.9e6, 4, "coherence" },
		{ "one CPU waits for nobody", 0, 9.9e6, 1, "core" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct stat_options options = { 0 };
		struct counts c = { .elapsed_ns = 1000000000 };
		struct cpu_pmu *pmu = NULL;
		struct stat_answer answer;
		struct err err = { 0 };
		const char *cause;

		assert_int_equal(cpu_pmu_open(*state, catalog_cpu_find(*state, "neoverse-n1"), 0,
					      &pmu, &err),
				 0);
		for (unsigned cpu = 0; cpu < cases[i].n_cpus; cpu++) {
			struct count *cycles = counts_add(&c, "CPU_CYCLES");

			cycles->value = 1.12e10 / cases[i].n_cpus;
			cycles->cpu = (int32_t)cpu;
		}
		add_counts(&c, cases[i].n_cpus > 0 ? strstr(waits, "INST") : waits);
		if (cases[i].taken >= 0)
			counts_add(&c, "L1D_CACHE_INVAL")->value = cases[i].taken;
		if (cases[i].busy_ns > 0) {
			struct count *busy = counts_add(&c, "task-clock");

			busy->value = cases[i].busy_ns;
			busy->unit = "ns";
		}
		assert_int_equal(stat_answer_make(pmu, &c, &options, &answer, &err), 0);
		assert_true(answer.found.list.n > 0);
		cause = cause_of(answer.found.list.items[0]);
		if (!are_same(cause, cases[i].cause))
			fail_msg("%s: %s", cases[i].what, cause);
		stat_answer_release(&answer);
		counts_release(&c);
		cpu_pmu_free(pmu);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_costs_most),
		cmocka_unit_test(costs_are_bounded),
		cmocka_unit_test(threads_wait_for_each_other),
	};

	return cmocka_run_group_tests(tests, open_embedded, close_catalog);
}

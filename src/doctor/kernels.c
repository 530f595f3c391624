/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On AArch64 the loops are in assembly, so that the number of instructions is known. Elsewhere they
 * are in C: the compiler may choose more instructions, and some loops are missing.
 */
#include "doctor/kernels.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

enum {
	LINE = 64,
	PAGE = 4096,
	SMALL = 16 << 10, /* fits any L1D */
	LARGE = 64 << 20, /* larger than any private cache */
	CODE = 16 << 20,
};

/* Xorshift (Marsaglia, 2003). The seed is fixed, so that runs repeat. */
static uint64_t next_random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Makes a ring of pointers through all lines, in random order. */
static void make_pointer_ring(void *memory, size_t size)
{
	size_t n = size / LINE;
	uint32_t *order = mem_alloc(n, sizeof(*order));
	uint64_t state = 88172645463325252u;
	char *lines = memory;

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t k = next_random_bits(&state) % (i + 1);
		uint32_t kept = order[i];

		order[i] = order[k];
		order[k] = kept;
	}
	for (size_t i = 0; i < n; i++) {
		void *next = lines + (size_t)order[(i + 1) % n] * LINE;

		memcpy(lines + (size_t)order[i] * LINE, &next, sizeof(next));
	}
	free(order);
}

static void clear_memory(void *memory, size_t size)
{
	memset(memory, 0, size);
}

#ifdef __aarch64__

/* Each load waits for the one before. */
static void chase_loop(uint64_t n, void *memory)
{
	__asm__ volatile("1: ldr %0, [%0]\n"
			 "subs %1, %1, #1\n"
			 "b.ne 1b\n"
			 : "+r"(memory), "+r"(n)
			 :
			 : "cc", "memory");
}

static void store_loop(uint64_t n, void *memory)
{
	__asm__ volatile("1: str %1, [%0]\n"
			 "subs %1, %1, #1\n"
			 "b.ne 1b\n"
			 : "+r"(memory), "+r"(n)
			 :
			 : "cc", "memory");
}

/* A branch on a random bit: half of them are mispredicted. */
static void branch_loop(uint64_t n, void *memory)
{
	uint64_t state = 88172645463325252u;

	(void)memory;
	__asm__ volatile("1: eor %0, %0, %0, lsl #13\n"
			 "eor %0, %0, %0, lsr #7\n"
			 "eor %0, %0, %0, lsl #17\n"
			 "tbz %0, #7, 2f\n"
			 "nop\n"
			 "2: subs %1, %1, #1\n"
			 "b.ne 1b\n"
			 : "+r"(state), "+r"(n)
			 :
			 : "cc");
}

static void call_loop(uint64_t n, void *memory)
{
	(void)memory;
	__asm__ volatile("b 2f\n"
			 "1: ret\n"
			 "2: bl 1b\n"
			 "subs %0, %0, #1\n"
			 "b.ne 2b\n"
			 : "+r"(n)
			 :
			 : "cc", "x30");
}

static void integer_loop(uint64_t n, void *memory)
{
	(void)memory;
	__asm__ volatile("1: add x9, x9, #1\n"
			 "eor x10, x10, x9\n"
			 "add x11, x11, #1\n"
			 "eor x12, x12, x11\n"
			 "subs %0, %0, #1\n"
			 "b.ne 1b\n"
			 : "+r"(n)
			 :
			 : "cc", "x9", "x10", "x11", "x12");
}

static void float_loop(uint64_t n, void *memory)
{
	(void)memory;
	__asm__ volatile("1: fadd d0, d1, d2\n"
			 "fadd d3, d1, d2\n"
			 "add v4.4s, v5.4s, v6.4s\n"
			 "add v7.4s, v5.4s, v6.4s\n"
			 "subs %0, %0, #1\n"
			 "b.ne 1b\n"
			 : "+r"(n)
			 :
			 : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7");
}

static void barrier_loop(uint64_t n, void *memory)
{
	(void)memory;
	__asm__ volatile("1: dmb ish\n"
			 "dsb ish\n"
			 "isb\n"
			 "subs %0, %0, #1\n"
			 "b.ne 1b\n"
			 : "+r"(n)
			 :
			 : "cc", "memory");
}

static void exclusive_loop(uint64_t n, void *memory)
{
	__asm__ volatile("1: ldxr x9, [%0]\n"
			 "stxr w10, x9, [%0]\n"
			 "subs %1, %1, #1\n"
			 "b.ne 1b\n"
			 : "+r"(memory), "+r"(n)
			 :
			 : "cc", "x9", "x10", "memory");
}

/* Loads and stores that cross the end of a line. */
static void unaligned_loop(uint64_t n, void *memory)
{
	__asm__ volatile("1: ldr x9, [%0, #60]\n"
			 "str x9, [%0, #60]\n"
			 "subs %1, %1, #1\n"
			 "b.ne 1b\n"
			 : "+r"(memory), "+r"(n)
			 :
			 : "cc", "x9", "memory");
}

/* Fills the memory with functions that only return, one on each line. */
static void make_return_functions(void *memory, size_t size)
{
	static const uint32_t ret = 0xd65f03c0;
	char *code = memory;

	for (size_t at = 0; at + sizeof(ret) <= size; at += LINE)
		memcpy(code + at, &ret, sizeof(ret));
	__builtin___clear_cache(code, code + size);
}

static void call_functions_loop(uint64_t n, void *memory)
{
	uint64_t state = 88172645463325252u;

	for (; n > 0; n--) {
		char *function = (char *)memory + next_random_bits(&state) % (CODE / LINE) * LINE;

		__asm__ volatile("blr %0" : : "r"(function) : "x30");
	}
}

enum { COMPILER_FACTOR = 1 }; /* the loops are in assembly */

#else

/* These need assembly. */
#define call_loop NULL
#define integer_loop NULL
#define float_loop NULL
#define barrier_loop NULL
#define exclusive_loop NULL
#define unaligned_loop NULL
#define make_return_functions NULL
#define call_functions_loop NULL

enum { COMPILER_FACTOR = 4 }; /* at most so many times the instructions of the assembly */

static void chase_loop(uint64_t n, void *memory)
{
	for (; n > 0; n--) {
		memory = *(void **)memory;
		__asm__ volatile("" : "+r"(memory) : : "memory");
	}
}

static void store_loop(uint64_t n, void *memory)
{
	for (; n > 0; n--)
		*(volatile uint64_t *)memory = n;
}

static void branch_loop(uint64_t n, void *memory)
{
	uint64_t state = 88172645463325252u;

	for (; n > 0; n--) {
		if (next_random_bits(&state) & 128)
			__asm__ volatile("nop");
		__asm__ volatile("" : "+r"(n) : : "memory");
	}
	(void)memory;
}

#endif

static const struct doctor_kernel chain = {
	"chain",    "a load that hits L1 and waits for the previous one",
	1000000,    SMALL,
	false,	    make_pointer_ring,
	chase_loop,
};
static const struct doctor_kernel memory_chain = {
	"memory",   "a load of a random line of 64 MiB", 300000, LARGE, false, make_pointer_ring,
	chase_loop,
};
static const struct doctor_kernel stores = {
	"stores", "a store that hits L1", 1000000, SMALL, false, clear_memory, store_loop,
};
static const struct doctor_kernel branches = {
	"branches", "a branch by a random bit", 500000, 0, false, NULL, branch_loop,
};

static const struct doctor_kernel calls = {
	"calls", "a call and its return", 500000, 0, false, NULL, call_loop,
};
static const struct doctor_kernel integers = {
	"integers", "four integer operations", 500000, 0, false, NULL, integer_loop,
};
static const struct doctor_kernel floats = {
	"floats", "two scalar and two vector operations", 500000, 0, false, NULL, float_loop,
};
static const struct doctor_kernel barriers = {
	"barriers", "a DMB, a DSB and an ISB", 100000, 0, false, NULL, barrier_loop,
};
static const struct doctor_kernel exclusives = {
	"exclusives",	"a load exclusive and its store", 200000, SMALL, false, clear_memory,
	exclusive_loop,
};
static const struct doctor_kernel splits = {
	"splits",	"a load and a store over the end of a line",
	200000,		SMALL,
	false,		clear_memory,
	unaligned_loop,
};
static const struct doctor_kernel code = {
	"code",
	"a call into a random line of 16 MiB of code",
	200000,
	CODE,
	true,
	make_return_functions,
	call_functions_loop,
};

/* Ranges allow for what differs between cores: speculation, refills by prefetchers, width. */
static const struct doctor_expectation expectations[] = {
	{ "CPU_CYCLES", &chain, 1, 100 },
	{ "INST_RETIRED", &chain, 3, 3 },
	{ "INST_SPEC", &chain, 3, 4 },
	{ "OP_RETIRED", &chain, 2, 4 },
	{ "OP_SPEC", &chain, 2, 5 },
	{ "LD_RETIRED", &chain, 1, 1 },
	{ "LD_SPEC", &chain, 1, 1.5 },
	{ "MEM_ACCESS", &chain, 1, 1.5 },
	{ "MEM_ACCESS_RD", &chain, 1, 1.5 },
	{ "L1D_CACHE", &chain, 1, 1.5 },
	{ "L1D_CACHE_RD", &chain, 1, 1.5 },
	{ "L1D_TLB", &chain, 1, 1.5 },
	{ "L1D_TLB_RD", &chain, 1, 1.5 },
	{ "BR_RETIRED", &chain, 1, 1 },
	{ "BR_PRED", &chain, 1, 1.5 },
	{ "BR_IMMED_RETIRED", &chain, 1, 1 },
	{ "BR_IMMED_SPEC", &chain, 1, 1.5 },
	{ "PC_WRITE_RETIRED", &chain, 1, 1 },
	{ "PC_WRITE_SPEC", &chain, 1, 1.5 },
	{ "STALL", &memory_chain, 1, 10000 },
	{ "STALL_BACKEND", &memory_chain, 1, 10000 },
	{ "STALL_BACKEND_MEM", &memory_chain, 1, 10000 },
	{ "STALL_SLOT", &memory_chain, 1, 100000 },
	{ "STALL_SLOT_BACKEND", &memory_chain, 1, 100000 },
	{ "L1D_CACHE_REFILL", &memory_chain, 0.5, 6 },
	{ "L1D_CACHE_REFILL_RD", &memory_chain, 0.5, 6 },
	{ "L1D_CACHE_LMISS_RD", &memory_chain, 0.5, 6 },
	{ "L2D_CACHE", &memory_chain, 0.5, 12 },
	{ "L2D_CACHE_RD", &memory_chain, 0.5, 12 },
	{ "L2D_CACHE_REFILL", &memory_chain, 0.3, 12 },
	{ "L2D_CACHE_REFILL_RD", &memory_chain, 0.3, 12 },
	{ "L2D_CACHE_LMISS_RD", &memory_chain, 0.3, 12 },
	{ "LL_CACHE_RD", &memory_chain, 0.3, 12 },
	{ "LL_CACHE_MISS_RD", &memory_chain, 0.05, 12 },
	{ "L1D_TLB_REFILL", &memory_chain, 0.3, 6 },
	{ "L1D_TLB_REFILL_RD", &memory_chain, 0.3, 6 },
	{ "L2D_TLB", &memory_chain, 0.3, 12 },
	{ "L2D_TLB_RD", &memory_chain, 0.3, 12 },
	{ "L2D_TLB_REFILL", &memory_chain, 0.05, 6 },
	{ "L2D_TLB_REFILL_RD", &memory_chain, 0.05, 6 },
	{ "DTLB_WALK", &memory_chain, 0.05, 6 },
	{ "BUS_ACCESS", &memory_chain, 0.3, 60 },
	{ "BUS_ACCESS_RD", &memory_chain, 0.3, 60 },
	{ "ST_RETIRED", &stores, 1, 1 },
	{ "ST_SPEC", &stores, 1, 1.5 },
	{ "MEM_ACCESS_WR", &stores, 1, 1.5 },
	{ "L1D_CACHE_WR", &stores, 1, 1.5 },
	{ "L1D_TLB_WR", &stores, 1, 1.5 },
	{ "BR_MIS_PRED", &branches, 0.2, 2 },
	{ "BR_MIS_PRED_RETIRED", &branches, 0.2, 0.8 },
	{ "STALL_FRONTEND", &branches, 0.1, 200 },
	{ "STALL_SLOT_FRONTEND", &branches, 0.1, 2000 },
	{ "BR_RETURN_RETIRED", &calls, 1, 1 },
	{ "BR_RETURN_SPEC", &calls, 1, 1.5 },
	{ "BR_INDIRECT_SPEC", &calls, 1, 1.5 },
	{ "DP_SPEC", &integers, 4, 7 },
	{ "VFP_SPEC", &floats, 2, 2.5 },
	{ "ASE_SPEC", &floats, 2, 2.5 },
	{ "DMB_SPEC", &barriers, 1, 1.5 },
	{ "DSB_SPEC", &barriers, 1, 1.5 },
	{ "ISB_SPEC", &barriers, 1, 1.5 },
	{ "LDREX_SPEC", &exclusives, 1, 1.5 },
	{ "STREX_SPEC", &exclusives, 1, 1.5 },
	{ "STREX_PASS_SPEC", &exclusives, 1, 1.5 },
	{ "UNALIGNED_LD_SPEC", &splits, 0.9, 2.5 },
	{ "UNALIGNED_ST_SPEC", &splits, 0.9, 2.5 },
	{ "UNALIGNED_LDST_SPEC", &splits, 1.9, 5 },
	{ "UNALIGNED_LDST_RETIRED", &splits, 1.9, 2.5 },
	{ "L1I_CACHE", &code, 0.5, 50 },
	{ "L1I_CACHE_REFILL", &code, 0.3, 10 },
	{ "L1I_TLB", &code, 0.3, 50 },
	{ "L1I_TLB_REFILL", &code, 0.3, 10 },
	{ "ITLB_WALK", &code, 0.02, 10 },
	/* The kernel's generic events, for CPUs whose own events are not in the catalog. */
	{ "CYCLES", &chain, 1, 100 },
	{ "INSTRUCTIONS", &chain, 3, 12 },
	{ "BRANCHES", &chain, 1, 3 },
	{ "L1_DCACHE_LOADS", &chain, 1, 8 },
	{ "L1_DCACHE_LOAD_MISSES", &memory_chain, 0.3, 10 },
	{ "LLC_LOADS", &memory_chain, 0.3, 12 },
	{ "LLC_LOAD_MISSES", &memory_chain, 0.02, 12 },
	{ "CACHE_REFERENCES", &memory_chain, 0.3, 20 },
	{ "CACHE_MISSES", &memory_chain, 0.02, 20 },
	{ "DTLB_LOAD_MISSES", &memory_chain, 0.05, 10 },
	{ "STALLED_CYCLES_BACKEND", &memory_chain, 1, 10000 },
	{ "L1_DCACHE_STORES", &stores, 1, 3 },
	{ "BRANCH_MISSES", &branches, 0.2, 2 },
	{ "STALLED_CYCLES_FRONTEND", &branches, 0.1, 200 },
};

const struct doctor_expectation *doctor_expectation_at(size_t i)
{
	return i < COUNT(expectations) ? &expectations[i] : NULL;
}

const struct doctor_expectation *doctor_expectation_find(const char *event)
{
	for (size_t i = 0; i < COUNT(expectations); i++)
		if (strcasecmp(expectations[i].event, event) == 0 &&
		    expectations[i].kernel->run != NULL)
			return &expectations[i];
	return NULL;
}

/* Covers what is counted while the counter is enabled and disabled. */
static const double tolerance = 0.01;

struct event_check doctor_verdict(const struct doctor_expectation *e, double count)
{
	double least = e->least * (double)e->kernel->n_steps;
	double most = COMPILER_FACTOR * e->most * (double)e->kernel->n_steps;
	struct event_check check = { .event = e->event, .verdict = EVENT_OK, .factor = 1 };

	if (count == 0)
		check.verdict = EVENT_READS_0;
	else if (count < least * (1 - tolerance))
		check = (struct event_check){ e->event, EVENT_IS_OFF, count / least };
	else if (count > most * (1 + tolerance))
		check = (struct event_check){ e->event, EVENT_IS_OFF, count / most };
	return check;
}

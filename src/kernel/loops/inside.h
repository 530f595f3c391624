/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the microbenchmarks. For this folder only. */
#ifndef CYCLOPS_KERNEL_LOOPS_INSIDE_H
#define CYCLOPS_KERNEL_LOOPS_INSIDE_H

#include "kernel/loops/microbenchmark.h"

/* Picks the text of this architecture. Elsewhere nothing runs (microbenchmark_is_here()). */
#if defined(__aarch64__)
#define BY_ARCHITECTURE(aarch64, x86_64, arm) aarch64
#elif defined(__x86_64__)
#define BY_ARCHITECTURE(aarch64, x86_64, arm) x86_64
#elif defined(__arm__) && defined(__ARM_FP)
#define BY_ARCHITECTURE(aarch64, x86_64, arm) arm
#else
#define BY_ARCHITECTURE(aarch64, x86_64, arm) ""
#endif

/* The start of a loop, and its end: two instructions that count %[n] down. */
#define LOOP_START ".p2align 5\n1:\n"
#define LOOP_END                                                                                   \
	BY_ARCHITECTURE("subs %[n], %[n], #1\nb.ne 1b\n", "dec %[n]\njnz 1b\n",                    \
			"subs %[n], %[n], #1\nbne 1b\n")

/* Registers of floating-point numbers. */
#if defined(__x86_64__)
#define FLOAT_REGISTER "x"
#elif defined(__aarch64__) ||                                                                      \
	(defined(__arm__) && defined(__ARM_FP)) /* not with floating point in software */
#define FLOAT_REGISTER "w"
#else
#define FLOAT_REGISTER "r" /* never run */
#endif

enum {
	LINE_BYTES = MICROBENCHMARK_LINE,
	PAGE_BYTES = 4096,
	LINES_MAX = 1 << 25, /* 2 GiB */
};

/* Ranges that many have. Iterations fit 32 bits, the counters of 32-bit Arm. */
#define ITERATIONS_RANGE(usual) [ITERATIONS] = { usual, 1, UINT32_MAX }
#define LINES_RANGE(usual) [LINES] = { usual, 2, LINES_MAX }

/* Fresh memory: in small pages, unless the run has huge ones. `is_code`: it can be executed. */
int run_take_memory(struct microbenchmark_run *, size_t bytes, bool is_code, struct err *);

/* Memory for code that branches to any of it. Fails for more than they all reach. */
int run_take_code(struct microbenchmark_run *, uint64_t bytes, struct err *);

/* Makes a ring of pointers through `n` places that are `stride` bytes apart, in the same random_order() each time. */
void make_pointer_ring(void *memory, size_t n, size_t stride, size_t block);

/* One round of a run is all of its lines. */
uint64_t round_of_lines(const uint64_t values[N_PARAMETERS]);

/* Calls the emitted function at the start of the memory (emit.h). */
void run_emitted(struct microbenchmark_run *);

extern const struct microbenchmark microbenchmark_barriers, microbenchmark_blocks,
	microbenchmark_branches, microbenchmark_calls, microbenchmark_chase, microbenchmark_code,
	microbenchmark_copy, microbenchmark_denormal, microbenchmark_divide, microbenchmark_duty,
	microbenchmark_exclusives, microbenchmark_faults, microbenchmark_fill,
	microbenchmark_float_divide, microbenchmark_floats, microbenchmark_forward,
	microbenchmark_gather, microbenchmark_indirect, microbenchmark_integers,
	microbenchmark_jumps, microbenchmark_prefetch, microbenchmark_random_branch,
	microbenchmark_sharing, microbenchmark_snoop, microbenchmark_splits,
	microbenchmark_square_root, microbenchmark_triad;

#endif

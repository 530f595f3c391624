/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions on registers: chains of slow ones, numbers of each kind, barriers. */
#include "kernel/loops/inside.h"

static void run_integers(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS], a = 1, b = 2, c = 3, d = 4;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("add %[a], %[a], #1\n"
						    "eor %[b], %[b], %[a]\n"
						    "add %[c], %[c], #1\n"
						    "eor %[d], %[d], %[c]\n",
						    "add $1, %[a]\n"
						    "xor %[a], %[b]\n"
						    "add $1, %[c]\n"
						    "xor %[c], %[d]\n",
						    "add %[a], %[a], #1\n"
						    "eor %[b], %[b], %[a]\n"
						    "add %[c], %[c], #1\n"
						    "eor %[d], %[d], %[c]\n") LOOP_END
			 : [n] "+r"(n), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d)
			 :
			 : "cc");
}

static void run_floats(struct microbenchmark_run *r)
{
#if defined(__aarch64__) || defined(__x86_64__)
	unsigned long n = r->values[ITERATIONS];
	double x = 1, y = 2;
	float __attribute__((vector_size(16))) v = { 1, 1, 1, 1 }, w = { 2, 2, 2, 2 };

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("fadd %d[x], %d[x], %d[x]\n"
						    "fadd %d[y], %d[y], %d[y]\n"
						    "fadd %[v].4s, %[v].4s, %[v].4s\n"
						    "fadd %[w].4s, %[w].4s, %[w].4s\n",
						    "addsd %[x], %[x]\n"
						    "addsd %[y], %[y]\n"
						    "addps %[v], %[v]\n"
						    "addps %[w], %[w]\n",
						    "") LOOP_END
			 : [n] "+r"(n), [x] "+" FLOAT_REGISTER(x), [y] "+" FLOAT_REGISTER(y),
			   [v] "+" FLOAT_REGISTER(v), [w] "+" FLOAT_REGISTER(w)
			 :
			 : "cc");
#else
	(void)r;
#endif
}

/* By 1, so that each quotient is the next dividend. */
static void run_divide(struct microbenchmark_run *r)
{
#if defined(__aarch64__)
	unsigned long n = r->values[ITERATIONS], quotient = UINT64_MAX / 3, by = 1;

	__asm__ volatile(LOOP_START "udiv %[q], %[q], %[by]\n" LOOP_END
			 : [q] "+r"(quotient), [n] "+r"(n)
			 : [by] "r"(by)
			 : "cc");
#elif defined(__x86_64__)
	unsigned long n = r->values[ITERATIONS], quotient = UINT64_MAX / 3, by = 1;

	__asm__ volatile(LOOP_START "xor %%edx, %%edx\n"
				    "div %[by]\n" LOOP_END
			 : "+a"(quotient), [n] "+r"(n)
			 : [by] "r"(by)
			 : "cc", "rdx");
#else
	(void)r;
#endif
}

static void run_float_divide(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS];
	double quotient = 1.0 / 3, by = 1;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("fdiv %d[q], %d[q], %d[by]\n",
						    "divsd %[by], %[q]\n",
						    "vdiv.f64 %P[q], %P[q], %P[by]\n") LOOP_END
			 : [q] "+" FLOAT_REGISTER(quotient), [n] "+r"(n)
			 : [by] FLOAT_REGISTER(by)
			 : "cc");
}

static void run_square_root(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS];
	double root = 2;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("fsqrt %d[q], %d[q]\n", "sqrtsd %[q], %[q]\n",
						    "vsqrt.f64 %P[q], %P[q]\n") LOOP_END
			 : [q] "+" FLOAT_REGISTER(root), [n] "+r"(n)
			 :
			 : "cc");
}

/* Products by 1: of the smallest normal number halved, or of 1. */
static void run_denormal(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS];
	double product = r->values[DENORMAL] != 0 ? 0x1p-1023 : 1, by = 1;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("fmul %d[p], %d[p], %d[by]\n",
						    "mulsd %[by], %[p]\n",
						    "vmul.f64 %P[p], %P[p], %P[by]\n") LOOP_END
			 : [p] "+" FLOAT_REGISTER(product), [n] "+r"(n)
			 : [by] FLOAT_REGISTER(by)
			 : "cc");
}

static void run_barriers(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS];

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("dmb ish\ndsb ish\nisb\n",
						    "mfence\nsfence\nlfence\n",
						    "dmb ish\ndsb ish\nisb\n") LOOP_END
			 : [n] "+r"(n)
			 :
			 : "cc", "memory");
}

static int prepare_word(struct microbenchmark_run *r, struct err *err)
{
	return run_take_memory(r, PAGE_BYTES, false, err);
}

static void run_exclusives(struct microbenchmark_run *r)
{
#if defined(__aarch64__) || defined(__arm__)
	unsigned long n = r->values[ITERATIONS], t;
	unsigned failed;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("ldxr %[t], [%[a]]\n"
						    "stxr %w[f], %[t], [%[a]]\n",
						    "",
						    "ldrex %[t], [%[a]]\n"
						    "strex %[f], %[t], [%[a]]\n") LOOP_END
			 : [n] "+r"(n), [t] "=&r"(t), [f] "=&r"(failed)
			 : [a] "r"(r->memory)
			 : "cc", "memory");
#else
	(void)r;
#endif
}

const struct microbenchmark microbenchmark_integers = {
	.name = "integers",
	.iteration = "four integer operations, two pairs",
	.proves = "integer instructions, use of the core's width",
	.parameters = { ITERATIONS_RANGE(500000) },
	.architectures = ON_ALL,
	.run = run_integers,
};

const struct microbenchmark microbenchmark_floats = {
	.name = "floats",
	.iteration = "two scalar and two vector additions",
	.proves = "floating-point and vector instructions",
	.parameters = { ITERATIONS_RANGE(500000) },
	.architectures = ON_AARCH64 | ON_X86_64,
	.run = run_floats,
};

const struct microbenchmark microbenchmark_divide = {
	.name = "divide",
	.iteration = "a division of 64 bits that waits for the one before",
	.proves = "latency of integer division",
	.parameters = { ITERATIONS_RANGE(200000) },
	.architectures = ON_AARCH64 | ON_X86_64,
	.run = run_divide,
};

const struct microbenchmark microbenchmark_float_divide = {
	.name = "float-divide",
	.iteration = "a division of doubles that waits for the one before",
	.proves = "latency of floating-point division",
	.parameters = { ITERATIONS_RANGE(200000) },
	.architectures = ON_ALL,
	.run = run_float_divide,
};

const struct microbenchmark microbenchmark_square_root = {
	.name = "square-root",
	.iteration = "a square root that waits for the one before",
	.proves = "latency of the square root",
	.parameters = { ITERATIONS_RANGE(200000) },
	.architectures = ON_ALL,
	.run = run_square_root,
};

const struct microbenchmark microbenchmark_denormal = {
	.name = "denormal",
	.iteration = "a product that waits for the one before, denormal or not",
	.proves = "what denormal numbers cost",
	.parameters = {
		ITERATIONS_RANGE(200000),
		[DENORMAL] = { 1, 0, 1 },
	},
	.architectures = ON_ALL,
	.run = run_denormal,
};

const struct microbenchmark microbenchmark_barriers = {
	.name = "barriers",
	.iteration = "three barriers: DMB, DSB, ISB; on x86 MFENCE, SFENCE, LFENCE",
	.proves = "barriers, instructions that make the core wait for itself",
	.parameters = { ITERATIONS_RANGE(100000) },
	.architectures = ON_ALL,
	.run = run_barriers,
};

const struct microbenchmark microbenchmark_exclusives = {
	.name = "exclusives",
	.iteration = "a load exclusive and its store, which succeeds",
	.proves = "exclusive loads and stores",
	.parameters = { ITERATIONS_RANGE(200000) },
	.architectures = ON_AARCH64 | ON_ARM,
	.prepare = prepare_word,
	.run = run_exclusives,
};

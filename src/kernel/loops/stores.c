/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of what was just stored, accesses across lines, two blocks of code that take turns. */
#include <string.h>

#include "kernel/loops/inside.h"

static int prepare_page(struct microbenchmark_run *r, struct err *err)
{
	if (run_take_memory(r, PAGE_BYTES, false, err) < 0)
		return -1;
	memset(r->memory, 0, PAGE_BYTES);
	return 0;
}

/* A byte is stored, then a word loaded that has it, or one of another line. */
static void run_forward(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS], t = 0;
	char *stored = r->memory, *loaded = stored + (r->values[OVERLAP] != 0 ? 0 : LINE_BYTES);

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("strb %w[t], [%[s]]\n"
						    "ldr %[t], [%[l]]\n",
						    "movb %b[t], (%[s])\n"
						    "mov (%[l]), %[t]\n",
						    "strb %[t], [%[s]]\n"
						    "ldr %[t], [%[l]]\n") LOOP_END
			 : [n] "+r"(n), [t] "+r"(t)
			 : [s] "r"(stored), [l] "r"(loaded)
			 : "cc", "memory");
}

static void run_splits(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS], t;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("ldr %[t], [%[a]]\n"
						    "str %[t], [%[a]]\n",
						    "mov (%[a]), %[t]\n"
						    "mov %[t], (%[a])\n",
						    "ldr %[t], [%[a]]\n"
						    "str %[t], [%[a]]\n") LOOP_END
			 : [n] "+r"(n), [t] "=&r"(t)
			 : [a] "r"((char *)r->memory + LINE_BYTES - sizeof(long) / 2)
			 : "cc", "memory");
}

enum { INNER = 8 };

/* The inner loop runs eight times: a copy where the counter is even, else a square root. */
static void run_blocks(struct microbenchmark_run *r)
{
	unsigned long n = (unsigned long)((r->values[ITERATIONS] + INNER - 1) / INNER), inner;
	double *from = r->memory, *to = from + LINE_BYTES / sizeof(*to), t;

	*from = 2;
	__asm__ volatile(LOOP_START BY_ARCHITECTURE("mov %[i], #8\n"
						    "2: tbnz %[i], #0, 3f\n"
						    "ldr %d[t], [%[a]]\n"
						    "str %d[t], [%[b]]\n"
						    "b 4f\n"
						    "3: ldr %d[t], [%[a]]\n"
						    "fsqrt %d[t], %d[t]\n"
						    "str %d[t], [%[b]]\n"
						    "4: subs %[i], %[i], #1\n"
						    "b.ne 2b\n",
						    "mov $8, %k[i]\n"
						    "2: test $1, %b[i]\n"
						    "jnz 3f\n"
						    "movsd (%[a]), %[t]\n"
						    "movsd %[t], (%[b])\n"
						    "jmp 4f\n"
						    "3: movsd (%[a]), %[t]\n"
						    "sqrtsd %[t], %[t]\n"
						    "movsd %[t], (%[b])\n"
						    "4: dec %[i]\n"
						    "jnz 2b\n",
						    "mov %[i], #8\n"
						    "2: tst %[i], #1\n"
						    "bne 3f\n"
						    "vldr %P[t], [%[a]]\n"
						    "vstr %P[t], [%[b]]\n"
						    "b 4f\n"
						    "3: vldr %P[t], [%[a]]\n"
						    "vsqrt.f64 %P[t], %P[t]\n"
						    "vstr %P[t], [%[b]]\n"
						    "4: subs %[i], %[i], #1\n"
						    "bne 2b\n") LOOP_END
			 : [n] "+r"(n), [i] "=&r"(inner), [t] "=&" FLOAT_REGISTER(t)
			 : [a] "r"(from), [b] "r"(to)
			 : "cc", "memory");
}

const struct microbenchmark microbenchmark_forward = {
	.name = "forward",
	.iteration = "a byte stored, and a word loaded that has it (overlap=1) or not",
	.proves = "loads that wait because stores cannot be forwarded",
	.parameters = {
		ITERATIONS_RANGE(500000),
		[OVERLAP] = { 1, 0, 1 },
	},
	.architectures = ON_ALL,
	.prepare = prepare_page,
	.run = run_forward,
};

const struct microbenchmark microbenchmark_splits = {
	.name = "splits",
	.iteration = "a load and a store across the end of a line",
	.proves = "unaligned accesses",
	.parameters = { ITERATIONS_RANGE(200000) },
	.architectures = ON_ALL,
	.prepare = prepare_page,
	.run = run_splits,
};

const struct microbenchmark microbenchmark_blocks = {
	.name = "blocks",
	.iteration = "a copy or a square root in turn; every eighth ends the inner loop",
	.proves = "executions of basic blocks: as many copies as square roots",
	.parameters = { ITERATIONS_RANGE(400000) },
	.architectures = ON_ALL,
	.prepare = prepare_page,
	.run = run_blocks,
};

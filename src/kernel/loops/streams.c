/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of doubles, read and written from the start to the end: bandwidth. */
#include <string.h>

#include "kernel/loops/inside.h"

enum { PER_LINE = LINE_BYTES / sizeof(double) };

/* All arrays, filled with numbers that stay normal. */
static int prepare_arrays(struct microbenchmark_run *r, struct err *err)
{
	size_t n = r->values[LINES] * PER_LINE * r->what->n_arrays;

	if (run_take_memory(r, n * sizeof(double), false, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		((double *)r->memory)[i] = 1;
	return 0;
}

static double *array_at(const struct microbenchmark_run *r, size_t i)
{
	return (double *)r->memory + i * r->values[LINES] * PER_LINE;
}

static uint64_t round_of_elements(const uint64_t values[N_PARAMETERS])
{
	return values[LINES] * PER_LINE;
}

/* How much of the arrays comes next. */
static unsigned long next_part(const struct microbenchmark_run *r, uint64_t left)
{
	uint64_t all = round_of_elements(r->values);

	return (unsigned long)(left < all ? left : all);
}

/* a[i] = b[i] + x c[i] */
static void triad_loop(unsigned long n, double *a, const double *b, const double *c)
{
	double x = 0.5, t, u;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("ldr %d[t], [%[b]], #8\n"
						    "ldr %d[u], [%[c]], #8\n"
						    "fmadd %d[t], %d[u], %d[x], %d[t]\n"
						    "str %d[t], [%[a]], #8\n",
						    "movsd (%[c]), %[t]\n"
						    "mulsd %[x], %[t]\n"
						    "addsd (%[b]), %[t]\n"
						    "movsd %[t], (%[a])\n"
						    "add $8, %[a]\n"
						    "add $8, %[b]\n"
						    "add $8, %[c]\n",
						    "vldmia %[b]!, {%P[t]}\n"
						    "vldmia %[c]!, {%P[u]}\n"
						    "vmla.f64 %P[t], %P[u], %P[x]\n"
						    "vstmia %[a]!, {%P[t]}\n") LOOP_END
			 : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [n] "+r"(n),
			   [t] "=&" FLOAT_REGISTER(t), [u] "=&" FLOAT_REGISTER(u)
			 : [x] FLOAT_REGISTER(x)
			 : "cc", "memory");
}

static void run_triad(struct microbenchmark_run *r)
{
	for (uint64_t left = r->values[ITERATIONS], n; left > 0; left -= n) {
		n = next_part(r, left);
		triad_loop((unsigned long)n, array_at(r, 0), array_at(r, 1), array_at(r, 2));
	}
}

static void copy_loop(unsigned long n, double *a, const double *b)
{
	double t;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("ldr %d[t], [%[b]], #8\n"
						    "str %d[t], [%[a]], #8\n",
						    "movsd (%[b]), %[t]\n"
						    "movsd %[t], (%[a])\n"
						    "add $8, %[a]\n"
						    "add $8, %[b]\n",
						    "vldmia %[b]!, {%P[t]}\n"
						    "vstmia %[a]!, {%P[t]}\n") LOOP_END
			 : [a] "+r"(a), [b] "+r"(b), [n] "+r"(n), [t] "=&" FLOAT_REGISTER(t)
			 :
			 : "cc", "memory");
}

static void run_copy(struct microbenchmark_run *r)
{
	for (uint64_t left = r->values[ITERATIONS], n; left > 0; left -= n) {
		n = next_part(r, left);
		copy_loop((unsigned long)n, array_at(r, 0), array_at(r, 1));
	}
}

static void fill_loop(unsigned long n, double *a)
{
	double x = 1;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("str %d[x], [%[a]], #8\n",
						    "movsd %[x], (%[a])\n"
						    "add $8, %[a]\n",
						    "vstmia %[a]!, {%P[x]}\n") LOOP_END
			 : [a] "+r"(a), [n] "+r"(n)
			 : [x] FLOAT_REGISTER(x)
			 : "cc", "memory");
}

static void run_fill(struct microbenchmark_run *r)
{
	for (uint64_t left = r->values[ITERATIONS], n; left > 0; left -= n) {
		n = next_part(r, left);
		fill_loop((unsigned long)n, array_at(r, 0));
	}
}

#define STREAM_PARAMETERS                                                                          \
	{                                                                                          \
		ITERATIONS_RANGE(1000000), LINES_RANGE(128), [HUGE_PAGES] = { 0, 0, 1 }            \
	}

const struct microbenchmark microbenchmark_triad = {
	.name = "triad",
	.iteration = "an element of a[i] = b[i] + x c[i]: two loads, one store",
	.proves = "bandwidth of each level, stores that read their line first",
	.parameters = STREAM_PARAMETERS,
	.n_arrays = 3,
	.architectures = ON_ALL,
	.prepare = prepare_arrays,
	.run = run_triad,
	.round = round_of_elements,
};

const struct microbenchmark microbenchmark_copy = {
	.name = "copy",
	.iteration = "an element of a[i] = b[i]: one load, one store",
	.proves = "bandwidth of each level, reads and writes alike",
	.parameters = STREAM_PARAMETERS,
	.n_arrays = 2,
	.architectures = ON_ALL,
	.prepare = prepare_arrays,
	.run = run_copy,
	.round = round_of_elements,
};

const struct microbenchmark microbenchmark_fill = {
	.name = "fill",
	.iteration = "an element of a[i] = x: one store",
	.proves = "stores; events of loads must not count",
	.parameters = STREAM_PARAMETERS,
	.n_arrays = 1,
	.architectures = ON_ALL,
	.prepare = prepare_arrays,
	.run = run_fill,
	.round = round_of_elements,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Loads by addresses in random order: one after the other, at the same time, ahead of their use. */
#include <string.h>
#include <stdlib.h>

#include "base/pointer_ring.h"
#include "kernel/loops/inside.h"

enum { STRIDE_MAX = 1 << 20 };

static int prepare_ring(struct microbenchmark_run *r, struct err *err)
{
	size_t n = r->values[LINES], stride = r->values[STRIDE];

	if (run_take_memory(r, n * stride, false, err) < 0)
		return -1;
	make_pointer_ring(r->memory, n, stride, r->values[BLOCK]);
	r->position = r->memory;
	return 0;
}

static void run_chase(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS];
	void *at = r->position;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("ldr %[at], [%[at]]\n", "mov (%[at]), %[at]\n",
						    "ldr %[at], [%[at]]\n") LOOP_END
			 : [at] "+r"(at), [n] "+r"(n)
			 :
			 : "cc", "memory");
	r->position = at;
}

const struct microbenchmark microbenchmark_chase = {
	.name = "chase",
	.iteration = "a load whose address is the result of the load before",
	.proves = "latency of each cache level and of DRAM, TLB misses and walks, load sources",
	.parameters = {
		ITERATIONS_RANGE(1000000),
		LINES_RANGE(256),
		[STRIDE] = { LINE_BYTES, 8, STRIDE_MAX, 8 },
		[BLOCK] = { 0, 0, LINES_MAX },
		[HUGE_PAGES] = { 0, 0, 1 },
	},
	.n_arrays = 1,
	.architectures = ON_ALL,
	.prepare = prepare_ring,
	.run = run_chase,
	.round = round_of_lines,
};

/* Where gather's index begins: behind its lines. The index has the distances of lines, in random order. */
static int prepare_gather(struct microbenchmark_run *r, struct err *err)
{
	size_t n = r->values[LINES], data = n * LINE_BYTES;
	uint64_t *order;
	uint32_t *index;

	if (run_take_memory(r, data + n * sizeof(*index), false, err) < 0)
		return -1;
	memset(r->memory, 0, data);
	order = random_order(n, r->values[BLOCK], 0);
	index = (uint32_t *)(void *)((char *)r->memory + data);
	for (size_t i = 0; i < n; i++)
		index[i] = (uint32_t)(order[i] * LINE_BYTES);
	free(order);
	return 0;
}

static void gather_loop(unsigned long n, const void *lines, const uint32_t *index)
{
	unsigned long offset, t;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("ldr %w[o], [%[i]], #4\n"
						    "ldr %[t], [%[l], %[o]]\n",
						    "mov (%[i]), %k[o]\n"
						    "add $4, %[i]\n"
						    "mov (%[l], %[o]), %[t]\n",
						    "ldr %[o], [%[i]], #4\n"
						    "ldr %[t], [%[l], %[o]]\n") LOOP_END
			 : [i] "+r"(index), [n] "+r"(n), [o] "=&r"(offset), [t] "=&r"(t)
			 : [l] "r"(lines)
			 : "cc", "memory");
}

static void run_gather(struct microbenchmark_run *r)
{
	const uint32_t *index =
		(const uint32_t *)(const void *)((char *)r->memory + r->values[LINES] * LINE_BYTES);

	for (uint64_t left = r->values[ITERATIONS], n; left > 0; left -= n) {
		n = left < r->values[LINES] ? left : r->values[LINES];
		gather_loop((unsigned long)n, r->memory, index);
	}
}

static int prepare_prefetch(struct microbenchmark_run *r, struct err *err)
{
	if (run_take_memory(r, r->values[LINES] * LINE_BYTES, false, err) < 0)
		return -1;
	memset(r->memory, 0, r->values[LINES] * LINE_BYTES);
	return 0;
}

static void prefetch_loop(unsigned long n, const char *line)
{
	__asm__ volatile(LOOP_START BY_ARCHITECTURE("prfm pldl1keep, [%[l]]\n"
						    "add %[l], %[l], #64\n",
						    "prefetcht0 (%[l])\n"
						    "add $64, %[l]\n",
						    "pld [%[l]]\n"
						    "add %[l], %[l], #64\n") LOOP_END
			 : [l] "+r"(line), [n] "+r"(n)
			 :
			 : "cc", "memory");
}

static void run_prefetch(struct microbenchmark_run *r)
{
	for (uint64_t left = r->values[ITERATIONS], n; left > 0; left -= n) {
		n = left < r->values[LINES] ? left : r->values[LINES];
		prefetch_loop((unsigned long)n, r->memory);
	}
}

const struct microbenchmark microbenchmark_gather = {
	.name = "gather",
	.iteration = "a load of an index, and one of a line that it names; none waits for another",
	.proves = "misses that overlap: latency times misses is more than the cycles",
	.parameters = {
		ITERATIONS_RANGE(1000000),
		LINES_RANGE(256),
		[BLOCK] = { 0, 0, LINES_MAX },
		[HUGE_PAGES] = { 0, 0, 1 },
	},
	.n_arrays = 1,
	.architectures = ON_ALL,
	.prepare = prepare_gather,
	.run = run_gather,
	.round = round_of_lines,
};

const struct microbenchmark microbenchmark_prefetch = {
	.name = "prefetch",
	.iteration = "a software prefetch of the next line",
	.proves = "which events count prefetches as loads",
	.parameters = {
		ITERATIONS_RANGE(1000000),
		LINES_RANGE(256),
		[HUGE_PAGES] = { 0, 0, 1 },
	},
	.n_arrays = 1,
	.architectures = ON_ALL,
	.prepare = prepare_prefetch,
	.run = run_prefetch,
	.round = round_of_lines,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that walk a graph of their own, the last ones longer, and count each step in an array of
 * counters, one for each thread. Built with -DPADDED, each counter has its own cache line.
 */
#include "../../../kernels/start.h"

enum { LINE = 64, N_THREADS = 4, N_NODES = 1024, N_STEPS = 40000 };

#ifdef PADDED
enum { STRIDE = LINE / sizeof(uint64_t) };
#else
enum { STRIDE = 1 };
#endif

static uint64_t counters[N_THREADS * STRIDE] __attribute__((aligned(LINE)));
static uint32_t next[N_THREADS][N_NODES] __attribute__((aligned(LINE)));
static uint64_t ends[N_THREADS][LINE / sizeof(uint64_t)] __attribute__((aligned(LINE)));

KERNEL static void prepare(void)
{
	for (unsigned t = 0; t < N_THREADS; t++)
		for (unsigned i = 0; i < N_NODES; i++)
			next[t][i] = (i * 5 + 2 * t + 1) % N_NODES;
}

KERNEL static void walk(void *argument)
{
	volatile uint64_t *mine = argument;
	unsigned t = (unsigned)((uint64_t *)argument - counters) / STRIDE;
	const volatile uint32_t *own = next[t];
	uint32_t at = 0;

	for (unsigned i = 0; i < (t * t + 2) * N_STEPS; i++) {
		at = own[at];
		++*mine;
	}
	ends[t][0] = at;
}

int kernel_main(void)
{
	struct thread threads[N_THREADS];
	uint64_t n = 0;

	prepare();
	for (int i = 0; i < N_THREADS; i++)
		thread_start(&threads[i], walk, &counters[i * STRIDE]);
	for (int i = 0; i < N_THREADS; i++) {
		thread_join(&threads[i]);
		n += counters[i * STRIDE];
	}
	return n != (2 + 3 + 6 + 11) * N_STEPS;
}

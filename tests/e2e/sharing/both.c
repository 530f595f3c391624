/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As counters.c, but each thread counts twice, in two arrays. Built with -DPADDED, only the counters of the first array have
 * cache lines of their own: then the threads wait for the second one instead. With -DPADDED -DALL_PADDED all have.
 */
#include "../../../kernels/start.h"

enum { LINE = 64, N_THREADS = 4, N_NODES = 1024, N_STEPS = 20000 };

struct steps {
#ifdef PADDED
	uint64_t n __attribute__((aligned(LINE)));
#else
	uint64_t n;
#endif
};

struct visits {
#ifdef ALL_PADDED
	uint64_t n __attribute__((aligned(LINE)));
#else
	uint64_t n;
#endif
};

static struct steps steps[N_THREADS] __attribute__((aligned(LINE)));
static struct visits visits[N_THREADS] __attribute__((aligned(LINE)));
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
	volatile struct steps *mine = argument;
	unsigned t = (unsigned)((struct steps *)argument - steps);
	volatile struct visits *seen = &visits[t];
	const volatile uint32_t *own = next[t];
	uint32_t at = 0;

	for (unsigned i = 0; i < (t * t + 2) * N_STEPS; i++) {
		at = own[at];
		++mine->n;
		++seen->n;
	}
	ends[t][0] = at;
}

int kernel_main(void)
{
	struct thread threads[N_THREADS];
	uint64_t n = 0;

	prepare();
	for (int i = 0; i < N_THREADS; i++)
		thread_start(&threads[i], walk, &steps[i]);
	for (int i = 0; i < N_THREADS; i++) {
		thread_join(&threads[i]);
		n += steps[i].n + visits[i].n;
	}
	return n != 2 * (2 + 3 + 6 + 11) * N_STEPS;
}

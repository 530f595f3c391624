/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two pairs of threads, each of which fills and empties a ring in batches; the statistics that the
 * four threads keep of each slot stand side by side. Built with -DPADDED, each has its own cache line.
 */
#include "../../../kernels/start.h"

enum { LINE = 64, N_SLOTS = 256, N_MESSAGES = 100000, N_RINGS = 2 };

#ifdef PADDED
#define OWN_LINE __attribute__((aligned(LINE)))
#else
#define OWN_LINE
#endif

struct side {
	uint64_t n_bytes OWN_LINE;
};

struct ring {
	uint64_t head __attribute__((aligned(LINE))); /* written by the producer now and then */
	uint64_t tail __attribute__((aligned(LINE))); /* … the consumer */
};

static struct ring rings[N_RINGS];
static struct side sides[2 * N_RINGS] __attribute__((aligned(LINE)));
static uint64_t sums[N_RINGS][LINE / sizeof(uint64_t)] __attribute__((aligned(LINE)));

enum { BATCH = 64 };

KERNEL static void produce(void *argument)
{
	struct ring *r = argument;
	volatile struct side *stats = &sides[2 * (r - rings)];

	for (uint64_t i = 0; i < N_MESSAGES; i++) {
		if (i % BATCH == 0)
			while (i + BATCH - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) > N_SLOTS)
				;
		stats->n_bytes += 8;
		if (i % BATCH == BATCH - 1)
			__atomic_store_n(&r->head, i + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&r->head, N_MESSAGES, __ATOMIC_RELEASE);
}

KERNEL static void consume(void *argument)
{
	struct ring *r = argument;
	volatile struct side *stats = &sides[2 * (r - rings) + 1];
	uint64_t head = 0, sum = 0;

	for (uint64_t i = 0; i < N_MESSAGES; i++) {
		while (i == head)
			head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
		sum += i * i;
		stats->n_bytes += 8;
		if (i % BATCH == BATCH - 1)
			__atomic_store_n(&r->tail, i + 1, __ATOMIC_RELEASE);
	}
	sums[r - rings][0] = sum;
}

int kernel_main(void)
{
	struct thread producers[N_RINGS], consumers[N_RINGS];

	for (int i = 0; i < N_RINGS; i++) {
		thread_start(&producers[i], produce, &rings[i]);
		thread_start(&consumers[i], consume, &rings[i]);
	}
	for (int i = 0; i < N_RINGS; i++) {
		thread_join(&producers[i]);
		thread_join(&consumers[i]);
	}
	return sums[0][0] != sums[1][0] || sides[3].n_bytes != 8 * N_MESSAGES;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that have nothing to do with each other, but meet in a cache line: one counts
 * under a lock, the other reads a limit that never changes. Built with -DPADDED, the limit has
 * a line of its own.
 */
#include "start.h"

enum { LINE = 64, ROUNDS = 25000, N_VALUES = 4096 };

struct account {
	uint64_t lock;
	uint64_t count;
#ifdef PADDED
	char padding[LINE - 2 * sizeof(uint64_t)];
#endif
	uint64_t limit;
} __attribute__((aligned(LINE)));

static struct account account = { .limit = 1 << 20 };
static uint32_t values[N_VALUES] __attribute__((aligned(LINE)));
static uint64_t n_below;

KERNEL static void prepare(void)
{
	uint32_t state = 1;

	for (unsigned i = 0; i < N_VALUES; i++)
		values[i] = next_random(&state);
}

/* Takes the lock, counts, and gives the lock back, as if there were somebody to keep out. */
KERNEL static void count_up(void *argument)
{
	struct account *a = argument;

	for (unsigned i = 0; i < ROUNDS; i++) {
		while (__atomic_exchange_n(&a->lock, 1, __ATOMIC_ACQUIRE) != 0)
			;
		a->count++;
		__atomic_store_n(&a->lock, 0, __ATOMIC_RELEASE);
	}
}

/* Compares values of its own with the limit. */
KERNEL static void compare(void *argument)
{
	const volatile uint64_t *limit = &((struct account *)argument)->limit;
	uint64_t n = 0;

	for (unsigned i = 0; i < 12 * ROUNDS; i++)
		n += values[i % N_VALUES] < *limit;
	n_below = n;
}

int kernel_main(void)
{
	struct thread counter, comparer;

	prepare();
	thread_start(&counter, count_up, &account);
	thread_start(&comparer, compare, &account);
	thread_join(&counter);
	thread_join(&comparer);
	return account.count != ROUNDS || n_below > 12 * ROUNDS;
}

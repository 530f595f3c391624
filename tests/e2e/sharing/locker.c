/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that takes a lock again and again, and two that read settings which never change, in the
 * lock's cache line; built with -DPADDED, in one of their own.
 */
#include "../../../kernels/start.h"

enum { LINE = 64, ROUNDS = 40000, N_READERS = 2, READS = 30, N_VALUES = 4096 };

struct table {
	uint64_t lock, n_changes;
#ifdef PADDED
	char padding[LINE - 2 * sizeof(uint64_t)];
#endif
	uint64_t limits[N_READERS];
} __attribute__((aligned(LINE)));

static struct table table = { .limits = { 3, 5 } };
static uint32_t values[N_VALUES] __attribute__((aligned(LINE)));
static uint64_t results[N_READERS][LINE / sizeof(uint64_t)] __attribute__((aligned(LINE)));

KERNEL static void change(void *argument)
{
	volatile struct table *t = argument;

	for (unsigned i = 0; i < ROUNDS; i++) {
		while (__atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE) != 0)
			;
		t->n_changes++;
		__atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
	}
}

KERNEL static void compare(void *argument)
{
	uint64_t *out = argument, n = 0;
	const volatile uint64_t *limit = &table.limits[out == results[1]];

	for (unsigned i = 0; i < READS * ROUNDS; i++)
		n += values[i % N_VALUES] < *limit;
	*out = n;
}

int kernel_main(void)
{
	struct thread locker, readers[N_READERS];

	thread_start(&locker, change, &table);
	for (int i = 0; i < N_READERS; i++)
		thread_start(&readers[i], compare, results[i]);
	thread_join(&locker);
	for (int i = 0; i < N_READERS; i++)
		thread_join(&readers[i]);
	return table.n_changes != ROUNDS;
}

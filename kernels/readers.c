/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A locker and two readers. The locker writes words of two structs, the readers read others that
 * never change, each of them words of its own. What is written and what is read lie in one cache
 * line; built with -DPADDED, in two.
 */
#include "start.h"

enum { LINE = 64, ROUNDS = 20000 };

struct shared {
	uint64_t lock;
	uint64_t holder;
#ifdef PADDED
	char padding[LINE - 2 * sizeof(uint64_t)];
#endif
	uint64_t limits[2]; /* one for each reader */
} __attribute__((aligned(LINE)));

static struct shared first = { .limits = { 3, 5 } };
static struct shared second = { .limits = { 7, 11 } };
static uint64_t sums[2][LINE / sizeof(uint64_t)] __attribute__((aligned(LINE)));

KERNEL static void take_locks(void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < ROUNDS; i++) {
		while (__atomic_exchange_n(&first.lock, 1, __ATOMIC_ACQUIRE) != 0)
			;
		((volatile struct shared *)&first)->holder = i;
		((volatile struct shared *)&second)->holder = i;
		__atomic_store_n(&first.lock, 0, __ATOMIC_RELEASE);
	}
}

KERNEL static void add_limits(void *argument)
{
	uint64_t *sum = argument;
	unsigned own = sum == sums[1];
	const volatile uint64_t *a = &first.limits[own], *b = &second.limits[own];

	for (unsigned i = 0; i < 6 * ROUNDS; i++)
		*sum += *a + *b;
}

int kernel_main(void)
{
	struct thread locker, readers[2];

	thread_start(&locker, take_locks, 0);
	for (int i = 0; i < 2; i++)
		thread_start(&readers[i], add_limits, sums[i]);
	thread_join(&locker);
	for (int i = 0; i < 2; i++)
		thread_join(&readers[i]);
	return sums[0][0] != UINT64_C(6) * ROUNDS * 10 || sums[1][0] != UINT64_C(6) * ROUNDS * 16;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that several threads read all the time, beside a count that one writes now and then;
 * built with -DPADDED, on a line of its own. Built with -DTABLE, a table instead that does not fit
 * in the caches of a core: one thread fills it, then all read it through.
 */
#include "start.h"

enum { LINE = 64, ROUNDS = 20000, READERS = 3, PAUSE = 20, N_LINES = 32768, PASSES = 3 };

struct settings {
	uint64_t mode;
#ifdef PADDED
	char padding[LINE - sizeof(uint64_t)];
#endif
	uint64_t seen;
} __attribute__((aligned(LINE)));

static struct settings settings = { .mode = 1 };
static uint64_t sums[READERS][LINE / sizeof(uint64_t)] __attribute__((aligned(LINE)));

#ifdef TABLE
static uint64_t table[N_LINES][LINE / sizeof(uint64_t)] __attribute__((aligned(LINE)));

KERNEL static void write_seen(void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < N_LINES; i++)
		((volatile uint64_t *)table[i])[0] = 1;
}

KERNEL static void read_mode(void *argument)
{
	uint64_t sum = 0;

	for (unsigned pass = 0; pass < PASSES; pass++)
		for (unsigned i = 0; i < N_LINES; i++)
			sum += ((volatile uint64_t *)table[i])[0];
	*(uint64_t *)argument = sum;
}
#else
KERNEL static void write_seen(void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (unsigned k = 0; k < PAUSE; k++)
			__asm__ volatile("nop");
		++*(volatile uint64_t *)&settings.seen;
	}
}

KERNEL static void read_mode(void *argument)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 10 * ROUNDS; i++)
		sum += *(volatile uint64_t *)&settings.mode;
	*(uint64_t *)argument = sum;
}
#endif

int kernel_main(void)
{
	struct thread writer, readers[READERS];

	thread_start(&writer, write_seen, 0);
#ifdef TABLE
	thread_join(&writer);
#endif
	for (int i = 0; i < READERS; i++)
		thread_start(&readers[i], read_mode, sums[i]);
#ifndef TABLE
	thread_join(&writer);
#endif
	for (int i = 0; i < READERS; i++)
		thread_join(&readers[i]);
	return sums[0][0] == 0;
}

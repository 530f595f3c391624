/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that runs for long at a time and code that alternates, for elapsed_truth.py. With
 * -DROUNDS=n -DCOMPUTE=n -DLOOKUP=n the two functions take turns n times, of about so many steps;
 * with -DSLEEP_NS=n the program sleeps for so long after each round, -DTHREADS=n runs it in so
 * many threads.
 */
#include "start.h"

#ifndef SLEEP_NS
#define SLEEP_NS 0
#endif
#ifndef THREADS
#define THREADS 1
#endif

enum { SYS_NANOSLEEP = 101, WORDS = 1 << 22 };

static uint64_t *words;

/* Little waits: some instructions a cycle. */
KERNEL static uint64_t compute(uint64_t x, uint32_t n)
{
	uint64_t a = x, b = x + 1, c = x + 2;

	for (uint32_t i = 0; i < n; i++) {
		a += i;
		b ^= a;
		c += i;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c));
	}
	return a ^ b ^ c;
}

/* Each step waits for memory. */
KERNEL static uint64_t lookup(uint64_t x, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		x = words[x * 0x9e3779b97f4a7c15 >> 42] + x + 1;
	return x;
}

/* A third kind: multiplications that wait for each other. */
KERNEL static uint64_t power(uint64_t x, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		x = x * x + i;
	return x;
}

static uint32_t about(uint32_t n, uint32_t *state)
{
	return n / 2 + next_random(state) % (n + 1);
}

static void sleep_for(long ns)
{
	const long time[2] = { ns / 1000000000, ns % 1000000000 };

	system_call(SYS_NANOSLEEP, (long)time, 0, 0, 0, 0, 0);
}

KERNEL static void work(void *argument)
{
	uint32_t state = 1 + *(const uint32_t *)argument;
	uint64_t x = state;

	for (int i = 0; i < ROUNDS; i++) {
		x = lookup(x, about(LOOKUP, &state));
		x = compute(x, about(COMPUTE, &state));
		x = power(x, about(LOOKUP, &state));
		if (SLEEP_NS > 0)
			sleep_for(SLEEP_NS);
	}
	__asm__ volatile("" ::"r"(x));
}

int kernel_main(void)
{
	static struct thread threads[THREADS];
	static uint32_t numbers[THREADS];

	words = fresh_memory(WORDS * sizeof(*words));
	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		thread_start(&threads[i], work, &numbers[i]);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		thread_join(&threads[i]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks by a constant stride through more memory than caches hold, for prefetch_gain.py: PROGRAM WALK ROUNDS prints the CPU
 * time of an iteration in nanoseconds, and what was summed up.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 128 << 20, NODE_BYTES = 128, ROW_BYTES = 4096 + 64, LINE_BYTES = 64 };

/* A list whose nodes are in order: each load waits for the one before. */
__attribute__((noinline)) static uint64_t list(const char *at, long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++) {
		at = *(const char *const *)at;
		sum += (uintptr_t)at & (NODE_BYTES | 1);
	}
	return sum;
}

/* A column of a matrix: each load is on another page, and is worked on for longer than the core looks ahead. */
__attribute__((noinline)) static uint64_t column(const char *at, long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++) {
		uint64_t a = *(const uint64_t *)(at + i * ROW_BYTES), b = a + 1, c = a + 2,
			 d = a + 3;

		for (int k = 0; k < 24; k++) {
			a ^= a << 13, b ^= b << 13, c ^= c << 13, d ^= d << 13;
			a ^= a >> 7, b ^= b >> 7, c ^= c >> 7, d ^= d >> 7;
			a ^= a << 17, b ^= b << 17, c ^= c << 17, d ^= d << 17;
		}
		sum += a + b + c + d;
	}
	return sum;
}

/* Each cache line in turn: any core fetches these by itself. */
__attribute__((noinline)) static uint64_t dense(const char *at, long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++)
		sum += *(const uint64_t *)(at + i * LINE_BYTES);
	return sum;
}

static const struct walk {
	const char *name;
	uint64_t (*run)(const char *at, long n);
	long stride;
} walks[] = {
	{ "list", list, NODE_BYTES },
	{ "column", column, ROW_BYTES },
	{ "dense", dense, LINE_BYTES },
};

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void run(const struct walk *w, char *memory, long rounds)
{
	long n = BYTES / w->stride;
	uint64_t sum = 0;
	double begin = cpu_ns();

	for (long i = 0; i < rounds; i++) /* the columns one after the other */
		sum += w->run(memory + (w->run == column ? i % 64 * LINE_BYTES : 0), n);
	printf("%.3f %llx\n", (cpu_ns() - begin) / ((double)rounds * (double)n),
	       (unsigned long long)sum);
}

int main(int argc, char **argv)
{
	char *memory = aligned_alloc(4096, BYTES + 4096);

	if (argc != 3 || memory == NULL)
		return 2;
	for (size_t i = 0; i < BYTES + 4096; i += LINE_BYTES)
		*(uint64_t *)(memory + i) = i * 0x9e3779b97f4a7c15u;
	if (strcmp(argv[1], "list") == 0)
		for (size_t i = 0; i < BYTES; i += NODE_BYTES)
			*(char **)(memory + i) = memory + (i + NODE_BYTES) % BYTES;
	for (size_t i = 0; i < sizeof(walks) / sizeof(*walks); i++)
		if (strcmp(argv[1], walks[i].name) == 0)
			run(&walks[i], memory, atol(argv[2]));
	free(memory);
	return 0;
}

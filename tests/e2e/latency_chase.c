/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pointer chase that shares nothing with cyclops latency, to compare it with: one cycle by Sattolo's algorithm in
 * place, the system's clock, the fastest of some runs.
 *
 * usage: latency-chase BYTES    prints ns for a load
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct line {
	uint64_t next, unused[7];
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) / sizeof(struct line) : 0, seed = 1;
	uint64_t n_loads = n < 1 << 16 ? 1 << 14 : 1 << 10;
	struct line *lines =
		n == 0 ? NULL : aligned_alloc(4096, (n * sizeof(*lines) + 4095) / 4096 * 4096);
	const volatile struct line *at = lines;
	double best = 1e18;

	if (lines == NULL)
		return 1;
	for (uint64_t i = 0; i < n; i++)
		lines[i].next = i;
	for (uint64_t i = n; i-- > 1;) {
		uint64_t k, kept = lines[i].next;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		k = (seed >> 20) % i;
		lines[i].next = lines[k].next;
		lines[k].next = kept;
	}
	for (uint64_t i = 0; i < n; i++)
		lines[i].next = (uintptr_t)&lines[lines[i].next];
	for (uint64_t i = 0; i < n; i++)
		at = (const volatile struct line *)(uintptr_t)at->next;
	for (int run = 0; run < 300; run++) {
		double start = now_ns(), ns;

		for (uint64_t i = 0; i < n_loads; i++)
			at = (const volatile struct line *)(uintptr_t)at->next;
		ns = (now_ns() - start) / (double)n_loads;
		best = ns < best ? ns : best;
	}
	printf("%.4f\n", best);
	free(lines);
	return at == NULL; /* never: the loads are needed */
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the operating system counts: pages touched for the first time, time that is slept. */
#include <sys/mman.h>
#include <time.h>

#include "kernel/loops/inside.h"

/* Maps so many pages at a time, and touches each. */
static void run_faults(struct microbenchmark_run *r)
{
	enum { AT_ONCE = 4096 };

	for (uint64_t left = r->values[ITERATIONS], n; left > 0; left -= n) {
		volatile char *pages;

		n = left < AT_ONCE ? left : AT_ONCE;
		pages = mmap(NULL, n * PAGE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if ((volatile void *)pages == MAP_FAILED)
			return;
		madvise((void *)(uintptr_t)pages, n * PAGE_BYTES, MADV_NOHUGEPAGE);
		for (uint64_t i = 0; i < n; i++)
			pages[i * PAGE_BYTES] = 1;
		munmap((void *)(uintptr_t)pages, n * PAGE_BYTES);
	}
}

enum { PERIOD_NS = 1000000, NS_PER_SECOND = 1000000000, WHOLE = 100 };

static int64_t cpu_time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * (int64_t)NS_PER_SECOND + t.tv_nsec;
}

/* Each period is so much CPU time, and sleep for the rest. */
static void run_duty(struct microbenchmark_run *r)
{
	int64_t busy_ns = (int64_t)(r->values[BUSY] * (PERIOD_NS / WHOLE));
	const struct timespec rest = { .tv_nsec = PERIOD_NS - busy_ns };

	for (uint64_t i = 0; i < r->values[ITERATIONS]; i++) {
		int64_t end_ns = cpu_time_ns() + busy_ns;

		while (cpu_time_ns() < end_ns)
			continue;
		nanosleep(&rest, NULL);
	}
}

const struct microbenchmark microbenchmark_faults = {
	.name = "faults",
	.iteration = "a page that is touched for the first time",
	.proves = "page faults",
	.parameters = { ITERATIONS_RANGE(10000) },
	.architectures = ON_ALL,
	.run = run_faults,
};

const struct microbenchmark microbenchmark_duty = {
	.name = "duty",
	.iteration = "a millisecond: so much CPU time, and a sleep for the rest",
	.proves = "CPU time, context switches, halted cycles",
	.parameters = {
		ITERATIONS_RANGE(100),
		[BUSY] = { 50, 1, 99 },
	},
	.architectures = ON_ALL,
	.sleeps = true,
	.run = run_duty,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* What the experiments of bench/limits.c have in common. */
#ifndef CYCLOPS_BENCH_LIMITS_H
#define CYCLOPS_BENCH_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "process/timeline.h"

enum { LINE_LOG = 6, ROWS_AT_ONCE = 64, MOST_THREADS = 2 };

/* CPU time of all threads, and time by the clock. */
struct cost {
	double cpu, wall;
};

struct cost now(void);

/* Takes the time since `start`, if it is the first or less. */
void take_least(struct cost *least, struct cost start, bool is_first);

void print_limit(const char *name, struct cost, uint64_t size);

/* Where a key's first slot is in an open table. */
static inline size_t first_slot(uint64_t key, size_t mask)
{
	return (size_t)((key * 0x9e3779b97f4a7c15) >> 32) & mask;
}

/* A power of two, at most half of which is used. */
size_t slots_for(size_t n_keys);

/* Runs `work` on so many threads, one of which is this one, and returns when all are done. */
void run_threads(unsigned n, void (*work)(void *context, unsigned thread), void *context);

/* "shared" and "shared-2": see bench/limits-shared.c. */
void limits_of_sharing(const struct capture *, const struct timeline *, size_t n_records,
		       int repeats);

#endif

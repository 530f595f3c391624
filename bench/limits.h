/* SPDX-License-Identifier: Apache-2.0 */
/* What the experiments of bench/limits.c have in common. */
#ifndef CYCLOPS_BENCH_LIMITS_H
#define CYCLOPS_BENCH_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "process/attribution.h"
#include "process/timeline.h"

/* An address of user space has 48 bits. */
enum { LINE_LOG = 6, PROCESS_SHIFT = 48 - LINE_LOG, ROWS_AT_ONCE = 64, MOST_THREADS = 2 };

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

/* Two sums of a key; n 0: free. */
struct slot {
	uint64_t key;
	uint32_t n, sum;
};

struct table {
	struct slot *slots;
	size_t mask, n;
};

static inline void table_add(struct table *t, uint64_t key, uint32_t sum)
{
	size_t at = first_slot(key, t->mask);

	while (t->slots[at].n != 0 && t->slots[at].key != key)
		at = (at + 1) & t->mask;
	t->n += t->slots[at].n == 0;
	t->slots[at].key = key;
	t->slots[at].n++;
	t->slots[at].sum += sum;
}

void table_init(struct table *, size_t n_slots);

/* A cache line of a process, and what was done to it; n 0: free. */
struct line {
	uint64_t key;
	uint32_t n, thread;
	uint32_t cycles;
	bool has_threads, is_written;
};

struct lines {
	struct line *slots;
	size_t mask;
};

static inline struct line *line_at(const struct lines *t, uint64_t key)
{
	size_t at = first_slot(key, t->mask);

	while (t->slots[at].n != 0 && t->slots[at].key != key)
		at = (at + 1) & t->mask;
	return &t->slots[at];
}

/* With room for so many lines. */
void lines_init(struct lines *, size_t n);

/* A line of the kernel is the same in all processes. */
static inline uint64_t key_of_line(const struct batch *b, size_t row)
{
	uint64_t process = batch_process(b, row);

	return b->va[row] >> 63 ? b->va[row] >> LINE_LOG
				: b->va[row] >> LINE_LOG | process << PROCESS_SHIFT;
}

/* The kernel's have all high bits. */
static inline uint64_t address_of(uint64_t key)
{
	const uint64_t user = (UINT64_C(1) << PROCESS_SHIFT) - 1;

	return key >> (63 - LINE_LOG) & 1 ? key << LINE_LOG : (key & user) << LINE_LOG;
}

static inline uint32_t thread_of(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_TID ? b->tid[row] : 0;
}

static inline bool is_store(const struct batch *b, size_t row)
{
	return b->op[row] & 1;
}

static inline uint32_t cycles_of(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_TOTAL && !is_store(b, row) ? b->total[row] : 0;
}

static inline void line_merge(struct line *to, const struct line *from)
{
	to->has_threads |= from->has_threads || (to->n > 0 && to->thread != from->thread);
	to->is_written |= from->is_written;
	to->key = from->key;
	to->thread = from->thread;
	to->n += from->n;
	to->cycles += from->cycles;
}

/* For qsort(): lines that loads waited for longest come first. */
int lines_compare(const void *left, const void *right);

/* Runs `work` on so many threads, one of which is this one, and returns when all are done. */
void run_threads(unsigned n, void (*work)(void *context, unsigned thread), void *context);

/*
 * What mem needs at least of the records of some batches (bench/limits-memory.c): with room for the groups of places that half
 * of the slots, a power of two, are for. n() groups there are; reach() makes room for so many more, finish() comes last.
 */
struct memory_sums *memory_sums_new(size_t n_slots);
void memory_sums_free(struct memory_sums *);
void memory_sums_add(struct memory_sums *, const struct batch *);
size_t memory_sums_n(const struct memory_sums *);
void memory_sums_reach(struct memory_sums *, size_t n);
void memory_sums_finish(struct memory_sums *);

/* "hot" and "hot-2": see bench/limits-hot.c. */
void limits_of_hot(const struct capture *, const struct timeline *, int repeats);

/* "shared" and "shared-2": see bench/limits-shared.c. */
void limits_of_sharing(const struct capture *, const struct timeline *, size_t n_records,
		       int repeats);

/* "diff" and "diff-2": see bench/limits-diff.c. */
void limits_of_diff(const struct capture *, const struct timeline *, size_t n_records, int repeats);

#endif

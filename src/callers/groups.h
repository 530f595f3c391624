/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stacks speak for which SPE records: those of one function in one thread, or, where a thread has few,
 * in one process; and what records of such a group are like.
 */
#ifndef CYCLOPS_CALLERS_GROUPS_H
#define CYCLOPS_CALLERS_GROUPS_H

#include "batch/batch.h"
#include "callers/stacks_seen.h"

/*
 * A record's cell: its class, of the L1D's misses, and of all others by latency, loads and stores apart; and
 * how much time passes between the records around it, by powers of two.
 */
enum {
	CELL_LATENCIES = 10,
	CELL_MISS = 0,
	CELL_CLASSES = 1 + 2 * CELL_LATENCIES,
	CELL_GAPS = 32, /* the last one: not known */
};

struct record_cell {
	uint8_t class, gap;
	uint64_t gap_ns; /* 0: not known */
};

/* Is there another row, whose time is known, of a row's thread and CPU? Batches have rows of several CPUs. */
bool record_is_neighbour(const struct batch *, size_t row, size_t other);

struct record_cell record_cell(const struct batch *, size_t row);

/* A chain of functions that called those of a group. The last ones, few stacks each, are taken as one. */
enum { CHAINS_MOST = 128 };

struct group_chain {
	uint32_t number;		/* of struct stack_seen; of the first, if it is several */
	uint32_t first;			/* of its stacks: index in struct stacks_seen */
	uint32_t n;			/* stacks */
	uint32_t first_frame, n_frames; /* in the group's `frames` */
};

struct caller_group {
	bool is_by_thread;
	uint32_t id, function;
	VEC_OF(uint32_t) stacks;	 /* indexes of struct stacks_seen, in order */
	VEC_OF(uint8_t) chains;		 /* … and, by stack, its chain */
	VEC_OF(struct group_chain) list; /* at most CHAINS_MOST; those with the most stacks first */
	VEC_OF(uint32_t) frames;	 /* of the stacks, by chain: those that records are given */
};

struct caller_groups {
	const struct stacks_seen *seen; /* borrowed */
	struct tuples keys;
	VEC_OF(struct caller_group) list;
};

void caller_groups_init(struct caller_groups *, const struct stacks_seen *);
void caller_groups_release(struct caller_groups *);

/* The group that speaks for an SPE row; TUPLES_NONE if there is none. */
uint32_t caller_groups_find(const struct caller_groups *, const struct batch *, size_t row);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of groups of accesses. */
#ifndef CYCLOPS_ADDR_SUMS_H
#define CYCLOPS_ADDR_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/access.h"
#include "base/vec.h"

/* The sums of a group. */
struct addr_sums {
	uint64_t n;			  /* records … */
	struct memory_counts kinds;	  /* … by kind */
	uint64_t cycles, n_cycles;	  /* sum of total latencies, of n_cycles records */
	uint64_t first_ns;		  /* earliest time, for naming: see data_time() */
	uint64_t least;			  /* lowest address */
	uint64_t n_translated;		  /* records that say how the address was translated */
	uint64_t levels[N_SOURCE_LEVELS]; /* loads by level of their data source */
	uint64_t memory_operations; /* operations that loads from memory stand for; 0: not known */

	uint64_t full_cycles,
		n_saturated; /* the part of `cycles` by the n_saturated full counters */
	/* records with a page table walk; their translation latency … */
	uint64_t walks, walk_cycles;
	uint64_t n_walk_cycles;		/* … of the walks with a latency */
	uint64_t n_near, n_far;		/* page on the CPU's NUMA node; on another one */
	uint64_t far_cycles;		/* total latency of the n_far */
	uint64_t page_nodes, cpu_nodes; /* bit n: NUMA node n, below INFO_NODES */
};

void addr_sums_add(struct addr_sums *, const struct addr_sums *);

/* What a record adds to its group. */
struct addr_record {
	const struct access *access;
	uint64_t time_ns;
	uint64_t operations; /* that a load from memory stands for; 0: none, or not known */
	uint64_t page_nodes, cpu_nodes; /* the bit of a NUMA node; 0: not known */
};

/*
 * The sums of a group in one cache line: groups are many, and records come to them in any order. It has at most
 * BRIEF_RECORDS records; others, and those with large numbers, are in a wide part, so that no sum overflows.
 */
struct addr_brief {
	uint64_t first_ns, least; /* UINT64_MAX without records */
	uint32_t wide;		  /* 1 + the number of the wide part; 0: none */
	uint32_t cycles, walk_cycles, memory_operations, full_cycles, far_cycles;
	uint8_t n, loads, stores, atomics;
	uint8_t n_cycles, n_translated, walks, n_walk_cycles;
	uint8_t n_near, n_far, n_saturated;
	uint8_t page_nodes, cpu_nodes;
	uint8_t levels[N_SOURCE_LEVELS]; /* with SOURCE_UNKNOWN */
};

/* The sums of many groups. Zeroed is empty. */
struct addr_briefs {
	struct addr_brief *items; /* by group */
	size_t n, cap;
	VEC_OF(struct addr_sums) wide;
};

void addr_briefs_release(struct addr_briefs *);

/* Makes room for the sums of `n` groups. */
void addr_briefs_reach(struct addr_briefs *, size_t n);

/* For addr_briefs_add(): moves what a group has to its wide part; adds a record with large numbers there. */
void addr_brief_empty(struct addr_briefs *, struct addr_brief *);
void addr_brief_add_large(struct addr_briefs *, struct addr_brief *, const struct addr_record *);

/* The sums of a group. */
struct addr_sums addr_briefs_get(const struct addr_briefs *, uint32_t group);

/* Its earliest time, and its lowest address. */
static inline uint64_t addr_briefs_first_ns(const struct addr_briefs *briefs, uint32_t group)
{
	const struct addr_brief *b = &briefs->items[group];
	uint64_t wide = b->wide != 0 ? briefs->wide.items[b->wide - 1].first_ns : UINT64_MAX;

	return b->first_ns < wide ? b->first_ns : wide;
}

static inline uint64_t addr_briefs_least(const struct addr_briefs *briefs, uint32_t group)
{
	const struct addr_brief *b = &briefs->items[group];
	uint64_t wide = b->wide != 0 ? briefs->wide.items[b->wide - 1].least : UINT64_MAX;

	return b->least < wide ? b->least : wide;
}

/* Adds a group of others. */
void addr_briefs_merge(struct addr_briefs *, uint32_t group, const struct addr_briefs *from,
		       uint32_t from_group);

enum {
	BRIEF_RECORDS = UINT8_MAX,
	BRIEF_NODES = 8,	/* of the first NUMA nodes there are bits */
	BRIEF_NUMBER_BITS = 24, /* as many numbers as BRIEF_RECORDS add up to less than 2^32 */
};

static inline bool addr_record_is_large(const struct addr_record *r)
{
	uint64_t numbers = r->operations | r->access->walk_cycles | r->access->cycles;

	return ((r->page_nodes | r->cpu_nodes) >> BRIEF_NODES | numbers >> BRIEF_NUMBER_BITS) != 0;
}

static inline void addr_briefs_add(struct addr_briefs *briefs, uint32_t group,
				   const struct addr_record *r)
{
	struct addr_brief *to = &briefs->items[group];
	const struct access *access = r->access;
	uint32_t cycles = access->has_cycles ? (uint32_t)access->cycles : 0;
	bool is_saturated = access->has_cycles && access->is_saturated;
	bool has_nodes = r->page_nodes != 0 && r->cpu_nodes != 0;
	bool is_near = has_nodes && r->page_nodes == r->cpu_nodes;
	bool is_far = has_nodes && r->page_nodes != r->cpu_nodes;
	bool is_load = access->kind == MEMORY_LOAD, is_store = access->kind == MEMORY_STORE;
	bool is_atomic = access->kind == MEMORY_ATOMIC;

	if (addr_record_is_large(r)) {
		addr_brief_add_large(briefs, to, r);
		return;
	}
	if (to->n == BRIEF_RECORDS)
		addr_brief_empty(briefs, to);
	to->first_ns = r->time_ns < to->first_ns ? r->time_ns : to->first_ns;
	to->least = access->address < to->least ? access->address : to->least;
	to->n++;
	to->loads += is_load;
	to->stores += is_store;
	to->atomics += is_atomic;
	to->cycles += cycles;
	to->n_cycles += access->has_cycles;
	to->n_translated += access->is_translated;
	to->full_cycles += is_saturated ? cycles : 0;
	to->n_saturated += is_saturated;
	to->walks += access->has_walk;
	to->walk_cycles += (uint32_t)access->walk_cycles;
	to->n_walk_cycles += access->has_walk_cycles;
	to->levels[access->level]++;
	to->memory_operations += (uint32_t)r->operations;
	to->page_nodes |= (uint8_t)r->page_nodes;
	to->cpu_nodes |= (uint8_t)r->cpu_nodes;
	to->n_near += is_near;
	to->n_far += is_far;
	to->far_cycles += is_far ? cycles : 0;
}

#endif

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
	uint64_t n_walk_cycles; /* … of the walks with a latency */
	uint64_t n_near, n_far; /* page on the CPU's NUMA node; on another one */
	uint64_t far_cycles;	/* total latency of the n_far */
	uint64_t page_nodes;	/* bit n: NUMA node n, below INFO_NODES */
};

void addr_sums_add(struct addr_sums *, const struct addr_sums *);

/* What is counted in a byte each: all are added at once. */
enum brief_count {
	BRIEF_N,
	BRIEF_LOADS, /* and by enum memory_kind */
	BRIEF_STORES,
	BRIEF_ATOMICS,
	BRIEF_N_CYCLES,
	BRIEF_N_TRANSLATED,
	BRIEF_WALKS,
	BRIEF_N_WALK_CYCLES,
};

static inline uint8_t brief_count(uint64_t counts, enum brief_count which)
{
	return (uint8_t)(counts >> 8 * which);
}

/* 1 of a count that applies. */
static inline uint64_t brief_one(enum brief_count which, bool applies)
{
	return (uint64_t)applies << 8 * which;
}

/* What a record adds to its group. */
struct addr_record {
	uint64_t time_ns, address;
	uint64_t counts;	      /* of one record: brief_one() of each that applies */
	uint64_t cycles, walk_cycles; /* as struct access has them; 0 without */
	bool is_saturated;	      /* the counter of `cycles` was full */
	enum source_level level;
	uint64_t operations; /* that a load from memory stands for; 0: none, or not known */
	uint64_t page_nodes, cpu_nodes; /* the bit of a NUMA node; 0: not known */
};

/* Of an access; the rest is zero. */
struct addr_record addr_record_of(const struct access *);

/*
 * The sums of a group in one cache line: groups are many, and records come to them in any order. It has at most
 * BRIEF_RECORDS records; others, and those with large numbers, are in a wide part, so that no sum overflows.
 */
struct addr_brief {
	uint64_t first_ns, least; /* UINT64_MAX without records */
	uint64_t counts;	  /* brief_count() of each */
	uint32_t cycles, walk_cycles, memory_operations, full_cycles, far_cycles;
	uint32_t wide; /* 1 + the number of the wide part; 0: none */
	uint8_t n_near, n_far, n_saturated;
	uint8_t page_nodes;
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
void addr_brief_add_large(struct addr_briefs *, struct addr_brief *, struct addr_record);

/* For addr_briefs_add(), of records whose page has a node: all of a capture are like that, or none. */
void addr_brief_add_nodes(struct addr_brief *, uint64_t page_nodes, uint64_t cpu_nodes,
			  uint32_t cycles);

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

/* Its page table walks. */
struct brief_walks {
	uint64_t n, cycles, n_translated;
};

static inline struct brief_walks addr_briefs_walks(const struct addr_briefs *briefs, uint32_t group)
{
	const struct addr_brief *b = &briefs->items[group];
	struct brief_walks walks = { brief_count(b->counts, BRIEF_WALKS), b->walk_cycles,
				     brief_count(b->counts, BRIEF_N_TRANSLATED) };

	if (b->wide != 0) {
		const struct addr_sums *wide = &briefs->wide.items[b->wide - 1];

		walks.n += wide->walks;
		walks.cycles += wide->walk_cycles;
		walks.n_translated += wide->n_translated;
	}
	return walks;
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
	uint64_t numbers = r->operations | r->walk_cycles | r->cycles;

	return (r->page_nodes >> BRIEF_NODES | numbers >> BRIEF_NUMBER_BITS) != 0;
}

__attribute__((always_inline)) static inline void addr_briefs_add(struct addr_briefs *briefs,
								  uint32_t group,
								  const struct addr_record *r)
{
	struct addr_brief *to = &briefs->items[group];

	if (addr_record_is_large(r)) {
		addr_brief_add_large(briefs, to, *r); /* a copy: so `r` can be in registers */
		return;
	}
	if (brief_count(to->counts, BRIEF_N) == BRIEF_RECORDS)
		addr_brief_empty(briefs, to);
	to->first_ns = r->time_ns < to->first_ns ? r->time_ns : to->first_ns;
	to->least = r->address < to->least ? r->address : to->least;
	to->counts += r->counts;
	to->cycles += (uint32_t)r->cycles;
	to->walk_cycles += (uint32_t)r->walk_cycles;
	to->full_cycles += (uint32_t)r->cycles & -(uint32_t)r->is_saturated;
	to->n_saturated += r->is_saturated;
	to->levels[r->level]++;
	to->memory_operations += (uint32_t)r->operations;
	if (r->page_nodes != 0)
		addr_brief_add_nodes(to, r->page_nodes, r->cpu_nodes, (uint32_t)r->cycles);
}

#endif

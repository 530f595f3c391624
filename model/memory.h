/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory system of the modelled machine: private L1 and L2 caches, a system cache behind the
 * interconnect, DRAM, and coherence of the private caches (MESI).
 *
 *	CPU 0: L1I L1D		CPU 1: L1I L1D	…
 *	       L2 (holds L1D)	       L2
 *	            interconnect: directory
 *	     system cache (victims of the L2s)
 *	                 DRAM
 */
#ifndef CYCLOPS_MODEL_MEMORY_H
#define CYCLOPS_MODEL_MEMORY_H

#include <stdbool.h>

#include "model/assoc.h"
#include "model/counts.h"
#include "model/directory.h"
#include "model/ideal.h"
#include "model/params.h"
#include "model/tags.h"

/* Data sources, with SPE's values for Neoverse: docs/reference/spe-packets.md section 8.1. */
enum source {
	SOURCE_L1 = 0x0,
	SOURCE_L2 = 0x8,
	SOURCE_PEER_CORE = 0x9,
	SOURCE_SYSTEM_CACHE = 0xb,
	SOURCE_PEER_CLUSTER = 0xc,
	SOURCE_REMOTE = 0xd,
	SOURCE_DRAM = 0xe,
	N_SOURCES,
};

/* The state of a line in a CPU's caches (MESI). */
enum line_state {
	LINE_SHARED,	/* read only; other CPUs may hold it */
	LINE_EXCLUSIVE, /* may be written; no other CPU holds it */
	LINE_MODIFIED,	/* written; no other CPU holds it */
};

enum access_kind {
	ACCESS_LOAD,
	ACCESS_STORE,	 /* and atomics */
	ACCESS_PREFETCH, /* software prefetch (PRFM) */
	ACCESS_FETCH,	 /* of instructions */
	ACCESS_WALK,	 /* of a page table entry; begins at the L2 */
};

/* The outcome of an access. */
struct access {
	uint64_t start;	 /* cycle at which it begins, after it waited for a miss buffer */
	uint64_t ready;	 /* cycle at which dependent instructions can start */
	uint64_t finish; /* cycle at which SPE calls it finished; not before `ready` */
	uint64_t served; /* L1 misses: cycle at which the level that has the line begins */
	uint64_t hidden; /* cycles by which `ready` is earlier because misses overlap */
	uint8_t source;	 /* enum source */
	bool missed_l1;	 /* the line was not in the L1, or had not arrived yet */
	bool missed_l2;	 /* the line came from behind the L2 */
	uint64_t peers;	 /* bit n: CPU n supplied the line, or lost it */
	bool was_late;	 /* the line was prefetched, but had not arrived yet */
	bool is_first;	 /* the first use of the line since it was requested */
};

/* The private caches of a CPU. */
struct private_caches {
	struct assoc l1i, l1d, l2;
	uint64_t *misses;      /* miss buffers: the cycle at which each becomes free */
	uint64_t n_misses;     /* so far */
	uint64_t dram_is_free; /* the cycle at which DRAM takes the next request */
	struct counts *counts; /* borrowed */
};

static inline void count_event(struct private_caches *c, enum count event)
{
	c->counts->n[event]++;
}

/*
 * The home node of a line serves requests for it one after the other: the next one when the data of
 * the one before has arrived. A slot has the last line of all lines that map to it.
 */
struct home_slot {
	uint64_t line, is_free; /* is_free: the cycle at which the line can be requested again */
};

enum { HOME_SLOTS = 4096 };

struct memory {
	const struct params *params; /* borrowed */
	struct private_caches cpus[MAX_CPUS];
	struct tags system_cache;
	struct directory directory; /* empty as long as only the first CPU holds lines */
	struct home_slot *homes;    /* HOME_SLOTS of them */
	unsigned first_cpu;
	enum { HELD_BY_NONE, HELD_BY_FIRST, HELD_BY_MORE } held; /* which CPUs hold lines */
	uint16_t cycles[N_SOURCES], finish[N_SOURCES];
	uint32_t ideal;		      /* enum ideal_bit: for the current access */
	struct directory invalidated; /* CPUs that lost a line to another */
	bool tracks_invalidated;      /* `invalidated` is kept, for IDEAL_COHERENCE */
	uint64_t n_transfers;	      /* lines and upgrades that a CPU got from another */
};

/* `counts` has one entry for each CPU; it is borrowed. */
void memory_init(struct memory *, const struct params *, struct counts *counts);

/* Prepares an idealisation. To be called before the first access. */
void memory_make_ideal(struct memory *, const struct ideal *);

void memory_release(struct memory *);

/*
 * One access by a CPU to a line (physical address >> LINE_SHIFT), starting at cycle `time`. An L1
 * miss begins at the L2 `early` cycles sooner: the look-up of the L1 is part of the L2's latency,
 * and it overlaps with address translation. The outcome is an argument, as copying what was just
 * written takes longer than all else of a hit.
 */
void memory_access_early(struct memory *, unsigned cpu, uint64_t line, enum access_kind,
			 uint64_t time, uint64_t early, struct access *out);

static inline struct access memory_access(struct memory *m, unsigned cpu, uint64_t line,
					  enum access_kind kind, uint64_t time)
{
	struct access a;

	memory_access_early(m, cpu, line, kind, time, 0, &a);
	return a;
}

/* Does the CPU's L2 have the line? */
bool memory_has(const struct memory *, unsigned cpu, uint64_t line);

/*
 * A hardware prefetch into the L1D and L2, or into the L2 alone; dropped if no miss buffer is free.
 */
void memory_prefetch(struct memory *, unsigned cpu, uint64_t line, bool into_l1, uint64_t time);

#endif

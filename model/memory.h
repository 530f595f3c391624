/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of the modelled machine: private first and second level caches, a system cache
 * behind the interconnect, DRAM; and which CPU may write which line.
 *
 *	CPU 0: L1I L1D		CPU 1: L1I L1D	…
 *	       L2 (holds L1D)	       L2
 *	            interconnect: directory
 *	     system cache (what the L2s throw out)
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

/* Where data came from, as SPE says it: docs/reference/spe-packets.md section 8.1. */
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

/* What a CPU may do with a line that it holds. */
enum line_state {
	LINE_SHARED,	/* read; others may hold it too */
	LINE_EXCLUSIVE, /* write without asking; nobody else holds it */
	LINE_MODIFIED,	/* written: the only true copy */
};

enum access_kind {
	ACCESS_LOAD,
	ACCESS_STORE,	 /* and atomics */
	ACCESS_PREFETCH, /* by an instruction: a load that nobody waits for */
	ACCESS_FETCH,	 /* of instructions */
	ACCESS_WALK,	 /* of a page table entry; begins at the L2 */
};

/* The outcome of an access. */
struct access {
	uint64_t start;	 /* cycle at which it begins: a miss waits for a place among others */
	uint64_t ready;	 /* cycle at which what depends on it can go on */
	uint64_t finish; /* cycle at which SPE calls it finished; not before `ready` */
	uint8_t source;	 /* enum source */
	bool missed_l1;	 /* the line was not there, or still on its way */
	bool missed_l2;	 /* it came from behind the L2 */
	uint64_t peers;	 /* bit n: CPU n gave the line, or lost it */
	bool was_late;	 /* a prefetch had asked for the line, but it was still on its way */
	bool is_first;	 /* the line was not used before, since it came or had to come */
};

/* A CPU's private part. */
struct private_caches {
	struct assoc l1i, l1d, l2;
	uint64_t *misses;      /* when the outstanding ones end */
	uint64_t n_misses;     /* so far */
	uint64_t dram_is_free; /* the cycle at which the next line can be asked from DRAM */
	struct counts *counts; /* borrowed */
};

/*
 * The node of the interconnect that lines of these addresses have as their home serves one request
 * for a line after the other: the next one when what the one before asked for has arrived.
 */
struct home_slot {
	uint64_t line, is_free; /* the last line, and the cycle from which on it can be asked for */
};

enum { HOME_SLOTS = 4096 };

struct memory {
	const struct params *params; /* borrowed */
	struct private_caches cpus[MAX_CPUS];
	struct tags system_cache;
	struct directory directory; /* empty as long as only the first CPU holds lines */
	struct home_slot *homes;    /* HOME_SLOTS of them */
	unsigned first_cpu;
	enum { HELD_BY_NONE, HELD_BY_FIRST, HELD_BY_MORE } held; /* lines in the L2s */
	uint16_t cycles[N_SOURCES], finish[N_SOURCES];
	uint32_t ideal;		/* enum ideal_bit: what is perfect for the access at hand */
	struct directory taken; /* what which CPU lost to others; kept with IDEAL_COHERENCE alone */
	bool keeps_taken;
	uint64_t
		n_transfers; /* times that a CPU took a line, or the right to write it, from another */
};

/* `counts` has one entry for each CPU; it is borrowed. */
void memory_init(struct memory *, const struct params *, struct counts *counts);

/* Before the first access: keeps what the idealisation needs. */
void memory_make_ideal(struct memory *, const struct ideal *);

void memory_release(struct memory *);

/*
 * One access by a CPU to a line (physical address >> LINE_SHIFT), starting at cycle `time`. If the
 * first level does not have it, the second one is asked `early` cycles sooner: the look at the
 * first one is part of what a miss takes, and need not wait for the address to be translated.
 */
struct access memory_access_early(struct memory *, unsigned cpu, uint64_t line, enum access_kind,
				  uint64_t time, uint64_t early);

static inline struct access memory_access(struct memory *m, unsigned cpu, uint64_t line,
					  enum access_kind kind, uint64_t time)
{
	return memory_access_early(m, cpu, line, kind, time, 0);
}

/* Does the CPU's L2 have the line? */
bool memory_has(const struct memory *, unsigned cpu, uint64_t line);

/* The line is wanted soon, in the L1D or the L2 alone. Nothing waits for it. */
void memory_prefetch(struct memory *, unsigned cpu, uint64_t line, bool into_l1, uint64_t time);

#endif

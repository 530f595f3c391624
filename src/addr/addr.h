/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory accesses by data address: number, latency and data source, by page, cache line, object,
 * member or instruction. Counts SPE records, or else PMU samples with a data source. Never both,
 * because their sampling differs (access_is_sampled()).
 */
#ifndef CYCLOPS_ADDR_ADDR_H
#define CYCLOPS_ADDR_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "access/samples.h"
#include "addr/objects.h"
#include "access/pattern.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "cpu/cpu.h"
#include "session/analysis.h"

enum { ADDR_PAGE_SHIFT = 12, ADDR_HUGE_SHIFT = 21 };

/* In place of a process: kernel addresses, which all processes share. */
#define ADDR_KERNEL UINT32_MAX

/* What a scan groups by. Comments: the ADDR_KEY_WORDS words of a group's key. */
enum addr_grain {
	ADDR_PAGES, /* process, page number, 0 */
	ADDR_LINES, /* process, line number, 0 */
	/* object, offset in its element, 0; memory without variables: see addr_by_code() */
	ADDR_FIELDS,
	ADDR_OFFSETS,	   /* offset in the window's element, place, 0 */
	ADDR_INSTRUCTIONS, /* place, thread, process */
};

enum { ADDR_KEY_WORDS = 3 };

/* The sums of a group. What most records add to comes first: it is in few cache lines. */
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

/* The addresses to count: `count` elements of `size` bytes from `base` on. Size 0: all. */
struct addr_window {
	uint64_t base, size, count;
	uint32_t process; /* 0: of any */
};

struct addr_options {
	enum addr_grain grain;
	uint64_t line_bytes;		    /* of ADDR_LINES */
	const struct addr_objects *objects; /* of ADDR_FIELDS */
	struct addr_window window;	    /* of ADDR_OFFSETS */
	bool without_slices;		    /* also if time is sliced */
};

/* How many records of a group fell into each slice of time, of those that have any: groups may be as many as records. */
struct addr_slices {
	struct tuples keys;	 /* a word each: group * slices + slice */
	VEC_OF(uint32_t) counts; /* by number of the key */
};

/* The result: groups, numbered. */
struct addr {
	const struct session *session;
	const struct addr_options *options;
	struct tuples keys;
	VEC_OF(struct addr_sums) sums;
	VEC_OF(struct addr_pattern) patterns; /* of ADDR_INSTRUCTIONS */
	struct addr_slices slices;	      /* nothing if time is not sliced */
	uint64_t n_without_address;	      /* loads and stores without an address: not counted */
	bool is_sampled;		      /* counts PMU samples, those of `sampling` */
	struct access_sampling sampling;
	uint64_t *cpu_nodes; /* by CPU: bit of its NUMA node; 0: not known */
	size_t n_cpus;
	struct addr_last *last; /* last address of each instruction */
};

void addr_sums_add(struct addr_sums *, const struct addr_sums *);

/*
 * Gives each group a new key: group i gets the ADDR_KEY_WORDS words keys[i * ADDR_KEY_WORDS …].
 * Groups whose new keys are equal are added up.
 */
void addr_regroup(struct addr *, const uint64_t *keys);

/* Records of memory without variables (heap, stack …), and those that code gives a name. */
struct addr_named {
	uint64_t n, n_named;
};

/*
 * For ADDR_FIELDS. The scan leaves records of memory without variables under the key (object,
 * process, place + 1). This finds in debug information what the instruction at the place accesses,
 * adds it as an object, and regroups all by (object, offset, 0).
 */
struct addr_named addr_by_code(struct addr *, struct addr_objects *);

/*
 * What a scan with these options, ADDR_FIELDS, finds if no page has a variable (objects.h) and no code says more:
 * an object has whole pages. `pages`: the result with ADDR_PAGES.
 */
struct addr *addr_of_pages(const struct addr *pages, const struct addr_options *);

/* Options: struct addr_options. Result: struct addr. */
extern const struct analysis_class addr_class;

#endif

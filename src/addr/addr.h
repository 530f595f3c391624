/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data addresses: which memory is accessed, how often, how slowly and from where, by page,
 * line, object, member or instruction. Of SPE records or of samples that carry a data source, one of
 * the two (access_is_sampled()): they are different samplings.
 */
#ifndef CYCLOPS_ADDR_ADDR_H
#define CYCLOPS_ADDR_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "access/samples.h"
#include "addr/objects.h"
#include "addr/pattern.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "cpu/cpu.h"
#include "session/analysis.h"

enum { ADDR_PAGE_SHIFT = 12, ADDR_HUGE_SHIFT = 21 };

/* Instead of the index of a process: an address of the kernel. */
#define ADDR_KERNEL UINT32_MAX

/* What records are told apart by. The key is three words. */
enum addr_grain {
	ADDR_PAGES,	   /* process, page, - */
	ADDR_LINES,	   /* process, line, - */
	ADDR_FIELDS,	   /* object, offset in its element, 0; of memory: see addr_by_code() */
	ADDR_OFFSETS,	   /* offset in the window's element, place, - */
	ADDR_INSTRUCTIONS, /* place, thread, process */
};

enum { ADDR_KEY_WORDS = 3 };

/* The sums of a group. */
struct addr_sums {
	uint64_t n, loads, stores; /* an atomic is both */
	uint64_t cycles;	   /* latency of those that have one */
	uint64_t full_cycles;	   /* those of them that full counters show */
	uint64_t n_cycles, n_saturated;
	uint64_t n_translated;		  /* that tell how the address was translated */
	uint64_t walks, walk_cycles;	  /* with a translation table walk; its latency */
	uint64_t n_walk_cycles;		  /* those of them that have one */
	uint64_t levels[N_SOURCE_LEVELS]; /* loads whose data source is known */
	uint64_t memory_operations;	  /* that loads from memory stand for; 0: not known */
	uint64_t n_near, n_far;		  /* page on the node of the cpu; on another one */
	uint64_t far_cycles;
	uint64_t page_nodes, cpu_nodes; /* bit n: node n; nodes above 63 are not told apart */
	uint64_t least;			/* address */
	uint64_t first_ns;		/* for looking up names: see data_time() */
};

/* Addresses from `base` on, as `count` elements of `size` bytes; size 0: no window. */
struct addr_window {
	uint64_t base, size, count;
	uint32_t process; /* 0: of any */
};

struct addr_options {
	enum addr_grain grain;
	uint64_t line_bytes;		    /* of ADDR_LINES */
	const struct addr_objects *objects; /* of ADDR_FIELDS */
	struct addr_window window;	    /* of ADDR_OFFSETS */
};

/* The result: groups, numbered. */
struct addr {
	const struct session *session;
	const struct addr_options *options;
	struct tuples keys;
	VEC_OF(struct addr_sums) sums;
	VEC_OF(struct addr_pattern) patterns; /* of ADDR_INSTRUCTIONS */
	VEC_OF(uint64_t) slices;	      /* records by group and slice, if time is sliced */
	uint64_t n_without_address;	      /* loads and stores that could not be counted */
	bool is_sampled;		      /* of PMU samples, which: */
	struct access_sampling sampling;
	uint64_t *cpu_nodes; /* by cpu: bit of its node; 0 not known */
	size_t n_cpus;
	struct addr_last *last; /* for patterns */
};

void addr_sums_add(struct addr_sums *, const struct addr_sums *);

/* Gives each group another key, ADDR_KEY_WORDS of `keys`, and makes one of those with the same. */
void addr_regroup(struct addr *, const uint64_t *keys);

/* Records of memory that has no variables of its own, and how many of them the code names. */
struct addr_named {
	uint64_t n, n_named;
};

/*
 * Of such memory a result with grain ADDR_FIELDS tells accesses apart by process and place: (object,
 * process, place + 1). Asks the code there what it accesses, adds that to the objects, and makes
 * the groups those of objects and offsets alone.
 */
struct addr_named addr_by_code(struct addr *, struct addr_objects *);

/* Options: struct addr_options. Result: struct addr. */
extern const struct analysis_class addr_class;

#endif

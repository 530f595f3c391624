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
#include "addr/sums.h"
#include "access/pattern.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "cpu/cpu.h"
#include "session/analysis.h"

enum { ADDR_PAGE_SHIFT = 12, ADDR_HUGE_SHIFT = 21 };

/* In place of a process: kernel addresses, which all processes share. */
#define ADDR_KERNEL UINT32_MAX

/* What a scan groups by. Comments: the words of a group's key: addr_key_words(). */
enum addr_grain {
	ADDR_PAGES, /* process, page number */
	ADDR_LINES, /* process, line number */
	/* object, offset in its element, 0; memory without variables: see addr_by_code() */
	ADDR_FIELDS,
	ADDR_OFFSETS,	   /* offset in the window's element, place */
	ADDR_INSTRUCTIONS, /* place, thread, process */
};

enum { ADDR_KEY_WORDS = 3 }; /* at most */

static inline size_t addr_key_words(enum addr_grain grain)
{
	return grain == ADDR_FIELDS || grain == ADDR_INSTRUCTIONS ? ADDR_KEY_WORDS : 2;
}

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

/* What is the same for all records of a CPU. */
struct addr_cpu {
	bool is_set;
	uint32_t number;
	struct cpu_sources sources;
	uint64_t interval; /* operations that a record of SPE stands for; 0: not known */
	uint64_t nodes;	   /* the bit of its NUMA node; 0: not known */
};

/* The result: groups, numbered. */
struct addr {
	const struct session *session;
	const struct addr_options *options;
	struct tuples keys;
	struct addr_briefs sums;	      /* by group */
	VEC_OF(struct addr_pattern) patterns; /* of ADDR_INSTRUCTIONS */
	struct addr_slices slices;	      /* nothing unless has_slices */
	bool has_slices;
	uint64_t n_without_address; /* loads and stores without an address: not counted */
	bool is_by_position;	    /* timeline_is_by_position() */
	bool is_sampled;	    /* counts PMU samples, those of `sampling` */
	struct access_sampling sampling;
	uint64_t *cpu_nodes; /* by CPU: bit of its NUMA node; 0: not known */
	size_t n_cpus;
	bool has_nodes;		/* those of physical addresses are known */
	struct addr_cpu cpu;	/* of the last row */
	struct addr_last *last; /* last address of each instruction … */
	uint32_t last_cpu;	/* … and whose CPU that was */
};

/* Gives each group a new key: their words, one behind the other. Groups whose new keys are equal are added up. */
void addr_regroup(struct addr *, const uint64_t *keys);

/* What a group adds up to. */
static inline struct addr_sums addr_group_sums(const struct addr *a, uint32_t group)
{
	return addr_briefs_get(&a->sums, group);
}

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

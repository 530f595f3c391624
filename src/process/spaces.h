/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces over time: what was mapped at an address of a process, at a time. A space begins
 * empty (exec) or as a copy of its parent's (fork), and ends with the next exec.
 */
#ifndef CYCLOPS_PROCESS_SPACES_H
#define CYCLOPS_PROCESS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "process/cover.h"
#include "process/history.h"
#include "process/module.h"

struct pool;

/* A recorded mapping. Module 0: an unmapping. */
struct mapping {
	struct range range;
	uint64_t page_offset;
	uint64_t time_ns;
	uint32_t space;
	struct module_id module;
	bool is_data;
};

struct space {
	uint32_t owner;	 /* process index, or SPACES_KERNEL */
	uint32_t parent; /* the space it was forked from, a lower number; itself: began empty */
	uint32_t parent_maps; /* mappings that the parent had added by the time of the fork */
	uint32_t n_maps;      /* mappings added to this one */
	uint64_t start_ns;
};

/*
 * A path in the tree of forks, see spaces.c. Addresses it has no mapping for are looked up in its
 * parent.
 */
struct strand {
	uint32_t parent;	/* a lower number; itself: has none */
	uint32_t parent_maps;	/* only so many mappings of the parent count */
	uint32_t first, n_maps; /* in by_strand */
	struct cover cover;
};

/* Number of the kernel's space, and index of its owner. */
#define SPACES_KERNEL 0u

/* Set up with spaces_init(). */
struct spaces {
	VEC_OF(struct space) spaces;
	VEC_OF(struct mapping) mappings; /* in order of time */

	/* After spaces_freeze(): */
	struct strand *strands;
	uint32_t n_strands;
	uint32_t *by_strand;	  /* mapping numbers, sorted by strand and time */
	struct history strand_of; /* owner → strand */
};

void spaces_init(struct spaces *);
void spaces_release(struct spaces *);

/*
 * Adds a space, which replaces the one its owner had. Returns its number. Spaces and mappings must
 * be added in order of time.
 */
uint32_t spaces_add_empty(struct spaces *, uint32_t owner, uint64_t start_ns);
uint32_t spaces_add_fork(struct spaces *, uint32_t owner, uint64_t start_ns, uint32_t parent);

/* Adds a mapping, which hides what it overlaps. */
void spaces_map(struct spaces *, const struct mapping *);

/* Builds the look-up structures. Owners are below `n_owners`. By these threads; NULL: the caller alone. */
void spaces_freeze(struct spaces *, uint32_t n_owners, struct pool *);

/*
 * By process: the program that it runs in its last address space, 0 if not known. It is the mapped code of a
 * file with the name in comms[owner], which the kernel cuts to 15 bytes; if there is none, that of the first
 * file that is no shared library. A fork has its parent's. To be freed.
 */
struct module_id *spaces_programs(const struct spaces *, const struct modules *,
				  const char *const *comms, uint32_t n_owners);

/* An answer. It holds for all addresses of `range`, at all times of [from_ns, to_ns). */
struct spot {
	const struct mapping *mapping; /* NULL: nothing */
	struct range range;
	uint64_t from_ns, to_ns;
};

/* After spaces_freeze(). O(log³ n), whatever was recorded. */
struct spot spaces_find(const struct spaces *, uint32_t owner, uint64_t time_ns, uint64_t address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces over time: what was mapped at an address, in a process, at a moment. A
 * space begins empty (exec) or as what its parent had (fork), and lasts to the next exec.
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

/* A mapping as recorded. Module 0 says that nothing is there any more. */
struct mapping {
	struct range range;
	uint64_t page_offset;
	uint64_t time_ns;
	uint32_t space;
	struct module_id module;
	bool is_data;
};

struct space {
	uint32_t owner;	      /* process index, or SPACES_KERNEL */
	uint32_t parent;      /* a lower number; itself if it began empty */
	uint32_t parent_maps; /* how many mappings of its own the parent had at the fork */
	uint32_t n_maps;      /* of its own */
	uint64_t start_ns;
};

/* A run of mappings; where it has nothing, what it hangs from counts. */
struct strand {
	uint32_t parent;	/* a lower number; itself if it hangs from nothing */
	uint32_t parent_maps;	/* how many mappings of the parent count */
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
	uint32_t *by_strand;	  /* mapping numbers, strand by strand in order of time */
	struct history strand_of; /* by owner */
};

void spaces_init(struct spaces *);
void spaces_release(struct spaces *);

/*
 * A space that its owner has from this time on. Spaces and mappings must be added in order
 * of time; an owner has one space at a time. Returns its number.
 */
uint32_t spaces_add_empty(struct spaces *, uint32_t owner, uint64_t start_ns);
uint32_t spaces_add_fork(struct spaces *, uint32_t owner, uint64_t start_ns, uint32_t parent);

/* Maps something, over what was there. */
void spaces_map(struct spaces *, const struct mapping *);

/* Builds the look-up structures. Owners are below `n_owners`. */
void spaces_freeze(struct spaces *, uint32_t n_owners);

/* What was at an address: the same for all addresses of `range` at all times of the window. */
struct spot {
	const struct mapping *mapping; /* NULL: nothing */
	struct range range;
	uint64_t from_ns, to_ns;
};

/* After spaces_freeze(). O(log³ n), whatever was recorded. */
struct spot spaces_find(const struct spaces *, uint32_t owner, uint64_t time_ns, uint64_t address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups with the key (place, rest), where rest is a number. There may be millions, most of them of
 * different places. The groups of a place are a linked list, so that no key has to be hashed, and a
 * group takes 12 bytes. The most frequent group is often the first.
 */
#ifndef CYCLOPS_KEYS_PLACE_GROUPS_H
#define CYCLOPS_KEYS_PLACE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"

#define PLACE_GROUPS_NONE UINT32_MAX

struct place_group {
	uint32_t place, rest;
	uint32_t next; /* group + 1 of the same place, or 0 */
};

struct place_groups {
	VEC_OF(struct place_group) list; /* by number of the group */
	VEC_OF(uint32_t) first;		 /* by place: group + 1, or 0 */

	/* Lists have at most LONGEST_LIST groups; the others are found by hashing (place, rest): */
	struct tuples crowded;
	VEC_OF(uint32_t) crowded_groups;
};

void place_groups_init(struct place_groups *);
void place_groups_release(struct place_groups *);

/* place_groups_add() of another group than the place's first. */
uint32_t place_groups_add_(struct place_groups *, uint32_t place, uint32_t rest);

/* The group of (place, rest), added if it is new: then the result is the old `list.n`. */
static inline uint32_t place_groups_add(struct place_groups *g, uint32_t place, uint32_t rest)
{
	uint32_t first = place < g->first.n ? g->first.items[place] : 0;

	return first != 0 && g->list.items[first - 1].rest == rest
		       ? first - 1
		       : place_groups_add_(g, place, rest);
}

/* The group of (place, rest), or PLACE_GROUPS_NONE. */
uint32_t place_groups_find(const struct place_groups *, uint32_t place, uint32_t rest);

/* Prefetches the lists of these places, before place_groups_add() is called for them. */
void place_groups_fetch(struct place_groups *, const uint32_t *places, size_t n);

#endif

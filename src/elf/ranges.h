/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address → value, by ranges that may nest and overlap. Of several ranges with an address, the one
 * that starts last is found: the label inside the function.
 *
 *	added:	aaaaaaaaaaaaaaa		find:  aaabbbaaccccccddd
 *		   bbb
 *			ccccccddd
 */
#ifndef CYCLOPS_ELF_RANGES_H
#define CYCLOPS_ELF_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct range {
	uint64_t start, end; /* end is not in it */
	uint32_t value;
};

/* Zeroed is empty. After ranges_build() sorted and free of overlaps. */
struct ranges {
	VEC_OF(struct range) list;
};

void ranges_release(struct ranges *);

/* Empty and backward ranges are ignored. */
void ranges_add(struct ranges *, uint64_t start, uint64_t end, uint32_t value);

/*
 * Call once, after the last ranges_add(). Among ranges with the same start the shorter wins,
 * among equal ones the smaller value.
 */
void ranges_build(struct ranges *);

/* The piece that holds the address, or NULL; it may be smaller than what was added. */
const struct range *ranges_find(const struct ranges *, uint64_t address);

#endif

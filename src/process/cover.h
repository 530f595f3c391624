/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which mapping is visible at an address after the first k mmap()s? Address ranges are laid one
 * over the other in order; a later one hides what it overlaps of earlier ones.
 */
#ifndef CYCLOPS_PROCESS_COVER_H
#define CYCLOPS_PROCESS_COVER_H

#include <stddef.h>
#include <stdint.h>

/* Addresses start … last, both included. */
struct range {
	uint64_t start, last;
};

/* `length` addresses from `start` on, at least 1. Ends at the end of the address space. */
static inline struct range range_of(uint64_t start, uint64_t length)
{
	uint64_t last = start + (length - 1);

	return (struct range){ start, last < start ? UINT64_MAX : last };
}

/*
 * A rectangle of addresses × steps in which the same range is on top. Step k is the state
 * after the first k ranges.
 */
struct piece {
	struct range range;
	uint32_t item;	   /* 1 + index of the range on top; 0: none */
	uint32_t from, to; /* steps: [from, to) */
};

/* Zeroed is the cover of no ranges. */
struct cover {
	struct piece *pieces;
	uint32_t *first; /* where the pieces of each centre begin; n + 2 */
	uint32_t n;	 /* ranges */
};

/*
 * Memory is at most three pieces for each range, time O(n log n), whatever the ranges.
 * Copies what it needs.
 */
void cover_build(struct cover *, const struct range *, size_t n);
void cover_release(struct cover *);

/* The piece that holds an address after the first `step` ranges, at most n. O(log² n). */
struct piece cover_find(const struct cover *, uint32_t step, uint64_t address);

#endif

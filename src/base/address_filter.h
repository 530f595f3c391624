/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Bloom filter for pieces of memory (lines, pages): answers "certainly not in the set" or
 * "perhaps", in a few instructions. Used to drop most records early.
 */
#ifndef CYCLOPS_BASE_ADDRESS_FILTER_H
#define CYCLOPS_BASE_ADDRESS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_filter {
	uint64_t mask;	/* of the bits of an address that tell its piece */
	uint64_t *bits; /* by hash of a piece */
	unsigned shift; /* 64 - log2 of the number of bits */
};

/* An empty set of pieces of `piece_bytes`, a power of two; there is room for `n` of them. */
void address_filter_init(struct address_filter *, uint64_t piece_bytes, size_t n);
void address_filter_release(struct address_filter *);

/* Adds the piece that the address is in. */
void address_filter_add(struct address_filter *, uint64_t address);

static inline uint64_t address_filter_bit_(const struct address_filter *f, uint64_t address)
{
	return (address & f->mask) * UINT64_C(0x9e3779b97f4a7c15) >> f->shift;
}

/* False if no piece that was added has the address. */
static inline bool address_filter_may_have(const struct address_filter *f, uint64_t address)
{
	uint64_t bit = address_filter_bit_(f, address);

	return f->bits[bit >> 6] >> (bit & 63) & 1;
}

#endif

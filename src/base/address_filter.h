/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Bloom filter for addresses of cache lines or pages: "certainly not in the set" or "perhaps", in
 * a few instructions. It drops most records early.
 */
#ifndef CYCLOPS_BASE_ADDRESS_FILTER_H
#define CYCLOPS_BASE_ADDRESS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_filter {
	uint64_t mask;	/* the bits of an address that identify its line or page */
	uint64_t *bits; /* indexed by hash */
	unsigned shift; /* 64 - log2 of the number of bits */
};

/*
 * An empty set of pieces (lines, pages) of `piece_bytes`, a power of two, with room for `n` of
 * them.
 */
void address_filter_init(struct address_filter *, uint64_t piece_bytes, size_t n);
void address_filter_release(struct address_filter *);

/* Adds the piece that contains the address. */
void address_filter_add(struct address_filter *, uint64_t address);

/* Adds all pieces whose bit this is: see address_filter_bit(). */
void address_filter_add_bit(struct address_filter *, uint64_t bit);

/* The bit of the piece that contains the address, below 1 << (64 - shift). */
static inline uint64_t address_filter_bit(const struct address_filter *f, uint64_t address)
{
	return (address & f->mask) * UINT64_C(0x9e3779b97f4a7c15) >> f->shift;
}

/* True if the piece that contains the address was added, and rarely if not. */
static inline bool address_filter_may_have(const struct address_filter *f, uint64_t address)
{
	uint64_t bit = address_filter_bit(f, address);

	return f->bits[bit >> 6] >> (bit & 63) & 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting by numbers in linear time. */
#ifndef CYCLOPS_BASE_RADIX_H
#define CYCLOPS_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/*
 * Brings the `n` indexes in `order` into an order where keys[order[i]] ascends. Those of equal
 * keys stay as they were, so to sort by several keys, begin with the one that counts least.
 */
void radix_sort(uint32_t *order, size_t n, const uint64_t *keys);

struct radix_pair {
	uint64_t major, minor;
};

/*
 * The numbers 0 … n - 1 in the order of `keys`: by `major`, then by `minor`. Equal ones stay as they
 * were. To be freed.
 */
uint32_t *radix_order(const struct radix_pair *keys, size_t n);

#endif

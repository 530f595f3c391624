/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort of indexes by 64-bit keys, in linear time. */
#ifndef CYCLOPS_BASE_RADIX_H
#define CYCLOPS_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts the indexes in `order` so that keys[order[i]] ascends. Stable: to sort by several keys,
 * begin with the least significant one.
 */
void radix_sort(uint32_t *order, size_t n, const uint64_t *keys);

struct radix_pair {
	uint64_t major, minor;
};

/*
 * Returns the indexes 0 … n - 1 of items sorted by `major`, then by `minor` of their keys. Stable. To be freed.
 */
uint32_t *radix_order(const void *items, size_t n,
		      struct radix_pair (*key_of)(const void *items, size_t i));

#endif

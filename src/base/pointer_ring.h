/* SPDX-License-Identifier: Apache-2.0 */
/* Random orders, and rings of pointers: each place has the address of the next one, the last that of the first. */
#ifndef CYCLOPS_BASE_POINTER_RING_H
#define CYCLOPS_BASE_POINTER_RING_H

#include <stddef.h>
#include <stdint.h>

/*
 * All numbers below n: blocks of `block` neighbours in random order, in each its numbers in random order. The last
 * block may be shorter. 0: one block. Each such order is equally likely; `seed` decides. To be freed.
 */
uint64_t *random_order(size_t n, size_t block, uint64_t seed);

/* Links the places at these offsets from `start`, at least one, in this order. Returns the first. */
void **pointer_ring_link(void *start, const uint64_t *offsets, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pointer_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"

/* Fisher and Yates: each order is equally likely, in linear time. */
static void shuffle(uint64_t *numbers, size_t n, uint64_t *state)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = random_below(state, i);
		uint64_t kept = numbers[i - 1];

		numbers[i - 1] = numbers[k];
		numbers[k] = kept;
	}
}

uint64_t *random_order(size_t n, size_t block, uint64_t seed)
{
	uint64_t *order = mem_alloc(n, sizeof(*order)), *blocks;
	size_t n_blocks, at = 0;

	if (block == 0 || block > n)
		block = n;
	n_blocks = n == 0 ? 0 : (n + block - 1) / block;
	blocks = mem_alloc(n_blocks, sizeof(*blocks));
	for (size_t i = 0; i < n_blocks; i++)
		blocks[i] = i;
	shuffle(blocks, n_blocks, &seed);
	for (size_t i = 0; i < n_blocks; i++) {
		size_t first = blocks[i] * block, length = n - first < block ? n - first : block;

		for (size_t k = 0; k < length; k++)
			order[at + k] = first + k;
		shuffle(order + at, length, &seed);
		at += length;
	}
	free(blocks);
	return order;
}

void **pointer_ring_link(void *start, const uint64_t *offsets, size_t n)
{
	char *places = start;

	for (size_t i = 0; i < n; i++) {
		void *next = places + offsets[i + 1 < n ? i + 1 : 0];

		memcpy(places + offsets[i], &next, sizeof(next));
	}
	return (void **)(void *)(places + offsets[0]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash functions for the tables of this folder. Each table has a random seed, so that a hostile
 * file cannot prepare collisions. Nothing visible depends on the seed.
 */
#ifndef CYCLOPS_BASE_HASH_H
#define CYCLOPS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/uint128.h"

/* Folds the 128-bit product, so that every input bit can change every output bit. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	struct uint128 product = uint128_product(a, b);

	return product.low ^ product.high;
}

static inline uint64_t hash_words(const uint64_t *words, size_t n, uint64_t seed)
{
	uint64_t h = seed;

	for (size_t i = 0; i < n; i++)
		h = hash_mix(h ^ words[i] ^ 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u + seed);
	return h;
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* A random seed. */
uint64_t hash_seed(void);

#endif

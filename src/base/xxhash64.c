/* SPDX-License-Identifier: Apache-2.0 */
/* Format: "xxHash fast digest algorithm", section XXH64. */
#include "base/xxhash64.h"

#include <string.h>

#include "base/cursor.h"

enum { STRIPE_BYTES = 32 }; /* of four lanes */

static const uint64_t prime_1 = 0x9e3779b185ebca87u;
static const uint64_t prime_2 = 0xc2b2ae3d27d4eb4fu;
static const uint64_t prime_3 = 0x165667b19e3779f9u;
static const uint64_t prime_4 = 0x85ebca77c2b2ae63u;
static const uint64_t prime_5 = 0x27d4eb2f165667c5u;

static uint64_t rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static uint64_t mix_lane(uint64_t lane, uint64_t word)
{
	return rotate(lane + word * prime_2, 31) * prime_1;
}

static uint64_t merge_lane(uint64_t hash, uint64_t lane)
{
	return (hash ^ mix_lane(0, lane)) * prime_1 + prime_4;
}

/* The whole stripes. Moves `at` behind them. The lanes are no array, so that they stay in registers: twice as fast. */
static uint64_t mix_stripes(const uint8_t **at, size_t size)
{
	uint64_t first = prime_1 + prime_2, second = prime_2, third = 0, fourth = 0 - prime_1;
	uint64_t hash;

	for (; size >= STRIPE_BYTES; size -= STRIPE_BYTES, *at += STRIPE_BYTES) {
		first = mix_lane(first, load_u64(*at));
		second = mix_lane(second, load_u64(*at + 8));
		third = mix_lane(third, load_u64(*at + 16));
		fourth = mix_lane(fourth, load_u64(*at + 24));
	}
	hash = rotate(first, 1) + rotate(second, 7) + rotate(third, 12) + rotate(fourth, 18);
	hash = merge_lane(merge_lane(hash, first), second);
	return merge_lane(merge_lane(hash, third), fourth);
}

uint64_t xxhash64(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = size >= STRIPE_BYTES ? mix_stripes(&at, size) : prime_5;
	size_t left = size % STRIPE_BYTES;

	hash += size;
	for (; left >= 8; left -= 8, at += 8)
		hash = rotate(hash ^ mix_lane(0, load_u64(at)), 27) * prime_1 + prime_4;
	if (left >= 4) {
		hash = rotate(hash ^ load_u32(at) * prime_1, 23) * prime_2 + prime_3;
		left -= 4;
		at += 4;
	}
	for (; left > 0; left--, at++)
		hash = rotate(hash ^ *at * prime_5, 11) * prime_1;
	hash = (hash ^ hash >> 33) * prime_2;
	hash = (hash ^ hash >> 29) * prime_3;
	return hash ^ hash >> 32;
}

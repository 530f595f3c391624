/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <sys/random.h>

#include <string.h>

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
	const unsigned char *at = bytes;
	uint64_t h = hash_words(&(uint64_t){ size }, 1, seed);

	for (size_t left = size; left > 0;) {
		uint64_t word = 0;
		size_t step = left < sizeof(word) ? left : sizeof(word);

		memcpy(&word, at, step);
		h = hash_words(&word, 1, h);
		at += step;
		left -= step;
	}
	return h;
}

uint64_t hash_seed(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uint64_t)(uintptr_t)&seed * 0x9e3779b97f4a7c15u;
	return seed | 1;
}

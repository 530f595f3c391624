/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

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

static uint64_t secret;

static void draw_secret(void)
{
	if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) != (ssize_t)sizeof(secret))
		secret = (uint64_t)(uintptr_t)&secret * 0x9e3779b97f4a7c15u;
}

uint64_t hash_seed(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static _Atomic uint64_t n_drawn;

	pthread_once(&once, draw_secret);
	return hash_words(&(uint64_t){ atomic_fetch_add(&n_drawn, 1) }, 1, secret) | 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-random numbers. */
#ifndef CYCLOPS_BASE_RANDOM_H
#define CYCLOPS_BASE_RANDOM_H

#include <stdint.h>

/* splitmix64: a small generator with a good spread from any seed. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* A number below n, which is not 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return random_next(state) % n;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where the cycles of a machine go, by block of code. */
#ifndef CYCLOPS_MODEL_TALLY_H
#define CYCLOPS_MODEL_TALLY_H

#include <stdint.h>

#include "base/vec.h"

/*
 * By the block's number: by how many cycles its instructions ended after all those before them.
 * They add up to the time that the CPUs ran.
 */
struct tally {
	VEC_OF(uint64_t) cycles;
};

/* Of a block that did not run: 0. */
static inline uint64_t tally_cycles(const struct tally *t, uint32_t number)
{
	return number < t->cycles.n ? t->cycles.items[number] : 0;
}

/* Makes room for a block of this number, and returns it. */
static inline uint32_t tally_reserve(struct tally *t, uint32_t number)
{
	while (t->cycles.n <= number)
		*vec_add(&t->cycles) = 0;
	return number;
}

#endif

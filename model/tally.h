/* SPDX-License-Identifier: Apache-2.0 */
/* The cycles of a machine by block of code. */
#ifndef CYCLOPS_MODEL_TALLY_H
#define CYCLOPS_MODEL_TALLY_H

#include <stdint.h>

#include "base/vec.h"

/*
 * By number of the block: the cycles by which its instructions retired later than all instructions
 * before them. The sum is the time that the CPUs ran.
 */
struct tally {
	VEC_OF(uint64_t) cycles;
};

/* The cycles of a block; 0 if it did not run. */
static inline uint64_t tally_cycles(const struct tally *t, uint32_t number)
{
	return number < t->cycles.n ? t->cycles.items[number] : 0;
}

/* Makes the list long enough for the block `number`; returns `number`. */
static inline uint32_t tally_reserve(struct tally *t, uint32_t number)
{
	while (t->cycles.n <= number)
		*vec_add(&t->cycles) = 0;
	return number;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a chain of results carries from iteration to iteration: a sum, whose parts can be computed apart and put
 * together, or a value of which each needs the one before.
 */
#ifndef CYCLOPS_BOTTLENECK_CARRIED_H
#define CYCLOPS_BOTTLENECK_CARRIED_H

#include <stddef.h>
#include <stdint.h>

enum carried {
	CARRIED_UNKNOWN,    /* it goes through memory, or has words that are not known */
	CARRIED_REDUCTION,  /* one associative operation: sum, product, minimum, bits */
	CARRIED_LINEAR,	    /* x*a + c, where neither a nor c depends on x */
	CARRIED_RECURRENCE, /* each value is computed from the one before */
};

/* Of the instructions of a loop: `parts` (of `n`) is above 0 for those on the chain (chain_find()). */
enum carried carried_by(const uint32_t *words, const double *parts, size_t n);

#endif

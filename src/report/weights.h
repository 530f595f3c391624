/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of weights by key. */
#ifndef CYCLOPS_REPORT_WEIGHTS_H
#define CYCLOPS_REPORT_WEIGHTS_H

#include "base/tuples.h"
#include "base/vec.h"

/* `keys` is to be initialised with the number of words of a key. */
struct weights {
	struct tuples keys;
	VEC_OF(uint64_t) list; /* by number of the key */
};

/* Adds to a sum; returns what it is now. */
uint64_t weights_add(struct weights *, const uint64_t *key, uint64_t by);

void weights_release(struct weights *);

#endif

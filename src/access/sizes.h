/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes the instructions of a capture load or store. Records do not hold that. */
#ifndef CYCLOPS_ACCESS_SIZES_H
#define CYCLOPS_ACCESS_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/* Sizes of accesses, by global place id. Zeroed is empty. */
struct access_sizes {
	uint32_t *bytes;   /* 0: not known; of a scalable access: with vectors of 128 bits */
	bool *is_prefetch; /* a hint, which records call a load: nothing waits for it */
	bool *is_scalable; /* the size is proportional to the vector length (SVE) */
	uint32_t n;
	uint32_t n_scalable;  /* places with is_scalable */
	uint32_t vector_bits; /* the caller sets it: vector length of records that hold none */
};

/* Decodes the instructions of the places whose `wanted` is true. */
void access_sizes_init(struct access_sizes *, struct session *, const bool *wanted);

/* Bytes that one access at a place moves. recorded_bits: the record's vector length; 0: none. */
uint32_t access_sizes_bytes(const struct access_sizes *, uint64_t place, uint32_t recorded_bits);
void access_sizes_release(struct access_sizes *);

#endif

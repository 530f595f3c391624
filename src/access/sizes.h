/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes the instructions of a capture load or store: records do not say. */
#ifndef CYCLOPS_ACCESS_SIZES_H
#define CYCLOPS_ACCESS_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/* By global place id. Zeroed is empty. */
struct access_sizes {
	uint32_t *bytes;   /* 0: not known */
	bool *is_scalable; /* grows with the vector length: holds for 128 bits */
	uint32_t n;
	uint32_t n_scalable;  /* of those looked at */
	uint32_t vector_bits; /* of records that do not say how long their vectors are; set it */
};

/* Looks at the instructions of the places whose `wanted` is true. */
void access_sizes_init(struct access_sizes *, struct session *, const bool *wanted);

/* Bytes of an access by the instruction at a place, of which a record says a vector length (or 0). */
uint32_t access_sizes_bytes(const struct access_sizes *, uint64_t place, uint32_t said_bits);
void access_sizes_release(struct access_sizes *);

#endif

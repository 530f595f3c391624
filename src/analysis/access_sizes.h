/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes the instructions of a capture load or store: records do not say. */
#ifndef CYCLOPS_ANALYSIS_ACCESS_SIZES_H
#define CYCLOPS_ANALYSIS_ACCESS_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/session.h"

/* By global place id. Zeroed is empty. */
struct access_sizes {
	uint32_t *bytes;   /* 0: not known */
	bool *is_scalable; /* grows with the vector length: holds for 128 bits */
	uint32_t n;
	uint32_t n_scalable; /* of those looked at */
};

/* Looks at the instructions of the places whose `wanted` is true. */
void access_sizes_init(struct access_sizes *, struct session *, const bool *wanted);

/* Makes those that grow with the vector length right for vectors of so many bits. */
void access_sizes_stretch(struct access_sizes *, uint32_t vector_bits);
void access_sizes_release(struct access_sizes *);

#endif

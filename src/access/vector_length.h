/* SPDX-License-Identifier: Apache-2.0 */
/* How long vectors of SVE are in a capture, by what its records of loads and stores say. */
#ifndef CYCLOPS_ACCESS_VECTOR_LENGTH_H
#define CYCLOPS_ACCESS_VECTOR_LENGTH_H

#include <stdint.h>

#include "base/err.h"
#include "session/analysis.h"

/* What isa_access() takes a vector for, which is the shortest that there is. */
enum { VECTOR_LEAST_BITS = 128, VECTOR_MOST_BITS = 2048 };

/* The effective vector length that a record of SVE says, in bits; 0: it says none. */
uint32_t vector_length_said(const struct batch *, size_t row);

/*
 * The longest effective vector length of a record. Operations that touch less than a whole vector
 * say less, so this is the vector's length if any of them used all of it.
 */
struct vector_length {
	uint64_t n;    /* records that say one */
	uint32_t bits; /* 0: none does */
};

/* No options. Result: struct vector_length. */
extern const struct analysis_class vector_length_class;

/*
 * The length to reckon with for records that say none: what was given, if that is not 0, else what
 * others say; not less than the shortest.
 */
static inline uint32_t vector_length_bits(const struct vector_length *v, uint32_t given)
{
	uint32_t bits = given != 0 ? given : v->bits;

	return bits > VECTOR_LEAST_BITS ? bits : VECTOR_LEAST_BITS;
}

/* Are there vectors of so many bits? An error of usage, if not; 0 is "not given". */
int vector_length_check(uint32_t bits, struct err *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The SVE vector length of a capture, by its records of loads and stores. */
#ifndef CYCLOPS_ACCESS_VECTOR_LENGTH_H
#define CYCLOPS_ACCESS_VECTOR_LENGTH_H

#include <stdint.h>

#include "base/err.h"
#include "session/analysis.h"

/* The shortest and the longest vector of SVE. isa_access() gives sizes for the shortest. */
enum { VECTOR_LEAST_BITS = 128, VECTOR_MOST_BITS = 2048 };

/* The effective vector length in an SPE record, in bits; 0: it has none. */
uint32_t vector_length_recorded(const struct batch *, size_t row);

/*
 * The longest effective vector length of all records. An operation on part of a vector records
 * less. So this is the CPU's vector length if any operation used a whole vector.
 */
struct vector_length {
	uint64_t n;    /* records that have one */
	uint32_t bits; /* 0: none has one */
};

/* No options. Result: struct vector_length. */
extern const struct analysis_class vector_length_class;

/*
 * The vector length to assume for records that have none, in bits: `given` by the user, or if that
 * is 0 the longest recorded one; at least the shortest.
 */
static inline uint32_t vector_length_bits(const struct vector_length *v, uint32_t given)
{
	uint32_t bits = given != 0 ? given : v->bits;

	return bits > VECTOR_LEAST_BITS ? bits : VECTOR_LEAST_BITS;
}

/*
 * Fails with an error of usage if no SVE vector has so many bits. 0 means "not given" and is valid.
 */
int vector_length_check(uint32_t bits, struct err *);

#endif

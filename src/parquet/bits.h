/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in a fixed count of bits, and runs of them. Format: docs/reference/parquet.md section 4. */
#ifndef CYCLOPS_PARQUET_BITS_H
#define CYCLOPS_PARQUET_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* How many bits the value takes; 0 for 0. */
static inline unsigned bits_of(uint64_t value)
{
	return value == 0 ? 0 : 64u - (unsigned)__builtin_clzll(value);
}

/* Appends `n` values of `width` bits, at most 64, the lowest bit first; the last byte is filled up with zeros. */
void bits_pack(struct text *out, const uint64_t *values, size_t n, unsigned width);

/* Appends runs: equal values once with their count, others packed. `width` is at most 16. */
void bits_put_runs(struct text *out, const uint16_t *values, size_t n, unsigned width);

/* The same of bytes that are 0 or 1, as values of one bit. */
void bits_put_flags(struct text *out, const char *flags, size_t n);

/* Appends bytes that are 0 or 1 as one bit each; the last byte is filled up with zeros. */
void bits_pack_flags(struct text *out, const char *flags, size_t n);

/* Appends a single run of `n` equal values. */
void bits_put_run(struct text *out, uint64_t value, size_t n, unsigned width);

/* How many of the bytes, which are 0 or 1, are 1. */
size_t count_flags(const char *flags, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a column as they stand in memory, and in 64 bits. */
#ifndef CYCLOPS_PARQUET_NUMBERS_H
#define CYCLOPS_PARQUET_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numbers {
	const char *at; /* aligned to `width` */
	size_t n;
	unsigned width; /* 1, 2, 4 or 8 bytes */
	bool is_signed; /* those of 64 bits are sign-extended then */
};

enum {
	NUMBERS_BLOCK = 1024
}; /* how many are looked at a time, so that they stay in the nearest cache */

/*
 * `n` numbers from the one with number `first` on, in 64 bits: where they stand, or widened to `room`, which has so
 * many.
 */
const uint64_t *numbers_load(const struct numbers *, size_t first, size_t n, uint64_t *room);

/* The bits that any of the numbers has, and those that all have, in `width` bytes. There is one at least. */
void numbers_survey(const struct numbers *, uint64_t *out_any, uint64_t *out_all);

#endif

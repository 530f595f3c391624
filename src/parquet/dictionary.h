/* SPDX-License-Identifier: Apache-2.0 */
/* Distinct values of a column, numbered in the order in which they come. */
#ifndef CYCLOPS_PARQUET_DICTIONARY_H
#define CYCLOPS_PARQUET_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"
#include "parquet/numbers.h"

/* Zeroed is empty. Each filling forgets what there was before and keeps the memory. */
struct dictionary {
	VEC_OF(uint64_t)
	numbers;	   /* by id: of a dictionary of numbers; of texts: where they begin */
	struct text texts; /* the texts in the order of their ids, as parquet_put_item() packs */
	VEC_OF(uint64_t) hashes; /* of the texts */
	/* id + 1, or 0: by hash; or, of numbers that differ in few bits, by these bits */
	uint16_t *slots;
	size_t n_slots, room; /* a power of two; for how many there is memory */
	uint64_t seed;
};

void dictionary_release(struct dictionary *);

static inline size_t dictionary_size(const struct dictionary *d)
{
	return d->numbers.n;
}

/* Its numbers, by id. */
static inline struct numbers dictionary_numbers(const struct dictionary *d)
{
	return (struct numbers){ .at = (const char *)d->numbers.items,
				 .n = d->numbers.n,
				 .width = sizeof(*d->numbers.items) };
}

/*
 * Fills the dictionary with the numbers, and `ids` with the id of each. False: there are so many distinct ones that a
 * dictionary would not pay; dictionary and ids are of no use then.
 */
bool dictionary_of_numbers(struct dictionary *, const struct numbers *, uint16_t *ids);

/* The same with `n` texts, packed one behind the other. `always`: it pays; n is at most UINT16_MAX then. */
bool dictionary_of_texts(struct dictionary *, const char *packed, size_t n, bool always,
			 uint16_t *ids);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts any number of records in bounded memory. A record is a key and a value, both bytes; keys are compared
 * as memcmp() does, a prefix first. What does not fit is sorted in pieces, which go to a temporary file
 * (base/mapped.h) and are merged. Records with equal keys are neighbours, in the order in which they were added.
 *
 *	sorter_init(&sorter, bytes);
 *	sorter_add(&sorter, key, value);
 *	if (sorter_finish(&sorter, &err) == 0)
 *		for (uint64_t at = 0; sorter_next(&sorter, &at, &record);)
 *			…
 *	sorter_release(&sorter);
 */
#ifndef CYCLOPS_BASE_SORTER_H
#define CYCLOPS_BASE_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapped.h"
#include "base/text.h"
#include "base/vec.h"

struct sorter {
	size_t limit_bytes;
	struct text records;   /* those that are in no file yet: sizes, key, value */
	VEC_OF(size_t) starts; /* of each of them in `records`; in order from sorter_finish() on */

	/* What did not fit. */
	FILE *pieces;
	VEC_OF(uint64_t) ends; /* of each sorted piece in the file */
	struct mapped sorted;  /* all of them, merged */
	int rc;		       /* -1: the file cannot be written; `err` says why */
	struct err err;
};

struct sorter_record {
	const uint8_t *key, *value;
	uint32_t key_size, value_size;
};

/* `limit_bytes`: of records in memory. Less than a mebibyte is for tests. */
void sorter_init(struct sorter *, size_t limit_bytes);
void sorter_release(struct sorter *);

/* Adds a record. Errors are kept for sorter_finish(). */
void sorter_add(struct sorter *, const struct text *key, const struct text *value);

/* Sorts. Afterwards nothing can be added. -1 and an error if a temporary file cannot be written. */
int sorter_finish(struct sorter *, struct err *);

/*
 * The next record from *at on, which begins with 0; false behind the last. Valid until sorter_release(). Other
 * values of *at are those that it had before: so a part can be gone through again.
 */
bool sorter_next(const struct sorter *, uint64_t *at, struct sorter_record *out);

bool sorter_keys_equal(const struct sorter_record *, const struct sorter_record *);

/* Appends a number of 32 or 64 bits to a key, so that keys are ordered as the numbers are; and reads it. */
void sort_key_u32(struct text *key, uint32_t);
void sort_key_u64(struct text *key, uint64_t);
uint32_t sort_key_get_u32(const uint8_t *key);
uint64_t sort_key_get_u64(const uint8_t *key);

/* Appends a number to a value, short if it is small; reads it and moves *at behind it. */
void sort_value_put(struct text *value, uint64_t);
uint64_t sort_value_get(const uint8_t **at);

/* The same for up to 32 words, of which most are 0. */
void sort_value_put_words(struct text *value, const uint64_t *words, int n);
void sort_value_get_words(const uint8_t **at, uint64_t *words, int n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are written once, then read: in memory as long as they are few, else in a temporary file (base/mapped.h).
 *
 *	text_add(&spool.written, …);
 *	spool_flush(&spool, limit);
 *	…
 *	spool_finish(&spool);
 *	spool_bytes(&spool, &size)
 *
 * Those of several workers become one by spool_merge(), and are read by spool_next().
 */
#ifndef CYCLOPS_BASE_SPOOL_H
#define CYCLOPS_BASE_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mapped.h"
#include "base/text.h"
#include "base/vec.h"

/* Zeroed is empty. */
struct spool {
	struct text written; /* what is in no file */
	FILE *file;
	uint64_t n_in_file;	     /* bytes that were sent to it */
	VEC_OF(struct mapped) files; /* when finished; those of others behind the own one */
	int rc;			     /* -1: a file cannot be written; `err` says why */
	struct err err;
};

void spool_release(struct spool *);

/* Sends what is written to the file if it has so many bytes. Errors are kept in rc. */
void spool_flush(struct spool *, size_t least_bytes);

/* Makes everything readable. Then nothing can be added. Without a file the bytes stay in memory. */
void spool_finish(struct spool *);

/* Adds the files of another one, which is finished and has nothing in memory. It stays as it is. */
void spool_merge(struct spool *into, const struct spool *from);

/* All bytes of one that is finished and not merged. */
const void *spool_bytes(const struct spool *, size_t *out_size);

/* Where a reader of files is: zeroed, at the start. */
struct spool_position {
	size_t file;
	uint64_t at;
};

/* The bytes from the position on, in a file; NULL behind the last one. What is before them is not read again soon. */
const uint8_t *spool_next(const struct spool *, struct spool_position *);

/* Moves the position behind what was read: up to `end`. */
void spool_move(const struct spool *, struct spool_position *, const uint8_t *end);

/* Bytes of files need no memory until they are read again. */
void spool_drop(const struct spool *);

#endif

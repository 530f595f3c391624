/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnostics: damage, losses and notes. Each text is listed once, with a count and the first
 * position. Workers have lists of their own, merged at the end, so the result does not depend on
 * the number of threads.
 */
#ifndef CYCLOPS_BASE_DIAG_H
#define CYCLOPS_BASE_DIAG_H

#include <stdint.h>

#include "base/strings.h"
#include "base/vec.h"

/* How serious it is for the answer. */
enum diag_level {
	DIAG_NOTE,   /* nothing is missing */
	DIAG_LOSS,   /* the recorder lost something, as the capture itself says */
	DIAG_DAMAGE, /* a part of the file could not be read */
};

struct diag {
	enum diag_level level;
	const char *text; /* one sentence: what was found, what was done */
	uint64_t n;	  /* how often */
	uint64_t bytes;	  /* bytes of the file not read because of it */
	uint64_t first;	  /* position of the first, in the file; ERR_NOWHERE if none */
};

/* Zeroed is empty and ready to use. */
struct diags {
	VEC_OF(struct diag) list;
	struct arena text;
};

void diags_release(struct diags *);

/* Counts one occurrence of `text`; equal text (and level) is one entry. The text is copied. */
void diags_add(struct diags *, enum diag_level, uint64_t at, uint64_t bytes, const char *text);

/* Counts `n` occurrences at once. */
void diags_add_n(struct diags *, enum diag_level, uint64_t n, uint64_t at, uint64_t bytes,
		 const char *text);

/* Adds the counts of `from`; the smaller first position wins. */
void diags_merge(struct diags *, const struct diags *from);

/* Worst level first, then by first position, then by text. */
void diags_sort(struct diags *);

/* The sum of `bytes` over all entries of this level and worse. */
uint64_t diags_bytes(const struct diags *, enum diag_level least);

#endif

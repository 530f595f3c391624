/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of chunk.h only: how the values of a column become pages and bounds. */
#ifndef CYCLOPS_PARQUET_INSIDE_H
#define CYCLOPS_PARQUET_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "base/vec.h"
#include "parquet/chunk.h"
#include "parquet/dictionary.h"
#include "parquet/numbers.h"
#include "parquet/packed.h"

struct encoder {
	ZSTD_CCtx *zstd;
	VEC_OF(uint16_t) ids;	/* in the dictionary */
	VEC_OF(uint16_t) words; /* ids of the texts of codes */
	VEC_OF(uint16_t) levels;
	struct text repeats; /* a byte for each level: 1 or 0 */
	struct dictionary numbers_seen, texts_seen;
	struct parquet_values spelled; /* texts of codes */
	struct text word;	       /* one of them */
	struct text listed;	       /* the elements of lists */
	struct text page, compressed, data;
};

/* What is encoded, and how. */
struct column_values {
	const struct parquet_column *column;
	const char *present; /* NULL: all are there */
	size_t n_rows, n_present;
	size_t n_values; /* that are there: n_present, or of lists their elements */
	bool is_text;
	struct numbers numbers; /* if not, or if texts are given as codes */
	const char *texts;	/* if so, packed */
	bool has_dictionary;
};

static inline bool type_is_signed(enum parquet_type type)
{
	return type == PARQUET_INT32 || type == PARQUET_INT64 || type == PARQUET_TIME_US ||
	       type == PARQUET_TIME_NS;
}

/* Of a list in memory: reads its length, and returns where its elements begin, and where they end. */
static inline const char *list_begin(const char *at, uint32_t *out_n)
{
	memcpy(out_n, at, sizeof(*out_n));
	return at + sizeof(*out_n);
}

static inline const char *list_end(const struct column_values *v, const char *at, uint32_t n)
{
	if (!v->is_text)
		return at + n * sizeof(uint64_t);
	for (; n > 0; n--)
		at = packed_next(at);
	return at;
}

/* The dictionary of the column, if it has one. */
static inline const struct dictionary *dictionary_of(const struct encoder *e,
						     const struct column_values *v)
{
	return v->is_text ? &e->texts_seen : &e->numbers_seen;
}

/* Appends numbers in plain encoding. */
void plain_put(struct text *out, enum parquet_type, uint64_t value);
void plain_put_all(struct text *out, enum parquet_type, const struct numbers *, size_t first,
		   size_t n);

/* Divides the values of a column of texts into pages. Returns how many bytes they have. */
size_t text_pages_divide(struct chunk *, const struct column_values *);

/* Fills the chunk's pages; c->encoding is chosen. `values` are those that the column was read from. */
void pages_put(struct encoder *, struct chunk *c, const struct column_values *, const char *values);

/* Bounds and filter of the chunk, whose pages are filled: of the distinct values, if they are known. */
void chunk_describe(const struct encoder *, struct chunk *, const struct column_values *);

#endif

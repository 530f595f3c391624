/* SPDX-License-Identifier: Apache-2.0 */
/* A column of a row group: its values as pages, and what the footer says of it. */
#ifndef CYCLOPS_PARQUET_CHUNK_H
#define CYCLOPS_PARQUET_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"
#include "parquet/parquet.h"

/* Numbers of the format: docs/reference/parquet.md sections 3 and 4. */
enum parquet_physical {
	PHYSICAL_BOOLEAN = 0,
	PHYSICAL_INT32 = 1,
	PHYSICAL_INT64 = 2,
	PHYSICAL_DOUBLE = 5,
	PHYSICAL_BYTES = 6,
};

enum parquet_encoding {
	ENCODING_PLAIN = 0,
	ENCODING_RUNS = 3,
	ENCODING_DELTA = 5,
	ENCODING_DICTIONARY = 8,
};

enum parquet_codec { CODEC_NONE = 0, CODEC_ZSTD = 6 };

enum parquet_physical parquet_physical(enum parquet_type);

static inline bool parquet_is_list(enum parquet_type type)
{
	return type == PARQUET_TEXT_LIST || type == PARQUET_UINT64_LIST;
}

/* The type of the elements of a list. */
static inline enum parquet_type parquet_element(enum parquet_type list)
{
	return list == PARQUET_TEXT_LIST ? PARQUET_TEXT : PARQUET_UINT64;
}

/* Bytes of a value in struct parquet_values; 0: texts, or lists. */
static inline unsigned parquet_width(const struct parquet_column *c)
{
	if (parquet_is_list(c->type) || (c->type == PARQUET_TEXT && c->spell == NULL))
		return 0;
	return c->width > 0 ? c->width : (unsigned)sizeof(uint64_t);
}

/* The most rows of a row group. */
enum { GROUP_ROWS = 1 << 17 };

/* A page of plain texts. */
struct text_page {
	size_t row, n_rows;
	const char *texts; /* packed, of the values of the column */
	size_t n_bytes;
	struct text encoded; /* with its header, when it is encoded */
	size_t uncompressed_bytes;
};

struct chunk {
	struct text pages;	 /* with their headers; the dictionary is the first */
	size_t dictionary_bytes; /* of the dictionary's page; 0: there is none */
	uint64_t
		n_values; /* with absent ones; of lists the elements, and a value for each list without */
	uint64_t n_nulls;		/* absent ones */
	size_t uncompressed_bytes;	/* of all pages with their headers */
	enum parquet_encoding encoding; /* of the values in data pages */
	enum parquet_codec codec;
	bool has_bounds;
	struct text least, largest; /* in plain encoding, of texts without their size */
	struct text bloom;	    /* a filter with its header; empty: none */
	/* Of plain texts: pages that are not yet joined to `pages`, and those of them that are encoded. */
	VEC_OF(struct text_page) text_pages;
	size_t n_text_pages, n_encoded; /* the items behind these keep their memory only */
	const char *present;		/* a byte for each row; NULL: all are there */
};

void chunk_release(struct chunk *);

/* The memory of a worker who encodes. */
struct encoder *encoder_new(void);
void encoder_free(struct encoder *);

/*
 * Replaces the chunk by that of the rows whose presence and values begin there. Returns how many bytes of values they
 * had. `present` NULL: all are there. Left to do are text pages from `n_encoded` to `n_text_pages`, then to join.
 */
size_t chunk_encode(struct chunk *, struct encoder *, const struct parquet_column *,
		    const char *present, const char *values, size_t n_rows);

/* Encodes a text page. Workers may encode several of a chunk at the same time, each with an encoder of its own. */
void chunk_encode_page(struct chunk *, struct encoder *, size_t page);

/* Joins the text pages, when all are encoded. */
void chunk_join(struct chunk *);

#endif

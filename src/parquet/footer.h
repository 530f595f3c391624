/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind the pages: where they are, and what is in them. */
#ifndef CYCLOPS_PARQUET_FOOTER_H
#define CYCLOPS_PARQUET_FOOTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"
#include "parquet/chunk.h"

struct parquet_meta {
	char *key, *value;
};

/* A file as far as it is written. */
struct parquet_footer {
	const struct parquet_column *columns;
	size_t n_columns;
	VEC_OF(struct parquet_meta) metas;
	struct text groups; /* the row groups, encoded */
	size_t n_groups;
	uint64_t n_rows;
};

void parquet_footer_release(struct parquet_footer *);

/* Adds a row group whose chunks are at `offset` in the file, one behind the other, and their filters behind them. */
void parquet_footer_add_group(struct parquet_footer *, const struct chunk *, uint64_t n_rows,
			      uint64_t offset);

/* Appends the footer, its size, and the mark that ends a file. */
void parquet_footer_put(const struct parquet_footer *, struct text *out);

/* What a file begins and ends with. */
extern const char parquet_mark[5];

#endif

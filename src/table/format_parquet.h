/* SPDX-License-Identifier: Apache-2.0 */
/* For tables that are too long to be kept: what all Parquet files of cyclops have in common. */
#ifndef CYCLOPS_TABLE_FORMAT_PARQUET_H
#define CYCLOPS_TABLE_FORMAT_PARQUET_H

#include "parquet/parquet.h"
#include "table/format.h"

/* Sets the keys of a file: what it is about, its columns and notes. The rows of the table are not looked at. */
void format_parquet_describe(struct parquet_writer *, const struct document *,
			     const struct table *);

#endif

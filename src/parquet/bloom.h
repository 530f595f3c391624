/* SPDX-License-Identifier: Apache-2.0 */
/* Split-block bloom filters. Format: docs/reference/parquet.md section 6. */
#ifndef CYCLOPS_PARQUET_BLOOM_H
#define CYCLOPS_PARQUET_BLOOM_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Appends an empty filter for so many distinct values, after its header. Returns where its bits begin. */
size_t bloom_begin(struct text *out, size_t n_distinct);

/* Adds a value, by its XXH64, to the filter whose bits are at the end of the text, from `first` on. */
void bloom_add(struct text *filter, size_t first, uint64_t hash);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* DELTA_BINARY_PACKED: integers as differences. Format: docs/reference/parquet.md section 5. */
#ifndef CYCLOPS_PARQUET_DELTA_H
#define CYCLOPS_PARQUET_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "parquet/numbers.h"

/* Appends `n` values from the one with number `first` on. `is_narrow`: as values of 32 bits, which they fit into. */
void delta_put(struct text *out, const struct numbers *, size_t first, size_t n, bool is_narrow);

/* About how many bytes all would be, by a sample of them. `scratch` is emptied. */
size_t delta_estimate(const struct numbers *, bool is_narrow, struct text *scratch);

#endif

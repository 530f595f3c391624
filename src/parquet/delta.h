/* SPDX-License-Identifier: Apache-2.0 */
/* DELTA_BINARY_PACKED: integers as differences. Format: docs/reference/parquet.md section 5. */
#ifndef CYCLOPS_PARQUET_DELTA_H
#define CYCLOPS_PARQUET_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Appends the values. `is_narrow`: they are of 32 bits, of which the upper half of each is a copy of the sign or 0. */
void delta_put(struct text *out, const uint64_t *values, size_t n, bool is_narrow);

/* About how many bytes that would be, by a sample of the values. `scratch` is emptied. */
size_t delta_estimate(const uint64_t *values, size_t n, bool is_narrow, struct text *scratch);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of lists, as --sizes has them. */
#ifndef CYCLOPS_LATENCY_SIZES_H
#define CYCLOPS_LATENCY_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { SIZES_MAX = 256 };

struct sizes {
	uint64_t items[SIZES_MAX]; /* ascending, different, each a multiple of the line */
	size_t n;
};

/* Two sizes for each doubling: 4K, 6K, 8K, 12K … up to `last`, which is the last one. */
void sizes_between(struct sizes *, uint64_t first, uint64_t last, uint64_t line);

/* Parses "4K..64M", or sizes such as "4K,1M,64M". */
int sizes_parse(const char *text, uint64_t line, struct sizes *out, struct err *);

#endif

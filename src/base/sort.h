/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting of what nearly always is in order. */
#ifndef CYCLOPS_BASE_SORT_H
#define CYCLOPS_BASE_SORT_H

#include <stddef.h>
#include <stdlib.h>

/* As qsort(), which takes n log n comparisons of sorted items, too; n may be 0. */
static inline void sort_unless_sorted(void *items, size_t n, size_t size,
				      int (*compare)(const void *, const void *))
{
	const char *at = (const char *)items;

	for (size_t i = 1; i < n; i++, at += size)
		if (compare(at, at + size) > 0) {
			qsort(items, n, size, compare);
			return;
		}
}

#endif

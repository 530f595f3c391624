/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory_group.h"

enum { LARGE_BYTES = 4 << 20 };

/* Where little memory is left, a large array has little that it does not use. It is moved by its pages, not copied. */
static size_t grown_cap(size_t cap, size_t item_size)
{
	bool is_large = cap >= LARGE_BYTES / item_size;

	return cap + (is_large && memory_is_scarce() ? cap / 16 : cap / 2) + 8;
}

void *vec_room_(void *items, size_t n, size_t *cap, size_t extra, size_t item_size)
{
	size_t wanted = n + extra;

	if (wanted > *cap) {
		size_t grown = grown_cap(*cap, item_size);

		if (grown < wanted)
			grown = wanted;
		items = mem_resize(items, grown, item_size);
		*cap = grown;
	}
	return items;
}

void *vec_grow_(void *items, size_t n, size_t *cap, size_t extra, size_t item_size)
{
	if (extra == 0)
		return items;
	items = vec_room_(items, n, cap, extra, item_size);
	memset((char *)items + n * item_size, 0, extra * item_size);
	return items;
}

void *vec_fit_(void *items, size_t n, size_t *cap, size_t item_size)
{
	if (n == 0 || n == *cap)
		return items;
	*cap = n;
	return mem_resize(items, n, item_size);
}

void vec_free_(void *items)
{
	free(items);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing arrays, typed. Items move when the array grows: keep indexes, not pointers.
 *
 *	VEC_OF(struct mapping) maps = { 0 };
 *	struct mapping *m = vec_add(&maps);	(zeroed)
 *	for (size_t i = 0; i < maps.n; i++)
 *		use(&maps.items[i]);
 *	vec_release(&maps);
 */
#ifndef CYCLOPS_BASE_VEC_H
#define CYCLOPS_BASE_VEC_H

#include <stddef.h>

/* clang-format off */
#define VEC_OF(type) struct { type *items; size_t n, cap; }
/* clang-format on */

/* Makes room for `extra` more items. The new memory is zeroed. */
#define vec_reserve(v, extra)                                                                      \
	((v)->items = vec_grow_((v)->items, (v)->n, &(v)->cap, (extra), sizeof(*(v)->items)))

/* Appends `extra` items, which the caller writes. */
#define vec_extend(v, extra)                                                                       \
	do {                                                                                       \
		size_t extra_ = (extra);                                                           \
                                                                                                   \
		(v)->items =                                                                       \
			vec_room_((v)->items, (v)->n, &(v)->cap, extra_, sizeof(*(v)->items));     \
		(v)->n += extra_;                                                                  \
	} while (0)

/* Appends one zeroed item and returns a pointer to it, valid until the next call. */
#define vec_add(v)                                                                                 \
	((v)->n < (v)->cap ? (void)__builtin_memset(&(v)->items[(v)->n], 0, sizeof(*(v)->items))   \
			   : (void)vec_reserve((v), 1),                                            \
	 &(v)->items[(v)->n++])

/* Frees memory without items. */
#define vec_fit(v) ((v)->items = vec_fit_((v)->items, (v)->n, &(v)->cap, sizeof(*(v)->items)))

/* Frees the memory and leaves an empty array. */
#define vec_release(v) (vec_free_((v)->items), (v)->items = NULL, (v)->n = (v)->cap = 0)

/* Called by the macros only. */
void *vec_room_(void *items, size_t n, size_t *cap, size_t extra, size_t item_size);
void *vec_grow_(void *items, size_t n, size_t *cap, size_t extra, size_t item_size);
void *vec_fit_(void *items, size_t n, size_t *cap, size_t item_size);
void vec_free_(void *items);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once. */
#ifndef CYCLOPS_BASE_ARENA_H
#define CYCLOPS_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

/* An arena; zeroed is empty and ready to use. Not for use by two threads at once. */
struct arena {
	struct arena_block *blocks; /* newest first */
	size_t used;		    /* bytes taken from the newest block */
};

/* `size` bytes, aligned for any type, uninitialised, valid until arena_release(). */
void *arena_alloc(struct arena *, size_t size);

/* A NUL-terminated copy of `len` bytes of text. */
char *arena_strndup(struct arena *, const char *text, size_t len);

/* Frees all allocations but keeps the newest block for reuse. */
void arena_reset(struct arena *);

/* Frees all memory. The arena is empty and can be used again. */
void arena_release(struct arena *);

#endif

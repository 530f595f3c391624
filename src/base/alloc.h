/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is there or ends the program: cyclops bounds every size that comes from a
 * file before it allocates, so running out is not an error a caller could handle.
 * (The public self-measurement library does not use this.)
 */
#ifndef CYCLOPS_BASE_ALLOC_H
#define CYCLOPS_BASE_ALLOC_H

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Uninitialised memory for `n` items of `size` bytes. Never NULL. Free with free(). */
void *mem_alloc(size_t n, size_t size);

/* The same, zeroed. */
void *mem_zalloc(size_t n, size_t size);

/* The same as mem_alloc(), beginning at a cache line of 64 bytes. For tables of small sets. */
void *mem_aligned(size_t n, size_t size);

enum { MEM_HUGE = 2 << 20 };

/*
 * Uninitialised memory of MEM_HUGE bytes, in one large page where the kernel has one: for what is
 * big and looked at all over. Never NULL. Free with free().
 */
void *mem_huge(void);

/* realloc() with the same promise. */
void *mem_resize(void *memory, size_t n, size_t size);

/* A copy of `len` bytes of text, NUL-terminated. */
char *mem_strndup(const char *text, size_t len);

#endif

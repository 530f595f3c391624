/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that never fails: running out of memory ends the program with a message. Sizes that
 * come from a file are checked before, so it is no error that a caller could handle.
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
 * Uninitialised memory of MEM_HUGE bytes, in one huge page if the kernel has one: for tables with
 * random accesses. Never NULL. Free with free().
 */
void *mem_huge(void);

/* realloc() with the same promise. */
void *mem_resize(void *memory, size_t n, size_t size);

/* A copy of `len` bytes of text, NUL-terminated. */
char *mem_strndup(const char *text, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that never fails: without memory the program ends with a message. Sizes from files are
 * checked before, so no caller could do better.
 */
#ifndef CYCLOPS_BASE_ALLOC_H
#define CYCLOPS_BASE_ALLOC_H

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Uninitialised memory for `n` items of `size` bytes. Never NULL. Free with free(). */
void *mem_alloc(size_t n, size_t size);

/* The same, zeroed. */
void *mem_zalloc(size_t n, size_t size);

/*
 * The same, with all its pages. For tables that are read all over before they are written: else each of their pages has two
 * faults, the second of which interrupts all other threads.
 */
void *mem_zalloc_pages(size_t n, size_t size);

/* As mem_alloc(), aligned to a cache line of 64 bytes. For tables of small sets. */
void *mem_aligned(size_t n, size_t size);

enum { MEM_HUGE = 2 << 20 };

/*
 * As mem_alloc(), from MEM_HUGE bytes on in huge pages if the kernel has them, and zeroed: for what is written all over, or
 * read at random. A page of 4 KiB takes 1.2 us when it is first written to. n * size does not overflow.
 */
void *mem_huge(size_t n, size_t size);

/* Frees it, by the same numbers. */
void mem_huge_free(void *memory, size_t n, size_t size);

/* realloc() that never fails. */
void *mem_resize(void *memory, size_t n, size_t size);

/* The same, from `n_old` items to `n`, of which the new ones are zeroed. Of none it is mem_zalloc(): pages take memory when they are written. */
void *mem_grow_zeroed(void *memory, size_t n_old, size_t n, size_t size);

/* A copy of `len` bytes of text, NUL-terminated. */
char *mem_strndup(const char *text, size_t len);

#endif

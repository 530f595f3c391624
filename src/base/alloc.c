/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *checked_memory(void *memory, size_t n, size_t size)
{
	if (memory == NULL && n > 0 && size > 0) {
		fprintf(stderr, "cyclops: out of memory (wanted %zu items of %zu bytes)\n", n,
			size);
		exit(1);
	}
	return memory;
}

void *mem_alloc(size_t n, size_t size)
{
	return mem_resize(NULL, n, size);
}

void *mem_zalloc(size_t n, size_t size)
{
	return checked_memory(calloc(n, size), n, size);
}

void *mem_resize(void *memory, size_t n, size_t size)
{
	return checked_memory(reallocarray(memory, n, size), n, size);
}

char *mem_strndup(const char *text, size_t len)
{
	char *copy = mem_alloc(len + 1, 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

void *mem_aligned(size_t n, size_t size)
{
	enum { LINE = 64 };
	bool fits = size == 0 || n <= (SIZE_MAX - LINE) / size;

	return checked_memory(
		fits ? aligned_alloc(LINE, (n * size + LINE - 1) / LINE * LINE) : NULL, n, size);
}

void *mem_huge(void)
{
	void *memory = checked_memory(aligned_alloc(MEM_HUGE, MEM_HUGE), 1, MEM_HUGE);

	madvise(memory, MEM_HUGE, MADV_HUGEPAGE); /* if it fails, memory is only slower */
	return memory;
}

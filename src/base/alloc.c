/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory_group.h"

enum {
	/* From here on it is asked whether there is room; each question costs as much as some system calls. */
	LARGE_BYTES = 4 << 20,
	PAGE_BYTES = 4096,
};

/* The limit is that of the process, so its threads ask one after the other. */
static pthread_mutex_t large_lock = PTHREAD_MUTEX_INITIALIZER;

/* Writes to each page of zeroed or unused memory. */
static void take_pages(void *memory, size_t from, size_t to)
{
	volatile char *bytes = memory;

	for (size_t at = from; at < to; at += PAGE_BYTES)
		bytes[at] = 0;
}

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

/* Ends the program if there is no room for so much more. The lock is held. */
static void check_room(size_t bytes)
{
	struct err err;

	if (!memory_group_allows(bytes, &err)) {
		fprintf(stderr, "cyclops: %s\n", err.text);
		exit(1);
	}
}

/* Grows memory of which `old` bytes are in use to n * size, which is large. */
static void *resize_large(void *memory, size_t old, size_t n, size_t size, bool is_zeroed)
{
	size_t bytes = n * size;

	pthread_mutex_lock(&large_lock);
	if (bytes > old)
		check_room(bytes - old);
	memory = checked_memory(is_zeroed ? calloc(n, size) : reallocarray(memory, n, size), n,
				size);
	/* several arrays that each fit, and not together, would be noticed too late: by the kernel, when they are written */
	if (memory_is_scarce())
		take_pages(memory, old, bytes);
	pthread_mutex_unlock(&large_lock);
	return memory;
}

static bool is_large(size_t n, size_t size)
{
	return size > 0 && n >= LARGE_BYTES / size && n <= SIZE_MAX / size;
}

void *mem_zalloc(size_t n, size_t size)
{
	if (is_large(n, size))
		return resize_large(NULL, 0, n, size, true);
	return checked_memory(calloc(n, size), n, size);
}

void *mem_zalloc_pages(size_t n, size_t size)
{
	void *memory = mem_zalloc(n, size);

	take_pages(memory, 0, n * size);
	return memory;
}

void *mem_resize(void *memory, size_t n, size_t size)
{
	if (is_large(n, size))
		return resize_large(memory, malloc_usable_size(memory), n, size, false);
	return checked_memory(reallocarray(memory, n, size), n, size);
}

void *mem_grow_zeroed(void *memory, size_t n_old, size_t n, size_t size)
{
	if (memory == NULL)
		return mem_zalloc(n, size);
	memory = mem_resize(memory, n, size);
	memset((char *)memory + n_old * size, 0, (n - n_old) * size);
	return memory;
}

char *mem_strndup(const char *text, size_t len)
{
	char *copy = mem_alloc(len + 1, 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static void *alloc_lines(size_t n, size_t size)
{
	enum { LINE = 64 };
	bool fits = size == 0 || n <= (SIZE_MAX - LINE) / size;

	return checked_memory(
		fits ? aligned_alloc(LINE, (n * size + LINE - 1) / LINE * LINE) : NULL, n, size);
}

void *mem_aligned(size_t n, size_t size)
{
	void *memory;

	if (!is_large(n, size))
		return alloc_lines(n, size);
	pthread_mutex_lock(&large_lock);
	check_room(n * size);
	memory = alloc_lines(n, size);
	if (memory_is_scarce())
		take_pages(memory, 0, n * size);
	pthread_mutex_unlock(&large_lock);
	return memory;
}

/* The bytes of memory of mem_huge(), which is larger than a huge page. */
static size_t huge_bytes(size_t n, size_t size)
{
	return (n * size + MEM_HUGE - 1) & -(size_t)MEM_HUGE;
}

void *mem_huge(size_t n, size_t size)
{
	size_t bytes = huge_bytes(n, size), before;
	char *memory;

	if (n * size < MEM_HUGE)
		return mem_alloc(n, size);
	pthread_mutex_lock(&large_lock);
	check_room(bytes); /* a table may be made of many such pieces */
	/* aligned_alloc() would keep what is mapped before and behind it */
	memory = mmap(NULL, bytes + MEM_HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	checked_memory(memory == MAP_FAILED ? NULL : memory, n, size);
	before = -(uintptr_t)memory & (MEM_HUGE - 1);
	if (before > 0)
		munmap(memory, before);
	munmap(memory + before + bytes, MEM_HUGE - before);
	memory += before;
	madvise(memory, bytes, MADV_HUGEPAGE); /* if it fails, memory is only slower */
	if (memory_is_scarce())
		take_pages(memory, 0, bytes);
	pthread_mutex_unlock(&large_lock);
	return memory;
}

void mem_huge_free(void *memory, size_t n, size_t size)
{
	if (n * size < MEM_HUGE)
		free(memory);
	else if (memory != NULL)
		munmap(memory, huge_bytes(n, size));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap in one mapping. Freed blocks go into a list for their size; new blocks come from the end.
 * There are four sizes between a power of two and the next. A block is a head of 64 bytes, which
 * holds its size, and the caller's memory.
 */
#include "model/shared_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/robust.h"

/* Size of the mapping: the most that the system allows. Memory is used as it is written. */
#define MOST_BYTES ((size_t)1 << 36)
#define LEAST_BYTES ((size_t)1 << 30)

enum {
	HEAD = 64,
	STEPS = 4, /* sizes between powers of two */
	N_SIZES = 64 * STEPS,
	PAGE = 4096,
	LARGE = 1 << 20, /* from this size on, freed memory goes back to the system */
};

/* The head of a block; `next` is used while the block is free. */
struct block_head {
	size_t size; /* of head and contents */
	struct block_head *next;
};

struct heap {
	pthread_mutex_t lock;
	size_t size, used; /* bytes of the mapping */
	struct block_head *freed[N_SIZES];
};

/* Each process has the mapping at the same address. */
static struct heap *heap;

void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *memory, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
size_t __wrap_malloc_usable_size(void *memory);
size_t __real_malloc_usable_size(void *memory);
void __wrap_free(void *memory);
void __real_free(void *memory);

int shared_memory_open(struct err *err)
{
	size_t size = MOST_BYTES;
	void *memory = MAP_FAILED;

	for (; memory == MAP_FAILED && size >= LEAST_BYTES; size /= 2)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "cannot map memory for the model: %s",
			       strerror(errno));
	heap = memory;
	heap->size = 2 * size;
	heap->used = (sizeof(*heap) + HEAD - 1) / HEAD * HEAD;
	robust_mutex_init(&heap->lock);
	return 0;
}

/* The size of a block for `size` bytes; 0: too large. *out_index: index into heap.freed. */
static size_t block_size_for(size_t size, size_t *out_index)
{
	unsigned power;
	size_t step;

	if (size > MOST_BYTES)
		return 0;
	size = size > 0 ? size + HEAD : 2 * HEAD;
	power = 63 - (unsigned)__builtin_clzll(size - 1);
	step = (size_t)1 << (power - 2);
	if (step < HEAD)
		step = HEAD;
	size = (size + step - 1) / step * step;
	power = 63 - (unsigned)__builtin_clzll(size);
	*out_index = power * STEPS + (size >> (power - 2)) - STEPS;
	return size;
}

/* Takes a block from the list, or from the end (*out_is_new), where memory is zero. */
static struct block_head *take_block(size_t size, size_t index, bool *out_is_new)
{
	struct block_head *block;

	robust_lock(&heap->lock);
	block = heap->freed[index];
	*out_is_new = block == NULL;
	if (block != NULL) {
		heap->freed[index] = block->next;
	} else if (size <= heap->size - heap->used) {
		block = (void *)((char *)heap + heap->used);
		heap->used += size;
		block->size = size;
	}
	pthread_mutex_unlock(&heap->lock);
	return block;
}

static void *allocate(size_t size, bool must_zero)
{
	struct block_head *block;
	size_t index, rounded = block_size_for(size, &index);
	bool is_new = false;

	block = rounded > 0 ? take_block(rounded, index, &is_new) : NULL;
	if (block == NULL)
		return NULL;
	if (must_zero && !is_new)
		memset((char *)block + HEAD, 0, size);
	return (char *)block + HEAD;
}

/* The block of memory; NULL: it is of malloc(), or of the C library. */
static struct block_head *block_of(void *memory)
{
	bool is_ours = heap != NULL && (char *)memory >= (char *)heap &&
		       (char *)memory < (char *)heap + heap->size;

	return is_ours ? (void *)((char *)memory - HEAD) : NULL;
}

size_t __wrap_malloc_usable_size(void *memory)
{
	struct block_head *block = block_of(memory);

	return block != NULL ? block->size - HEAD : __real_malloc_usable_size(memory);
}

void __wrap_free(void *memory)
{
	struct block_head *block = block_of(memory);
	size_t index;

	if (block == NULL) {
		__real_free(memory);
		return;
	}
	block_size_for(block->size - HEAD, &index);
	if (block->size >= LARGE) {
		size_t first = -(uintptr_t)memory % PAGE;

		madvise((char *)memory + first, (block->size - HEAD - first) / PAGE * PAGE,
			MADV_REMOVE);
	}
	robust_lock(&heap->lock);
	block->next = heap->freed[index];
	heap->freed[index] = block;
	pthread_mutex_unlock(&heap->lock);
}

void *__wrap_calloc(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : allocate(bytes, true);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return alignment > HEAD ? NULL : allocate(size, false);
}

/* `memory` is of this heap, or NULL. */
void *__wrap_reallocarray(void *memory, size_t n, size_t size)
{
	size_t bytes, held;
	void *larger;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	if (memory == NULL)
		return allocate(bytes, false);
	held = __wrap_malloc_usable_size(memory);
	if (bytes <= held)
		return memory;
	larger = allocate(bytes, false);
	if (larger == NULL)
		return NULL;
	memcpy(larger, memory, held);
	__wrap_free(memory);
	return larger;
}

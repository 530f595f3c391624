/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { BLOCK_BYTES = 64 * 1024 };

struct arena_block {
	struct arena_block *next;
	size_t size;
	alignas(max_align_t) unsigned char bytes[];
};

static void arena_add_block(struct arena *arena, size_t size)
{
	struct arena_block *block = mem_alloc(1, sizeof(*block) + size);

	block->next = arena->blocks;
	block->size = size;
	arena->blocks = block;
	arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	size_t rounded = (size + align - 1) & ~(align - 1);
	void *memory;

	if (arena->blocks == NULL || rounded > arena->blocks->size - arena->used)
		arena_add_block(arena, rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES);
	memory = arena->blocks->bytes + arena->used;
	arena->used += rounded;
	return memory;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (len > 0)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static void free_blocks(struct arena_block *block)
{
	while (block != NULL) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void arena_reset(struct arena *arena)
{
	if (arena->blocks == NULL)
		return;
	free_blocks(arena->blocks->next);
	arena->blocks->next = NULL;
	arena->used = 0;
}

void arena_release(struct arena *arena)
{
	free_blocks(arena->blocks);
	arena->blocks = NULL;
	arena->used = 0;
}

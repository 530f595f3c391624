/* SPDX-License-Identifier: Apache-2.0 */
#include "model/block.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "measure/mark.h"

/*
 * Private memory, not that of mem_alloc(), which processes share (shared_memory.h). A child of fork
 * inherits its parent's translations with their blocks, and drops them independently of the parent.
 */
static void *alloc_block(size_t size)
{
	void *memory = malloc(size);

	if (memory == NULL)
		abort();
	return memory;
}

void blocks_init(struct blocks *b)
{
	void *zeros = mmap(NULL, BLOCK_BUCKETS * sizeof(*b->buckets), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (zeros == MAP_FAILED)
		abort();
	*b = (struct blocks){ .buckets = zeros };
}

void blocks_release(struct blocks *b)
{
	for (size_t i = 0; b->buckets != NULL && i < BLOCK_BUCKETS; i++) {
		for (struct block *block = b->buckets[i], *next; block != NULL; block = next) {
			next = block->next;
			free(block);
		}
	}
	if (b->buckets != NULL)
		munmap(b->buckets, BLOCK_BUCKETS * sizeof(*b->buckets));
	*b = (struct blocks){ 0 };
}

static bool is_same(const struct block *block, uint64_t pc, const uint32_t *words, size_t n)
{
	if (block->pc != pc || block->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (block->insns[i].word != words[i])
			return false;
	return true;
}

static bool writes(const struct insn *in, unsigned reg)
{
	for (size_t i = 0; i < COUNT(in->results); i++)
		if (in->results[i] == reg)
			return true;
	return in->early_result == reg;
}

/*
 * Until which instruction the address can be computed from the registers: the first one behind it
 * that writes one of them. 0 for addresses on the stack, because the decoder does not note writes
 * to SP.
 */
static size_t kept_until(const struct block *block, size_t index)
{
	const struct insn_address *a = &block->insns[index].address;
	bool has_index = a->form == ADDRESS_INDEX;

	if (a->form == ADDRESS_UNKNOWN || a->base == 31)
		return 0;
	for (size_t i = index + 1; i < block->n; i++)
		if (writes(&block->insns[i], a->base) ||
		    (has_index && writes(&block->insns[i], a->index)))
			return i;
	return block->n;
}

static bool is_reported(const struct insn *in)
{
	return (in->kind == INSN_LOAD || in->kind == INSN_STORE) &&
	       !(in->flags & (INSN_UNSEEN | INSN_PREFETCH));
}

/* The last access before the instruction, if nothing from there on writes a register of the address. */
static struct insn *access_before(struct block *block, size_t index)
{
	const struct insn_address *a = &block->insns[index].address;

	if (a->form == ADDRESS_UNKNOWN || a->base == 31)
		return NULL;
	for (size_t i = index; i-- > 0;) {
		struct insn *in = &block->insns[i];

		if (writes(in, a->base) || (a->form == ADDRESS_INDEX && writes(in, a->index)))
			return NULL;
		if (is_reported(in))
			return in;
	}
	return NULL;
}

static void find_unseen(struct block *block, size_t index)
{
	struct insn *before = access_before(block, index);

	block->insns[index].kept_until = (uint16_t)kept_until(block, index);
	if (before != NULL && before->unseen_behind == 0)
		before->unseen_behind = (uint16_t)index;
}

/* Do the instruction and the two before it make a mark? */
static bool is_mark(const uint32_t *words, size_t index)
{
	return index >= 2 && words[index - 2] == MARK_FIRST_WORD &&
	       words[index - 1] == MARK_SECOND_WORD &&
	       (words[index] & MARK_LOAD_MASK) == MARK_LOAD_WORD;
}

static size_t size_of(size_t n)
{
	return sizeof(struct block) + n * sizeof(struct insn);
}

static struct block *decode(uint64_t pc, const uint32_t *words, size_t n)
{
	struct block *block = alloc_block(size_of(n));

	*block = (struct block){ .pc = pc, .n = n };
	for (size_t i = 0; i < n; i++) {
		block->insns[i] = insn_decode(pc + 4 * i, words[i]);
		block->insns[i].index = (uint16_t)i;
		if (is_mark(words, i))
			block->insns[i].flags |= INSN_MARK;
	}
	for (size_t i = 0; i < n; i++)
		if (block->insns[i].flags & INSN_UNSEEN)
			find_unseen(block, i);
	return block;
}

struct block *blocks_get(struct blocks *b, uint64_t pc, const uint32_t *words, size_t n)
{
	struct block **bucket = &b->buckets[(pc >> 2 ^ pc >> 16 ^ n << 9) % BLOCK_BUCKETS];
	struct block *block;

	for (block = *bucket; block != NULL; block = block->next)
		if (is_same(block, pc, words, n))
			return block;
	block = decode(pc, words, n);
	block->next = *bucket;
	*bucket = block;
	b->n++;
	b->size_bytes += size_of(n);
	return block;
}

void blocks_sweep(struct blocks *b)
{
	for (size_t i = 0; i < BLOCK_BUCKETS; i++) {
		struct block **link = &b->buckets[i];

		while (*link != NULL) {
			struct block *block = *link;

			if (block->is_kept) {
				block->is_kept = false;
				link = &block->next;
				continue;
			}
			*link = block->next;
			b->n--;
			b->size_bytes -= size_of(block->n);
			free(block);
		}
	}
}

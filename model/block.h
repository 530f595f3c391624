/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: straight-line runs of decoded instructions, as the emulator translates them. The emulator
 * translates the same code many times; equal blocks are stored once, until it drops its
 * translations.
 */
#ifndef CYCLOPS_MODEL_BLOCK_H
#define CYCLOPS_MODEL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/insn.h"

struct block {
	struct block *next; /* in the hash bucket */
	uint64_t pc;	    /* of the first instruction */
	size_t n;
	uint32_t number; /* index into machine.block_pcs; blocks at the same pc share it */
	bool is_new;	 /* translated since it last ran: the code's mapping may be new */
	bool is_kept;	 /* blocks_sweep() does not free it */
	struct insn insns[];
};

static inline uint64_t block_end(const struct block *b)
{
	return b->insns[b->n - 1].pc + 4;
}

enum { BLOCK_BUCKETS = 1 << 14 };

struct blocks {
	struct block **buckets; /* BLOCK_BUCKETS of them */
	size_t n, size_bytes;	/* blocks, and the memory of all */
};

void blocks_init(struct blocks *);
void blocks_release(struct blocks *);

/* The block of `n` instruction words at `pc`; n is at least 1. Valid until blocks_sweep(). */
struct block *blocks_get(struct blocks *, uint64_t pc, const uint32_t *words, size_t n);

/* Frees all blocks without is_kept, and clears is_kept of the others. */
void blocks_sweep(struct blocks *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Straight runs of decoded instructions, as the emulator translates them. It translates the
 * same code many times; equal runs are kept once, until it forgets its translations.
 */
#ifndef CYCLOPS_MODEL_BLOCK_H
#define CYCLOPS_MODEL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/insn.h"

struct block {
	struct block *next; /* of the same hash */
	uint64_t pc;	    /* of the first instruction */
	size_t n;
	uint32_t number; /* of tallies: that of all blocks at this pc */
	bool is_new;	 /* translated since it last ran: its mapping may be new as well */
	bool is_kept;	 /* blocks_sweep() leaves it */
	struct insn insns[];
};

static inline uint64_t block_end(const struct block *b)
{
	return b->insns[b->n - 1].pc + 4;
}

enum { BLOCK_BUCKETS = 1 << 14 };

struct blocks {
	struct block **buckets; /* BLOCK_BUCKETS of them */
	size_t n, size_bytes;	/* blocks, and the memory they take */
};

void blocks_init(struct blocks *);
void blocks_release(struct blocks *);

/* The block of these words at `pc`; `n` is at least 1. Lives until blocks_sweep(). */
struct block *blocks_get(struct blocks *, uint64_t pc, const uint32_t *words, size_t n);

/* Frees all blocks but those that are marked as kept, and takes the marks away. */
void blocks_sweep(struct blocks *);

#endif

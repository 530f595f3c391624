/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a thread through its blocks. The emulator shows blocks and accesses; instructions in
 * between are executed when the next of these comes.
 */
#ifndef CYCLOPS_MODEL_WALK_H
#define CYCLOPS_MODEL_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "model/block.h"
#include "model/core.h"

struct walk {
	struct block *block; /* being executed; NULL between blocks; borrowed */
	size_t next;	     /* the first instruction of it that has not begun */
};

/* Called when an instruction with INSN_UNSEEN has begun, on the way to number `index` of its block. */
typedef void walk_unseen(void *context, const struct insn *, size_t index);

/* Executes what comes before the instruction `index` of the block, and begins that one. */
static inline void walk_advance(struct walk *w, struct core *core, size_t index,
				walk_unseen *unseen, void *context)
{
	for (; w->next <= index; w->next++) {
		const struct insn *in = &w->block->insns[w->next];

		if (core->now.insn != NULL)
			core_end(core, in->pc);
		core_begin(core, in);
		if (unseen != NULL && in->flags & INSN_UNSEEN)
			unseen(context, in, index);
	}
}

/* Executes what is left of the block, if there is one; `next_pc` is where the thread goes on. */
static inline void walk_complete(struct walk *w, struct core *core, uint64_t next_pc,
				 walk_unseen *unseen, void *context)
{
	if (w->block == NULL)
		return;
	walk_advance(w, core, w->block->n - 1, unseen, context);
	core_end(core, next_pc);
	w->block = NULL;
}

/* Begins a block; the one before must be complete. */
static inline void walk_enter(struct walk *w, struct core *core, struct block *block)
{
	if (core->tally != NULL)
		core->tally_block = tally_reserve(core->tally, block->number);
	core_fetch(core, block->pc, block_end(block));
	core_count_cycles(core);
	w->block = block;
	w->next = 0;
}

#endif

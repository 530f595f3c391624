/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps a thread through its blocks. The emulator reports blocks and memory accesses. The
 * instructions in between are executed on the core when the next block or access is reported.
 */
#ifndef CYCLOPS_MODEL_STEPPER_H
#define CYCLOPS_MODEL_STEPPER_H

#include <stddef.h>
#include <stdint.h>

#include "model/block.h"
#include "model/core.h"

struct stepper {
	struct block *block; /* the current block; NULL: none; borrowed */
	size_t next;	     /* its first instruction that has not begun */
};

/*
 * Called when an instruction with INSN_UNSEEN has begun, while stepping to number `index` of the
 * block.
 */
typedef void stepper_unseen(void *context, const struct insn *, size_t index);

/* Executes the instructions before number `index` of the block, and begins that one. */
static inline void stepper_advance(struct stepper *w, struct core *core, size_t index,
				   stepper_unseen *unseen, void *context)
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

/* Executes the rest of the block, if there is one; `next_pc`: where the program goes on. */
static inline void stepper_complete(struct stepper *w, struct core *core, uint64_t next_pc,
				    stepper_unseen *unseen, void *context)
{
	if (w->block == NULL)
		return;
	stepper_advance(w, core, w->block->n - 1, unseen, context);
	core_end(core, next_pc);
	w->block = NULL;
}

/* Enters a block; the one before must be complete. */
static inline void stepper_enter(struct stepper *w, struct core *core, struct block *block)
{
	if (core->tally != NULL)
		core->tally_block = tally_reserve(core->tally, block->number);
	core_fetch(core, block->pc, block_end(block));
	core_count_cycles(core);
	w->block = block;
	w->next = 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's general registers. The plugin interface does not show them, but the emulator's
 * code keeps a pointer to its CPU state in a fixed host register, and that state holds x0 …
 * x30 and the stack pointer one after another. Whether they really are there is found out:
 * loads and stores whose address is a register and a constant must access just that address,
 * over and over, before anything is believed; one that does not ends it for good.
 *
 * The model needs them for accesses that the emulator does not show (PRFM, DC ZVA). Without,
 * these do nothing.
 */
#ifndef CYCLOPS_MODEL_REGISTERS_H
#define CYCLOPS_MODEL_REGISTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/insn.h"

/* What all threads have found out together. */
struct register_trust {
	atomic_uint n_right; /* addresses that were as computed */
	atomic_bool is_wrong;
};

/* What a thread knows of its own. Zeroed: nothing yet. */
struct registers {
	const void *cpu_state;	/* of the emulator */
	const uint64_t *values; /* x0 … x30, sp in it; NULL: not known */
};

/*
 * The thread enters a block, and this is said to be the CPU state (NULL: unknown). It must be
 * readable memory, and the same each time.
 */
void registers_learn(struct registers *, struct register_trust *, const void *cpu_state);
static inline void registers_see(struct registers *r, struct register_trust *t,
				 const void *cpu_state)
{
	if (r->cpu_state != cpu_state)
		registers_learn(r, t, cpu_state);
}

/* An access was seen, and its instruction is done: does the address fit? */
void registers_check(struct register_trust *, const struct registers *, const struct insn *,
		     uint64_t va);

/* May the registers be believed? */
bool registers_trusted(const struct register_trust *, const struct registers *);

#endif

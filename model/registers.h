/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's general registers. The plugin interface does not give them. But translated code keeps
 * a pointer to the emulator's CPU state in a fixed host register, and x0 … x30 and SP follow each
 * other in that state. This is verified before it is used: loads and stores of base and constant
 * must access the computed address, many times. One wrong address ends the use of registers.
 *
 * The model needs them for the addresses of accesses that the emulator does not report (PRFM, DC
 * ZVA). Without registers, these access nothing.
 */
#ifndef CYCLOPS_MODEL_REGISTERS_H
#define CYCLOPS_MODEL_REGISTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/insn.h"

/* The verification, by all threads together. */
struct register_trust {
	atomic_uint n_right;  /* addresses that were as computed */
	atomic_bool is_wrong; /* registers are not used any more */
};

/* The registers of a thread. Zeroed is unknown. */
struct registers {
	const void *cpu_state;	/* of the emulator */
	const uint64_t *values; /* x0 … x30, SP; NULL: not known */
};

/*
 * Sets the CPU state of the thread, as a callback got it (NULL: unknown). It must be readable, and
 * the same in each call; else registers are not used.
 */
void registers_learn(struct registers *, struct register_trust *, const void *cpu_state);
static inline void registers_see(struct registers *r, struct register_trust *t,
				 const void *cpu_state)
{
	if (r->cpu_state != cpu_state)
		registers_learn(r, t, cpu_state);
}

/* Compares the address of an access, whose instruction has executed, with the computed one. */
void registers_check(struct register_trust *, const struct registers *, const struct insn *,
		     uint64_t va);

/* Are the registers known and verified? */
bool registers_trusted(const struct register_trust *, const struct registers *);

#endif

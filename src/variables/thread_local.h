/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of instructions to thread-local variables. */
#ifndef CYCLOPS_VARIABLES_THREAD_LOCAL_H
#define CYCLOPS_VARIABLES_THREAD_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/follow.h"
#include "isa/operand.h"
#include "symbol/symbols.h"
#include "variables/code.h"

struct thread_place {
	uint64_t offset; /* in the module's TLS block; not set if is_element */
	bool is_element; /* somewhere in a TLS block, by an unknown index */
	bool is_own;	 /* certainly in the block of this module */
};

/*
 * The thread-local variable that the instruction at `address` of a module's file accesses with this
 * operand: thread pointer plus a constant, or, on AArch64, plus a value of the global offset table.
 * The function around it was followed; NULL if it could not be. False if it is none, or if it is
 * not certain.
 */
bool thread_local_find(struct symbols *, struct module_id, const struct isa_followed *,
		       uint64_t address, enum isa, const struct isa_operand *,
		       struct thread_place *out);

#endif

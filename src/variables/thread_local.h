/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread-local data an instruction accesses. */
#ifndef CYCLOPS_VARIABLES_THREAD_LOCAL_H
#define CYCLOPS_VARIABLES_THREAD_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/follow.h"
#include "isa/operand.h"
#include "symbol/symbols.h"
#include "variables/code.h"

struct thread_place {
	uint64_t
		offset; /* unless it is an element: in the block of the module that each thread has a copy of */
	bool is_element; /* something in such a block, by an index that is not known */
	bool is_own;	 /* it is certain that it is in this module's block, no other's */
};

/*
 * What the instruction at `address` of a module's file accesses, with this operand: by the thread
 * pointer and what is added to it, in AArch64 also by way of the global offset table. False if that
 * is no data of the module that threads have copies of, or not certain. The function around it is
 * followed, NULL if it cannot be.
 */
bool thread_local_find(struct symbols *, struct module_id, const struct isa_followed *,
		       uint64_t address, enum isa, const struct isa_operand *,
		       struct thread_place *out);

#endif

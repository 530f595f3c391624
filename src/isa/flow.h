/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow of an instruction, from its bytes. */
#ifndef CYCLOPS_ISA_FLOW_H
#define CYCLOPS_ISA_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/access.h"

enum flow_kind {
	FLOW_NEXT,   /* falls through */
	FLOW_BRANCH, /* conditional: to the target, or falls through */
	FLOW_JUMP,   /* to the target */
	FLOW_CALL,   /* to the target, and returns */
	FLOW_RETURN,
	FLOW_SYSTEM, /* exception to the kernel, a hypervisor or a debugger; mostly returns */
	FLOW_STOP,   /* ends execution: undefined, or a halt */
};

struct flow {
	enum flow_kind kind;
	bool has_target; /* false for branches, jumps and calls: indirect */
	uint64_t target;
};

/*
 * The flow of the instruction at `address`, at the start of `code`, of which `size` bytes are
 * readable. FLOW_NEXT if it is unknown or cut off.
 */
struct flow isa_flow(enum isa, const void *code, size_t size, uint64_t address);

/*
 * The same, and how many bytes the instruction has. 0 if it is unknown or cut off; every word is an
 * instruction of A64.
 */
size_t isa_flow_and_size(enum isa, const void *code, size_t size, uint64_t address,
			 struct flow *out);

/* Is it a branch: does it go elsewhere, always or under a condition? */
static inline bool flow_is_branch(enum flow_kind kind)
{
	return kind == FLOW_BRANCH || kind == FLOW_JUMP || kind == FLOW_CALL || kind == FLOW_RETURN;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where an instruction goes next, from its bytes. */
#ifndef CYCLOPS_ISA_FLOW_H
#define CYCLOPS_ISA_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/access.h"

enum flow_kind {
	FLOW_NEXT,   /* on to the next instruction */
	FLOW_BRANCH, /* to its target, or on to the next */
	FLOW_JUMP,   /* to its target */
	FLOW_CALL,   /* to its target, and back */
	FLOW_RETURN,
	FLOW_SYSTEM, /* into the kernel, a hypervisor, a debugger; mostly back */
	FLOW_STOP,   /* nowhere: undefined for certain, or the end of all */
};

struct flow {
	enum flow_kind kind;
	bool has_target; /* a branch, jump or call without one is indirect */
	uint64_t target;
};

/*
 * The flow of the instruction at `address` that stands first in `code`, of which `size` bytes are
 * there. What is not known, or cut short, is FLOW_NEXT.
 */
struct flow isa_flow(enum isa, const void *code, size_t size, uint64_t address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where the registers hold the arguments of a function: at its start, and at calls of it. */
#ifndef CYCLOPS_ISA_ARGUMENTS_H
#define CYCLOPS_ISA_ARGUMENTS_H

#include <stddef.h>

#include "isa/flow.h"

/*
 * The size of a function's prologue in bytes: instructions that make room on the stack and save
 * registers, but leave the arguments in their registers. `code` is the start of the function. Only
 * forms that compilers use are known; 0 is always correct.
 */
size_t isa_prologue(enum isa, const void *code, size_t size);

/* The direct call or jump at the start of `code`; FLOW_NEXT for everything else. */
struct flow isa_direct_jump(enum isa, const void *code, size_t size, uint64_t address);

#endif

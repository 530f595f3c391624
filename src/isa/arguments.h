/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the code the registers hold the arguments of a function: at its start and its calls. */
#ifndef CYCLOPS_ISA_ARGUMENTS_H
#define CYCLOPS_ISA_ARGUMENTS_H

#include <stddef.h>

#include "isa/flow.h"

/*
 * How many bytes of a function's first instructions leave its arguments in their registers: they
 * make room on the stack and save registers there, and go on to the next. `code` is its start.
 * Only forms that compilers use are known; 0 is always a sound answer.
 */
size_t isa_prologue(enum isa, const void *code, size_t size);

/* The direct call or jump that the bytes at `address` begin with; FLOW_NEXT for everything else. */
struct flow isa_direct_jump(enum isa, const void *code, size_t size, uint64_t address);

#endif

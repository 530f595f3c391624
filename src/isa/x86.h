/* SPDX-License-Identifier: Apache-2.0 */
/* x86 instructions, by Zydis, or unknown (x86_none.c). For this folder only. */
#ifndef CYCLOPS_ISA_X86_H
#define CYCLOPS_ISA_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/access.h"
#include "isa/flow.h"
#include "isa/operand.h"

enum {
	X86_STACK_POINTER = 7, /* DWARF number */
	X86_FRAME_POINTER = 6,
	X86_N_REGISTERS = 16,
};

static inline bool isa_is_x86(enum isa isa)
{
	return isa == ISA_X86_64 || isa == ISA_X86_32;
}

/* As isa_access(), isa_flow(); isa_operand() for x86-64. */
bool x86_access(enum isa isa, const void *code, size_t size, struct isa_access *out);
struct flow x86_flow(enum isa isa, const void *code, size_t size, uint64_t address,
		     size_t *out_size); /* of the instruction; 0: unknown, or cut off */
bool x86_operand(const void *code, size_t size, struct isa_operand *out);

/* The size of a prologue in bytes; see isa_prologue(). */
size_t x86_prologue(const void *code, size_t size);

#endif

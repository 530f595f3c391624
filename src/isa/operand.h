/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory operand of an instruction: how its address is computed. With debug information it
 * shows what is accessed.
 */
#ifndef CYCLOPS_ISA_OPERAND_H
#define CYCLOPS_ISA_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/disasm.h"

/* base + index * scale + displacement. */
struct isa_operand {
	uint32_t base;	/* register number of DWARF, by the ABI of the architecture */
	bool is_stack;	/* the base is the stack pointer */
	bool is_thread; /* the base is the thread pointer (fs), not a register */
	bool has_index;
	uint32_t index; /* register number of the index */
	bool is_narrow; /* … its lower 32 bits only */
	uint32_t scale; /* factor of the index; 1 without an index */
	int64_t displacement;
};

/*
 * The memory operand of the A64 or x86-64 instruction at the start of `code`, of which `size` (at
 * least 1) bytes are readable. False if it has none or several, or one of another kind: vectors,
 * PC-relative, other segments. With the thread pointer, a register is the index.
 */
bool isa_operand(struct disasm *, const uint8_t *code, size_t size, struct isa_operand *out);

/* The same from the operands' text, as the disassembler writes it for A64. */
bool isa_operand_parse_a64(const char *operands, struct isa_operand *out);

#endif

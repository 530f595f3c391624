/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an instruction makes the address that it accesses. With the debug information of the place
 * this tells what the address means.
 */
#ifndef CYCLOPS_ISA_OPERAND_H
#define CYCLOPS_ISA_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/disasm.h"

/* base + index * scale + displacement. */
struct isa_operand {
	uint32_t base;	/* DWARF's number of the register, as the ABI of the architecture has it */
	bool is_stack;	/* that is the stack pointer */
	bool is_thread; /* it is not a register, but the thread pointer (fs) */
	bool has_index;
	uint32_t index; /* its register, as the base */
	bool is_narrow; /* … of which 32 bits count */
	uint32_t scale; /* of the index; 1 if there is none */
	int64_t displacement;
};

/*
 * The operand of the instruction of A64 or x86-64 that stands first in `code`, of which `size` (at
 * least 1) bytes are there. False if there is no operand in memory, or more than one, or if its
 * address is made otherwise: of a vector, of the program counter, of another segment's base. With
 * the thread pointer a register is an index.
 */
bool isa_operand(struct disasm *, const uint8_t *code, size_t size, struct isa_operand *out);

/* The same of the operands of A64 as the disassembler writes them. */
bool isa_operand_parse_a64(const char *operands, struct isa_operand *out);

#endif

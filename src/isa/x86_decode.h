/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions as Zydis decodes them. For the files x86_*.c only. */
#ifndef CYCLOPS_ISA_X86_DECODE_H
#define CYCLOPS_ISA_X86_DECODE_H

#include <Zydis/Zydis.h>

#include "isa/x86.h"

/* An instruction with its operands, the visible ones first. */
struct x86 {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* False if the bytes are no instruction, or it is cut off. */
bool x86_decode(enum isa, const void *code, size_t size, struct x86 *out);

/* A general register. */
struct x86_register {
	uint8_t number; /* DWARF number */
	uint8_t bits;	/* 64, 32, 16 or 8 */
};

/* False if it is no general register. */
bool x86_register(ZydisRegister, struct x86_register *out);

/* The visible memory operand; NULL if there is none or several. */
const ZydisDecodedOperand *x86_memory(const struct x86 *);

/* The address of a memory operand. False if isa_operand() cannot describe it. */
bool x86_operand_of(const ZydisDecodedOperand *, struct isa_operand *out);

/* The PC-relative address of the memory operand, if it has one. */
bool x86_pc_relative(const struct x86 *, const ZydisDecodedOperand *, uint64_t address,
		     uint64_t *out);

/* The flow of an instruction that was decoded without operands. */
struct flow x86_flow_of(const ZydisDecodedInstruction *, uint64_t address);

#endif

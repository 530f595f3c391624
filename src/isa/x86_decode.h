/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of x86 as Zydis decodes them; private to the files x86_*.c. */
#ifndef CYCLOPS_ISA_X86_DECODE_H
#define CYCLOPS_ISA_X86_DECODE_H

#include <Zydis/Zydis.h>

#include "isa/x86.h"

/* An instruction with its operands: first those that its text shows, then all others. */
struct x86 {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* False if the bytes begin with no instruction, or with one that is cut short. */
bool x86_decode(enum isa, const void *code, size_t size, struct x86 *out);

/* A general register. */
struct x86_register {
	uint8_t number; /* DWARF's */
	uint8_t bits;	/* 64, 32, 16 or 8 */
};

/* False if it is not a general register: of vectors, of segments, the program counter. */
bool x86_register(ZydisRegister, struct x86_register *out);

/* The operand in memory that the text shows; NULL if there is none, or more than one. */
const ZydisDecodedOperand *x86_memory(const struct x86 *);

/* How the address of an operand in memory is made; false if otherwise than isa_operand() says. */
bool x86_operand_of(const ZydisDecodedOperand *, struct isa_operand *out);

/* An address relative to the program counter, if the operand in memory has one. */
bool x86_pc_relative(const struct x86 *, const ZydisDecodedOperand *, uint64_t address,
		     uint64_t *out);

/* The flow of an instruction whose operands need not be decoded. */
struct flow x86_flow_of(const ZydisDecodedInstruction *, uint64_t address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of x86-64 prologues. Only these count: other instructions that keep the arguments
 * may be the start of a loop, which is reached again after the arguments have changed.
 */
#include "base/alloc.h"
#include "isa/x86_decode.h"

enum kind {
	NONE,
	NUMBER,
	REGISTER,
	STACK_POINTER,
	FRAME_POINTER,
	RAX,   /* or a part of it; holds no argument */
	SAVED, /* n(%rbp), 4 or 8 bytes */
	CANARY /* %fs:n */
};

/* Operands in Intel's order: the destination first. */
static const struct {
	ZydisMnemonic mnemonic;
	uint8_t operands[2]; /* enum kind */
} forms[] = {
	{ ZYDIS_MNEMONIC_ENDBR64, { NONE } },
	{ ZYDIS_MNEMONIC_PUSH, { REGISTER } },
	{ ZYDIS_MNEMONIC_NOP, { NONE } },
	{ ZYDIS_MNEMONIC_MOV, { FRAME_POINTER, STACK_POINTER } },
	{ ZYDIS_MNEMONIC_SUB, { STACK_POINTER, NUMBER } },
	{ ZYDIS_MNEMONIC_AND, { STACK_POINTER, NUMBER } },
	{ ZYDIS_MNEMONIC_MOV, { RAX, CANARY } }, /* stack protector */
	{ ZYDIS_MNEMONIC_XOR, { RAX, RAX } },
	{ ZYDIS_MNEMONIC_MOV, { SAVED, REGISTER } },
};

static enum kind kind_of_register(const ZydisDecodedOperand *o)
{
	struct x86_register r;

	if (!x86_register(o->reg.value, &r))
		return NONE;
	if (r.bits == 64 && r.number == X86_STACK_POINTER)
		return STACK_POINTER;
	if (r.bits == 64 && r.number == X86_FRAME_POINTER)
		return FRAME_POINTER;
	return r.number == 0 ? RAX : REGISTER;
}

static enum kind kind_of_memory(const ZydisDecodedOperand *o)
{
	struct isa_operand operand;

	if (!x86_operand_of(o, &operand) || operand.has_index)
		return NONE;
	if (operand.is_thread)
		return CANARY;
	return operand.base == X86_FRAME_POINTER && o->size >= 32 ? SAVED : NONE;
}

static bool is_operand_kind(const ZydisDecodedOperand *o, enum kind wanted)
{
	enum kind kind;

	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return wanted == NUMBER;
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return kind_of_memory(o) == wanted;
	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	kind = kind_of_register(o);
	return kind == wanted || (wanted == REGISTER && kind != NONE);
}

static bool x86_prologue_fits(const struct x86 *x, const uint8_t *kinds)
{
	size_t n = x->instruction.operand_count_visible;

	/* Longer NOPs align the loop that follows. */
	if (x->instruction.mnemonic == ZYDIS_MNEMONIC_NOP && x->instruction.length > 1)
		return false;
	for (size_t i = 0; i < 2; i++) {
		if ((kinds[i] != NONE) != (i < n) ||
		    (i < n && !is_operand_kind(&x->operands[i], (enum kind)kinds[i])))
			return false;
	}
	return n <= 2;
}

size_t x86_prologue(const void *code, size_t size)
{
	struct x86 x;

	if (!x86_decode(ISA_X86_64, code, size, &x))
		return 0;
	for (size_t i = 0; i < COUNT(forms); i++) {
		if (x.instruction.mnemonic == forms[i].mnemonic &&
		    x86_prologue_fits(&x, forms[i].operands))
			return x.instruction.length;
	}
	return 0;
}

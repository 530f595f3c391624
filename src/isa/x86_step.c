/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of x86-64 instructions on general registers, from what Zydis says that they write. */
#include "base/alloc.h"
#include "isa/follow_inside.h"
#include "isa/x86_decode.h"

enum {
	ALL_REGISTERS = (1 << X86_N_REGISTERS) - 1,
	RAX = 1 << 0,
	RDX = 1 << 1,
	RCX = 1 << 2,
	CALL_LOSES = RAX | RDX | RCX | 1 << 4 | 1 << 5 | 0xf00,
	WIDE = 64,
};

/* Instructions that change more registers than their operands show. */
static const struct {
	ZydisMnemonic mnemonic;
	uint32_t lost;
} calls[] = {
	{ ZYDIS_MNEMONIC_CALL, CALL_LOSES },	    { ZYDIS_MNEMONIC_SYSCALL, RAX },
	{ ZYDIS_MNEMONIC_SYSENTER, ALL_REGISTERS }, { ZYDIS_MNEMONIC_INT, ALL_REGISTERS },
	{ ZYDIS_MNEMONIC_VMCALL, ALL_REGISTERS },   { ZYDIS_MNEMONIC_VMMCALL, ALL_REGISTERS },
	{ ZYDIS_MNEMONIC_VMLAUNCH, ALL_REGISTERS }, { ZYDIS_MNEMONIC_VMRESUME, ALL_REGISTERS },
	{ ZYDIS_MNEMONIC_VMRUN, ALL_REGISTERS },    { ZYDIS_MNEMONIC_XBEGIN, ALL_REGISTERS },
	{ ZYDIS_MNEMONIC_ENCLU, ALL_REGISTERS },    { ZYDIS_MNEMONIC_ENCLV, ALL_REGISTERS },
	{ ZYDIS_MNEMONIC_ENCLS, ALL_REGISTERS },
};

static uint32_t lost_registers(const struct x86 *x)
{
	uint32_t lost = 0;

	for (size_t i = 0; i < COUNT(calls); i++) {
		if (calls[i].mnemonic == x->instruction.mnemonic)
			lost |= calls[i].lost;
	}
	for (size_t i = 0; i < x->instruction.operand_count; i++) {
		const ZydisDecodedOperand *o = &x->operands[i];
		struct x86_register r;

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && x86_register(o->reg.value, &r))
			lost |= 1u << r.number;
	}
	return lost;
}

static bool is_memory_operand(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool read_whole_register(const ZydisDecodedOperand *o, struct x86_register *out)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && x86_register(o->reg.value, out);
}

static bool x86_step_read_number(const ZydisDecodedOperand *o, uint64_t *out)
{
	*out = o->imm.value.u;
	return o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* Reads [base + index * scale + displacement]; false for other addresses. */
static bool read_memory(const struct x86 *x, const ZydisDecodedOperand *operand, uint64_t address,
			struct isa_x86_step *out)
{
	struct isa_operand o;

	if (x86_pc_relative(x, operand, address, &out->displacement)) {
		out->is_absolute = true;
		return true;
	}
	if (!x86_operand_of(operand, &o) || o.is_thread)
		return false;
	out->base = (uint8_t)o.base;
	out->index = o.has_index ? (uint8_t)o.index : X86_NO_REGISTER;
	out->scale = o.scale;
	out->displacement = (uint64_t)o.displacement;
	return true;
}

/* Reads a 64-bit register or an immediate as an addend. */
static bool read_addend(const ZydisDecodedOperand *o, struct isa_x86_step *out)
{
	struct x86_register r;

	if (!read_whole_register(o, &r))
		return x86_step_read_number(o, &out->displacement);
	out->index = r.number;
	out->scale = 1;
	return r.bits == WIDE;
}

/* Reads a load of 8 bytes, whose address may be unknown. */
static bool read_load(const struct x86 *x, const ZydisDecodedOperand *o, uint64_t address,
		      enum isa_x86_effect effect, struct isa_x86_step *out)
{
	out->effect = effect;
	if (!read_memory(x, o, address, out))
		out->base = X86_NO_REGISTER;
	return o->size == WIDE;
}

/* target = register * factor */
static bool read_product(const ZydisDecodedOperand *of, const ZydisDecodedOperand *by,
			 bool is_shift, struct isa_x86_step *out)
{
	struct x86_register r;
	uint64_t factor;

	if (!read_whole_register(of, &r) || !x86_step_read_number(by, &factor) ||
	    (is_shift && factor >= WIDE))
		return false;
	out->index = r.number;
	out->scale = is_shift ? UINT64_C(1) << factor : factor;
	return true;
}

/* Reads the effect on the target; false if it is unknown. */
static bool read_target_effect(const struct x86 *x, uint64_t address, struct isa_x86_step *out)
{
	const ZydisDecodedOperand *o = x->operands;

	out->effect = X86_EFFECT_SUM;
	switch (x->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return is_memory_operand(&o[1]) ? read_load(x, &o[1], address, X86_EFFECT_LOAD, out)
						: read_addend(&o[1], out);
	case ZYDIS_MNEMONIC_LEA:
		return read_memory(x, &o[1], address, out);
	case ZYDIS_MNEMONIC_ADD:
		out->base = out->target;
		return is_memory_operand(&o[1]) ? read_load(x, &o[1], address, X86_EFFECT_ADD, out)
						: read_addend(&o[1], out);
	case ZYDIS_MNEMONIC_SUB:
		out->effect = X86_EFFECT_DIFFERENCE;
		out->base = out->target;
		return !is_memory_operand(&o[1]) && read_addend(&o[1], out);
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		out->base = out->target;
		out->displacement = x->instruction.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : UINT64_MAX;
		return true;
	case ZYDIS_MNEMONIC_SHL:
		return read_product(&o[0], &o[1], true, out);
	case ZYDIS_MNEMONIC_IMUL:
		return x->instruction.operand_count_visible == 3 &&
		       read_product(&o[1], &o[2], false, out);
	case ZYDIS_MNEMONIC_XOR: /* with itself: zero */
		return o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].reg.value == o[1].reg.value;
	default:
		return false;
	}
}

/* Does it extend a value to a longer register? */
static bool is_extension(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_MOVZX || mnemonic == ZYDIS_MNEMONIC_MOVSX ||
	       mnemonic == ZYDIS_MNEMONIC_MOVSXD;
}

/* Sets the target: a whole register that is tracked. */
static void read_target(const struct x86 *x, uint64_t address, struct isa_x86_step *out)
{
	const ZydisDecodedOperand *first = &x->operands[0];
	struct x86_register target;

	if (x->instruction.operand_count_visible == 0 || !read_whole_register(first, &target) ||
	    !(first->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ||
	    target.number == X86_STACK_POINTER)
		return;
	out->target = target.number;
	out->is_narrow = target.bits == 32 || is_extension(x->instruction.mnemonic);
	if (target.bits < 32 || !read_target_effect(x, address, out))
		out->effect = X86_EFFECT_NONE;
}

void isa_read_x86(const uint8_t *code, size_t size, uint64_t address, struct isa_x86_step *out)
{
	struct x86 x;

	*out = (struct isa_x86_step){
		.size = 1,
		.lost = ALL_REGISTERS,
		.target = X86_NO_REGISTER,
		.base = X86_NO_REGISTER,
		.index = X86_NO_REGISTER,
	};
	if (!x86_decode(ISA_X86_64, code, size, &x))
		return;
	out->size = x.instruction.length;
	out->is_nop = x.instruction.mnemonic == ZYDIS_MNEMONIC_NOP ||
		      x.instruction.mnemonic == ZYDIS_MNEMONIC_INT3;
	out->flow = x86_flow_of(&x.instruction, address);
	out->lost = lost_registers(&x);
	read_target(&x, address, out);
}

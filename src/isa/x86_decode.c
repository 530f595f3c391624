/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/x86_decode.h"

#include "base/alloc.h"

static const struct {
	ZydisMachineMode mode;
	ZydisStackWidth width;
} modes[] = {
	[ISA_X86_64] = { ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64 },
	[ISA_X86_32] = { ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32 },
};

/* DWARF numbers, by the number in x86 encodings. */
static const uint8_t dwarf[X86_N_REGISTERS] = {
	0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15
};

static bool decode_by_zydis(enum isa isa, const void *code, size_t size,
			    ZydisDecodedInstruction *out, ZydisDecoderContext *context,
			    ZydisDecoder *decoder)
{
	if (ZYAN_FAILED(ZydisDecoderInit(decoder, modes[isa].mode, modes[isa].width)))
		return false;
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, context, code, size, out));
}

bool x86_decode(enum isa isa, const void *code, size_t size, struct x86 *out)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	return decode_by_zydis(isa, code, size, &out->instruction, &context, &decoder) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &out->instruction,
						       out->operands,
						       out->instruction.operand_count));
}

bool x86_register(ZydisRegister reg, struct x86_register *out)
{
	static const struct {
		ZydisRegisterClass class;
		uint8_t bits;
	} classes[] = {
		{ ZYDIS_REGCLASS_GPR64, 64 },
		{ ZYDIS_REGCLASS_GPR32, 32 },
		{ ZYDIS_REGCLASS_GPR16, 16 },
		{ ZYDIS_REGCLASS_GPR8, 8 },
	};
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);
	ZydisRegister whole = reg;

	if (class == ZYDIS_REGCLASS_GPR8) /* the number of AH is not that of RAX */
		whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	for (size_t i = 0; i < COUNT(classes); i++) {
		if (class != classes[i].class)
			continue;
		*out = (struct x86_register){ dwarf[ZydisRegisterGetId(whole) % X86_N_REGISTERS],
					      classes[i].bits };
		return true;
	}
	return false;
}

const ZydisDecodedOperand *x86_memory(const struct x86 *x)
{
	const ZydisDecodedOperand *found = NULL;

	for (size_t i = 0; i < x->instruction.operand_count_visible; i++) {
		if (x->operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (found != NULL)
			return NULL;
		found = &x->operands[i];
	}
	return found;
}

/* Reads an optional 64-bit register. */
static bool read_optional_register(ZydisRegister reg, bool *is_there, uint32_t *number)
{
	struct x86_register r;

	*is_there = reg != ZYDIS_REGISTER_NONE;
	if (!*is_there)
		return true;
	if (!x86_register(reg, &r) || r.bits != 64)
		return false;
	*number = r.number;
	return true;
}

bool x86_operand_of(const ZydisDecodedOperand *operand, struct isa_operand *out)
{
	struct isa_operand o = { .scale = 1 };
	bool has_base;

	if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB ||
	    operand->mem.segment == ZYDIS_REGISTER_GS ||
	    !read_optional_register(operand->mem.base, &has_base, &o.base) ||
	    !read_optional_register(operand->mem.index, &o.has_index, &o.index))
		return false;
	o.is_thread = operand->mem.segment == ZYDIS_REGISTER_FS;
	if (o.has_index)
		o.scale = operand->mem.scale;
	o.displacement = operand->mem.disp.value;
	o.is_stack = o.base == X86_STACK_POINTER && has_base && !o.is_thread;
	if (o.is_thread && has_base) {
		o.has_index = true;
		o.base = 0;
	}
	*out = o;
	return has_base || o.is_thread;
}

bool x86_operand(const void *code, size_t size, struct isa_operand *out)
{
	const ZydisDecodedOperand *memory;
	struct x86 x;

	if (!x86_decode(ISA_X86_64, code, size, &x))
		return false;
	memory = x86_memory(&x);
	return memory != NULL && memory->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
	       x86_operand_of(memory, out);
}

bool x86_pc_relative(const struct x86 *x, const ZydisDecodedOperand *operand, uint64_t address,
		     uint64_t *out)
{
	return (operand->mem.base == ZYDIS_REGISTER_RIP ||
		operand->mem.base == ZYDIS_REGISTER_EIP) &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&x->instruction, operand, address, out));
}

/* Flow by Zydis category. */
static const uint8_t kinds_of_categories[ZYDIS_CATEGORY_MAX_VALUE + 1] = {
	[ZYDIS_CATEGORY_COND_BR] = FLOW_BRANCH,	  [ZYDIS_CATEGORY_UNCOND_BR] = FLOW_JUMP,
	[ZYDIS_CATEGORY_CALL] = FLOW_CALL,	  [ZYDIS_CATEGORY_RET] = FLOW_RETURN,
	[ZYDIS_CATEGORY_SYSRET] = FLOW_RETURN,	  [ZYDIS_CATEGORY_SYSCALL] = FLOW_SYSTEM,
	[ZYDIS_CATEGORY_INTERRUPT] = FLOW_SYSTEM,
};

static enum flow_kind x86_decode_kind_of(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return FLOW_STOP;
	case ZYDIS_MNEMONIC_UIRET:
		return FLOW_RETURN;
	case ZYDIS_MNEMONIC_XABORT: /* goes elsewhere only inside of a transaction: an exception */
		return FLOW_SYSTEM;
	case ZYDIS_MNEMONIC_XEND:
		return FLOW_NEXT;
	default:
		return (enum flow_kind)kinds_of_categories[i->meta.category];
	}
}

struct flow x86_flow_of(const ZydisDecodedInstruction *i, uint64_t address)
{
	struct flow flow = { .kind = x86_decode_kind_of(i) };

	if (!i->raw.imm[0].is_relative)
		return flow;
	flow.has_target = true;
	flow.target = address + i->length + i->raw.imm[0].value.u;
	if (i->machine_mode != ZYDIS_MACHINE_MODE_LONG_64)
		flow.target &= i->operand_width == 16 ? UINT16_MAX : UINT32_MAX;
	return flow;
}

struct flow x86_flow(enum isa isa, const void *code, size_t size, uint64_t address,
		     size_t *out_size)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoderContext context;
	ZydisDecoder decoder;

	*out_size = 0;
	if (!decode_by_zydis(isa, code, size, &instruction, &context, &decoder))
		return (struct flow){ .kind = FLOW_NEXT };
	*out_size = instruction.length;
	return x86_flow_of(&instruction, address);
}

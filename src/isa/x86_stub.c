/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/stub.h"

#include "isa/x86_decode.h"

static bool is_endbr(const struct x86 *x)
{
	return x->instruction.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
	       x->instruction.mnemonic == ZYDIS_MNEMONIC_ENDBR32;
}

/* The address of a jump's operand, which uses no register but the program counter and ebx. */
static bool read_slot(const struct x86 *x, uint64_t address, uint64_t got, uint64_t *out)
{
	const ZydisDecodedOperand *o = x86_memory(x);

	if (o == NULL || o->mem.index != ZYDIS_REGISTER_NONE)
		return false;
	if (x->instruction.machine_mode == ZYDIS_MACHINE_MODE_LONG_64)
		return x86_pc_relative(x, o, address, out);
	if (o->mem.base != ZYDIS_REGISTER_NONE && o->mem.base != ZYDIS_REGISTER_EBX)
		return false;
	*out = (uint32_t)((o->mem.base == ZYDIS_REGISTER_EBX ? got : 0) +
			  (uint64_t)o->mem.disp.value);
	return true;
}

size_t isa_x86_stub(enum isa isa, const void *code, size_t size, uint64_t address, uint64_t got,
		    uint64_t *out_slot)
{
	const uint8_t *bytes = code;
	size_t at = 0;
	struct x86 x;

	if (!x86_decode(isa, bytes, size, &x))
		return 0;
	if (is_endbr(&x)) {
		at = x.instruction.length;
		if (!x86_decode(isa, bytes + at, size - at, &x))
			return 0;
	}
	if (x.instruction.mnemonic != ZYDIS_MNEMONIC_JMP ||
	    x.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
	    !read_slot(&x, address + at, got, out_slot))
		return 0;
	return at + x.instruction.length;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory accesses of x86 instructions, from the operands that Zydis finds. */
#include "base/alloc.h"
#include "isa/x86_decode.h"

/* Instructions with a memory operand that is neither read nor written as data. */
static const struct {
	ZydisMnemonic mnemonic;
	uint32_t flags; /* 0: no access */
} other[] = {
	{ ZYDIS_MNEMONIC_CLFLUSH, ACCESS_CACHE },
	{ ZYDIS_MNEMONIC_CLFLUSHOPT, ACCESS_CACHE },
	{ ZYDIS_MNEMONIC_CLWB, ACCESS_CACHE },
	{ ZYDIS_MNEMONIC_CLDEMOTE, ACCESS_CACHE },
	{ ZYDIS_MNEMONIC_INVLPG, 0 },
	{ ZYDIS_MNEMONIC_NOP, 0 },
	{ ZYDIS_MNEMONIC_UD0, 0 },
	{ ZYDIS_MNEMONIC_UD1, 0 },
};

static bool is_prefetch(const ZydisDecodedInstruction *i)
{
	static const ZydisMnemonic of_many[] = {
		ZYDIS_MNEMONIC_VGATHERPF0DPD,  ZYDIS_MNEMONIC_VGATHERPF0DPS,
		ZYDIS_MNEMONIC_VGATHERPF0QPD,  ZYDIS_MNEMONIC_VGATHERPF0QPS,
		ZYDIS_MNEMONIC_VGATHERPF1DPD,  ZYDIS_MNEMONIC_VGATHERPF1DPS,
		ZYDIS_MNEMONIC_VGATHERPF1QPD,  ZYDIS_MNEMONIC_VGATHERPF1QPS,
		ZYDIS_MNEMONIC_VSCATTERPF0DPD, ZYDIS_MNEMONIC_VSCATTERPF0DPS,
		ZYDIS_MNEMONIC_VSCATTERPF0QPD, ZYDIS_MNEMONIC_VSCATTERPF0QPS,
		ZYDIS_MNEMONIC_VSCATTERPF1DPD, ZYDIS_MNEMONIC_VSCATTERPF1DPS,
		ZYDIS_MNEMONIC_VSCATTERPF1QPD, ZYDIS_MNEMONIC_VSCATTERPF1QPS,
	};

	if (i->meta.category == ZYDIS_CATEGORY_PREFETCH ||
	    i->meta.category == ZYDIS_CATEGORY_PREFETCHWT1)
		return true;
	for (size_t k = 0; k < COUNT(of_many); k++)
		if (of_many[k] == i->mnemonic)
			return true;
	return false;
}

/* Is it one of these? Sets its flags. */
static bool is_other(const ZydisDecodedInstruction *i, uint32_t *flags)
{
	*flags = ACCESS_PREFETCH;
	if (is_prefetch(i))
		return true;
	for (size_t k = 0; k < COUNT(other); k++) {
		if (other[k].mnemonic != i->mnemonic)
			continue;
		*flags = other[k].flags;
		return true;
	}
	return false;
}

static bool is_vector_register(const ZydisDecodedOperand *o)
{
	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	switch (ZydisRegisterGetClass(o->reg.value)) {
	case ZYDIS_REGCLASS_MMX:
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return true;
	default:
		return false;
	}
}

static bool is_data(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       (o->mem.type == ZYDIS_MEMOP_TYPE_MEM || o->mem.type == ZYDIS_MEMOP_TYPE_VSIB);
}

static uint32_t flags_of(const ZydisDecodedOperand *o)
{
	uint32_t flags = 0;

	if (is_vector_register(o))
		return ACCESS_VECTOR;
	if (!is_data(o))
		return 0;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		flags |= ACCESS_LOAD;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		flags |= ACCESS_STORE;
	return o->mem.type == ZYDIS_MEMOP_TYPE_VSIB ? flags | ACCESS_STRIDED : flags;
}

static bool is_atomic(const struct x86 *x)
{
	if (x->instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return true;
	return x->instruction.mnemonic == ZYDIS_MNEMONIC_XCHG;
}

/* False for repeated strings and saved states: their size is in registers. */
static bool has_size(const ZydisDecodedInstruction *i)
{
	return !(i->attributes &
		 (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) &&
	       i->meta.category != ZYDIS_CATEGORY_XSAVE &&
	       i->meta.category != ZYDIS_CATEGORY_XSAVEOPT;
}

static uint32_t x86_access_width_of(const struct x86 *x, ZydisRegister reg)
{
	return ZydisRegisterGetWidth(x->instruction.machine_mode, reg);
}

/*
 * The size of a gather or scatter in bits; the operand is one element. The number of elements is
 * what fits in the shorter of the two vectors, data and indexes.
 */
static uint32_t gathered_bits(const struct x86 *x, const ZydisDecodedOperand *memory)
{
	uint32_t number_bits = x->instruction.opcode & 1 ? 64 : 32;
	uint32_t n = x86_access_width_of(x, memory->mem.index) / number_bits;

	for (size_t i = 0; i < x->instruction.operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &x->operands[i];

		if (is_vector_register(o) &&
		    x86_access_width_of(x, o->reg.value) / memory->size < n)
			n = x86_access_width_of(x, o->reg.value) / memory->size;
	}
	return n * memory->size;
}

static uint32_t x86_access_bytes_of(const struct x86 *x, const ZydisDecodedOperand *memory)
{
	if (!has_size(&x->instruction) || memory->size == 0)
		return 0;
	if (memory->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		return gathered_bits(x, memory) / 8;
	return memory->size / 8u;
}

bool x86_access(enum isa isa, const void *code, size_t size, struct isa_access *out)
{
	const ZydisDecodedOperand *first = NULL;
	uint32_t flags = 0, other_flags;
	struct x86 x;

	if (!x86_decode(isa, code, size, &x))
		return false;
	*out = (struct isa_access){ 0 };
	if (is_other(&x.instruction, &other_flags)) {
		out->flags = other_flags;
		return true;
	}
	for (size_t i = 0; i < x.instruction.operand_count; i++) {
		flags |= flags_of(&x.operands[i]);
		if (first == NULL && is_data(&x.operands[i]))
			first = &x.operands[i];
	}
	if (first == NULL)
		return true;
	if (is_atomic(&x))
		flags |= ACCESS_ATOMIC;
	*out = (struct isa_access){ .bytes = x86_access_bytes_of(&x, first), .flags = flags };
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branches of A64 (Arm Architecture Reference Manual, "Branches, exception generating and
 * system instructions") and of x86 (Intel's manual, volume 2, opcode maps).
 */
#include "isa/flow.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"

/* Words of A64; the target is `width` bits from `at`, in instructions. width 0: indirect. */
static const struct a64_branch {
	uint32_t mask, match;
	enum flow_kind kind;
	uint8_t at, width;
} a64_branches[] = {
	{ 0xfc000000, 0x14000000, FLOW_JUMP, 0, 26 },	/* B */
	{ 0xfc000000, 0x94000000, FLOW_CALL, 0, 26 },	/* BL */
	{ 0xff000000, 0x54000000, FLOW_BRANCH, 5, 19 }, /* B.cond, BC.cond */
	{ 0x7e000000, 0x34000000, FLOW_BRANCH, 5, 19 }, /* CBZ, CBNZ */
	{ 0x7e000000, 0x36000000, FLOW_BRANCH, 5, 14 }, /* TBZ, TBNZ */
	{ 0xfffff000, 0xd61f0000, FLOW_JUMP, 0, 0 },	/* BR, BRAAZ, BRABZ */
	{ 0xfffff000, 0xd71f0000, FLOW_JUMP, 0, 0 },	/* BRAA, BRAB */
	{ 0xfffff000, 0xd63f0000, FLOW_CALL, 0, 0 },	/* BLR, BLRAAZ, BLRABZ */
	{ 0xfffff000, 0xd73f0000, FLOW_CALL, 0, 0 },	/* BLRAA, BLRAB */
	{ 0xfffff000, 0xd65f0000, FLOW_RETURN, 0, 0 },	/* RET, RETAA, RETAB */
	{ 0xffc0001f, 0x5500001f, FLOW_RETURN, 0, 0 },	/* RETAASPPC, RETABSPPC */
	{ 0xfffff000, 0xd69f0000, FLOW_RETURN, 0, 0 },	/* ERET, ERETAA, ERETAB */
	{ 0xffe0001c, 0xd4000000, FLOW_SYSTEM, 0, 0 },	/* SVC, HVC, SMC */
	{ 0xffe0001f, 0xd4200000, FLOW_SYSTEM, 0, 0 },	/* BRK */
	{ 0xffff0000, 0x00000000, FLOW_STOP, 0, 0 },	/* UDF */
};

static int64_t sign_extend(uint64_t value, unsigned width)
{
	uint64_t sign = 1ull << (width - 1);

	value &= (sign << 1) - 1;
	return (int64_t)(value ^ sign) - (int64_t)sign;
}

static struct flow a64_flow(struct cursor code, uint64_t address)
{
	uint32_t word = cur_u32(&code);

	for (size_t i = 0; cur_ok(&code) && i < COUNT(a64_branches); i++) {
		const struct a64_branch *b = &a64_branches[i];
		struct flow flow = { .kind = b->kind, .has_target = b->width > 0 };

		if ((word & b->mask) != b->match)
			continue;
		if (flow.has_target)
			flow.target = address + (uint64_t)sign_extend(word >> b->at, b->width) * 4;
		return flow;
	}
	return (struct flow){ .kind = FLOW_NEXT };
}

/* Opcodes of x86 from `first` to `last`; `offset` bytes of a relative target end it. */
struct x86_branch {
	uint8_t first, last;
	enum flow_kind kind;
	uint8_t offset; /* OFFSET_FULL: 4, or 2 with an operand size prefix in 32-bit code */
};

enum { OFFSET_FULL = 4 };

static const struct x86_branch x86_one_byte[] = {
	{ 0x70, 0x7f, FLOW_BRANCH, 1 },		{ 0xe0, 0xe3, FLOW_BRANCH, 1 },
	{ 0xe8, 0xe8, FLOW_CALL, OFFSET_FULL }, { 0xe9, 0xe9, FLOW_JUMP, OFFSET_FULL },
	{ 0xeb, 0xeb, FLOW_JUMP, 1 },		{ 0xc2, 0xc3, FLOW_RETURN, 0 },
	{ 0xca, 0xcb, FLOW_RETURN, 0 },		{ 0xcf, 0xcf, FLOW_RETURN, 0 },
	{ 0xcc, 0xce, FLOW_SYSTEM, 0 },		{ 0xf1, 0xf1, FLOW_SYSTEM, 0 },
	{ 0xf4, 0xf4, FLOW_STOP, 0 },
};

/* Behind 0x0f. */
static const struct x86_branch x86_two_bytes[] = {
	{ 0x80, 0x8f, FLOW_BRANCH, OFFSET_FULL },
	{ 0x05, 0x05, FLOW_SYSTEM, 0 },
	{ 0x07, 0x07, FLOW_RETURN, 0 },
	{ 0x34, 0x34, FLOW_SYSTEM, 0 },
	{ 0x35, 0x35, FLOW_RETURN, 0 },
	{ 0x0b, 0x0b, FLOW_STOP, 0 },
	{ 0xb9, 0xb9, FLOW_STOP, 0 },
	{ 0xff, 0xff, FLOW_STOP, 0 },
};

/* What 0xff does, by the middle three bits of the byte behind it. */
static const enum flow_kind x86_group_5[8] = {
	[2] = FLOW_CALL,
	[3] = FLOW_CALL,
	[4] = FLOW_JUMP,
	[5] = FLOW_JUMP,
};

static bool x86_is_prefix(uint8_t byte, bool is_64)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					    0x66, 0x67, 0xf0, 0xf2, 0xf3 };

	if (is_64 && (byte & 0xf0) == 0x40)
		return true;
	return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

static const struct x86_branch *x86_find(const struct x86_branch *list, size_t n, uint8_t opcode)
{
	for (size_t i = 0; i < n; i++) {
		if (opcode >= list[i].first && opcode <= list[i].last)
			return &list[i];
	}
	return NULL;
}

/* The offset that ends the instruction; 0 if it has no such bytes. */
static int64_t x86_offset(const uint8_t *end, size_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value = value << 8 | end[-1 - (ptrdiff_t)i];
	return width == 0 ? 0 : sign_extend(value, (unsigned)width * 8);
}

static struct flow x86_flow(struct cursor code, uint64_t address, bool is_64)
{
	uint64_t next = address + cur_left(&code);
	const uint8_t *end = code.end;
	const struct x86_branch *branch;
	bool is_short = false;
	uint8_t opcode = cur_u8(&code);
	size_t width;

	while (cur_ok(&code) && x86_is_prefix(opcode, is_64)) {
		is_short |= opcode == 0x66 && !is_64;
		opcode = cur_u8(&code);
	}
	if (opcode == 0xff)
		return (struct flow){ .kind = x86_group_5[cur_u8(&code) >> 3 & 7] };
	if (opcode == 0x0f)
		branch = x86_find(x86_two_bytes, COUNT(x86_two_bytes), cur_u8(&code));
	else
		branch = x86_find(x86_one_byte, COUNT(x86_one_byte), opcode);
	if (!cur_ok(&code) || branch == NULL)
		return (struct flow){ .kind = FLOW_NEXT };
	width = branch->offset == OFFSET_FULL && is_short ? 2 : branch->offset;
	if (width == 0 || width > cur_left(&code))
		return (struct flow){ .kind = branch->kind };
	next += (uint64_t)x86_offset(end, width);
	return (struct flow){
		.kind = branch->kind,
		.has_target = true,
		.target = is_64 ? next : next & (is_short ? 0xffff : 0xffffffff),
	};
}

struct flow isa_flow(enum isa isa, const void *code, size_t size, uint64_t address)
{
	if (isa == ISA_A64)
		return a64_flow(cur_of(code, size), address);
	if (isa == ISA_X86_64 || isa == ISA_X86_32)
		return x86_flow(cur_of(code, size), address, isa == ISA_X86_64);
	return (struct flow){ .kind = FLOW_NEXT };
}

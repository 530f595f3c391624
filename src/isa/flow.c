/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branches of A64 (Arm Architecture Reference Manual, "Branches, exception generating and
 * system instructions").
 */
#include "isa/flow.h"

#include "base/alloc.h"
#include "base/cursor.h"
#include "isa/x86.h"

enum { A64_SIZE = 4 };

/* The target is a signed field of `width` bits at bit `at`, in instructions. Width 0: indirect. */
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

size_t isa_flow_and_size(enum isa isa, const void *code, size_t size, uint64_t address,
			 struct flow *out)
{
	size_t n = 0;

	if (isa_is_x86(isa)) {
		*out = x86_flow(isa, code, size, address, &n);
		return n;
	}
	*out = (struct flow){ .kind = FLOW_NEXT };
	if (isa != ISA_A64 || size < A64_SIZE)
		return 0;
	*out = a64_flow(cur_of(code, size), address);
	return A64_SIZE;
}

struct flow isa_flow(enum isa isa, const void *code, size_t size, uint64_t address)
{
	struct flow flow;

	isa_flow_and_size(isa, code, size, address, &flow);
	return flow;
}

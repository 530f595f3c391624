/* SPDX-License-Identifier: Apache-2.0 */
/* Prologues of A64 (Arm Architecture Reference Manual, "Loads and stores", "Data processing"). */
#include "isa/arguments.h"

#include "base/alloc.h"
#include "base/cursor.h"
#include "isa/x86.h"

/* Instructions of prologues. Bases of stores and additions are the stack pointer. */
static const struct {
	uint32_t mask, match;
} a64_prologue[] = {
	{ 0xfffff01f, 0xd503201f }, /* NOP, BTI, PACIASP and other hints */
	{ 0xffc003e0, 0xa98003e0 }, /* STP Xn, Xm, [SP, #-n]! */
	{ 0xffc003e0, 0xa90003e0 }, /* STP Xn, Xm, [SP, #n] */
	{ 0xffc003e0, 0x290003e0 }, /* STP Wn, Wm, [SP, #n] */
	{ 0xffc003e0, 0x6d8003e0 }, /* STP Dn, Dm, [SP, #-n]! */
	{ 0xffc003e0, 0x6d0003e0 }, /* STP Dn, Dm, [SP, #n] */
	{ 0xffe00fe0, 0xf8000fe0 }, /* STR Xn, [SP, #-n]! */
	{ 0xffe00fe0, 0xfc000fe0 }, /* STR Dn, [SP, #-n]! */
	{ 0xffc003e0, 0xf90003e0 }, /* STR Xn, [SP, #n] */
	{ 0xffc003e0, 0xb90003e0 }, /* STR Wn, [SP, #n] */
	{ 0xffc003e0, 0x790003e0 }, /* STRH Wn, [SP, #n] */
	{ 0xffc003e0, 0x390003e0 }, /* STRB Wn, [SP, #n] */
	{ 0xffc003e0, 0xfd0003e0 }, /* STR Dn, [SP, #n] */
	{ 0xffc003e0, 0xbd0003e0 }, /* STR Sn, [SP, #n] */
	{ 0xffc003e0, 0x3d8003e0 }, /* STR Qn, [SP, #n] */
	{ 0xff8003ff, 0xd10003ff }, /* SUB SP, SP, #n */
	{ 0xff8003ff, 0x910003fd }, /* ADD X29, SP, #n; MOV X29, SP */
};

static size_t a64_known(struct cursor code)
{
	uint32_t word = cur_u32(&code);

	for (size_t i = 0; cur_ok(&code) && i < COUNT(a64_prologue); i++)
		if ((word & a64_prologue[i].mask) == a64_prologue[i].match)
			return sizeof(word);
	return 0;
}

size_t isa_prologue(enum isa isa, const void *code, size_t size)
{
	struct cursor rest = cur_of(code, size);
	size_t known;

	do {
		known = 0;
		if (isa == ISA_A64)
			known = a64_known(rest);
		else if (isa == ISA_X86_64)
			known = x86_prologue(rest.pos, cur_left(&rest));
		cur_skip(&rest, known);
	} while (known > 0);
	return size - cur_left(&rest);
}

struct flow isa_direct_jump(enum isa isa, const void *code, size_t size, uint64_t address)
{
	struct flow flow = isa_flow(isa, code, size, address);

	if ((flow.kind != FLOW_CALL && flow.kind != FLOW_JUMP) || !flow.has_target)
		flow = (struct flow){ .kind = FLOW_NEXT };
	return flow;
}

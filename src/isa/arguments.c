/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prologues of A64 (Arm Architecture Reference Manual, "Loads and stores", "Data processing") and
 * of x86-64 (Intel's manual, volume 2).
 */
#include "isa/arguments.h"

#include "base/alloc.h"
#include "base/cursor.h"

/* Words of A64. Stores and additions have the stack pointer for their base. */
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

/* The first bytes of x86-64 instructions, and how long these are. */
static const struct x86_form {
	uint32_t mask, match; /* the first byte is the lowest */
	uint8_t size;
} x86_prologue[] = {
	{ 0xffffffff, 0xfa1e0ff3, 4 }, /* endbr64 */
	{ 0x000000f8, 0x00000050, 1 }, /* push %rax … %rdi */
	{ 0x0000f8ff, 0x00005041, 2 }, /* push %r8 … %r15 */
	{ 0x000000ff, 0x00000090, 1 }, /* nop */
	{ 0x00ffffff, 0x00e58948, 3 }, /* mov %rsp, %rbp */
	{ 0x00ffffff, 0x00ec8b48, 3 }, /* the same, the other way to write it */
	{ 0x00ffffff, 0x00ec8348, 4 }, /* sub $n, %rsp, short */
	{ 0x00ffffff, 0x00ec8148, 7 }, /* sub $n, %rsp */
	{ 0x00ffffff, 0x00e48348, 4 }, /* and $n, %rsp */
	{ 0xffffffff, 0x048b4864, 9 }, /* mov %fs:n, %rax: the stack protector's word */
	{ 0x0000ffff, 0x0000c031, 2 }, /* xor %eax, %eax */
	{ 0x00c7fffb, 0x00458948, 4 }, /* mov %reg, n(%rbp) of 64 bits, short */
	{ 0x00c7fffb, 0x00858948, 7 }, /* mov %reg, n(%rbp) of 64 bits */
	{ 0x0000c7ff, 0x00004589, 3 }, /* mov %reg, n(%rbp) of 32 bits, short */
	{ 0x0000c7ff, 0x00008589, 6 }, /* mov %reg, n(%rbp) of 32 bits */
	{ 0x00c7ffff, 0x00458944, 4 }, /* mov %r8d, n(%rbp) and others, short */
	{ 0x00c7ffff, 0x00858944, 7 }, /* mov %r8d, n(%rbp) and others */
};

static size_t a64_known(struct cursor code)
{
	uint32_t word = cur_u32(&code);

	for (size_t i = 0; cur_ok(&code) && i < COUNT(a64_prologue); i++)
		if ((word & a64_prologue[i].mask) == a64_prologue[i].match)
			return sizeof(word);
	return 0;
}

/* The size of the instruction if it is a known one, else 0. */
static size_t x86_known(struct cursor code)
{
	size_t left = cur_left(&code);
	uint32_t word = 0;

	for (unsigned i = 0; i < sizeof(word) && cur_left(&code) > 0; i++)
		word |= (uint32_t)cur_u8(&code) << 8 * i;
	for (size_t i = 0; i < COUNT(x86_prologue); i++)
		if ((word & x86_prologue[i].mask) == x86_prologue[i].match &&
		    x86_prologue[i].size <= left)
			return x86_prologue[i].size;
	return 0;
}

size_t isa_prologue(enum isa isa, const void *code, size_t size)
{
	struct cursor rest = cur_of(code, size);
	size_t known;

	do {
		known = isa == ISA_A64 ? a64_known(rest) : isa == ISA_X86_64 ? x86_known(rest) : 0;
		cur_skip(&rest, known);
	} while (known > 0);
	return size - cur_left(&rest);
}

/* The size of "call", "jmp" and "jmp short", prefixes included; 0: it is none of them. */
static size_t x86_direct_size(struct cursor code)
{
	size_t size = cur_left(&code);
	uint8_t byte = cur_u8(&code);

	while (cur_ok(&code) && (byte == 0xf2 || byte == 0x66 || byte == 0x67 || byte == 0x48))
		byte = cur_u8(&code);
	if (!cur_ok(&code) || (byte != 0xe8 && byte != 0xe9 && byte != 0xeb))
		return 0;
	cur_skip(&code, byte == 0xeb ? 1 : 4);
	return cur_ok(&code) ? size - cur_left(&code) : 0;
}

struct flow isa_direct_jump(enum isa isa, const void *code, size_t size, uint64_t address)
{
	struct flow flow = { .kind = FLOW_NEXT };

	if (isa == ISA_X86_64)
		size = x86_direct_size(cur_of(code, size));
	else if (isa == ISA_A64 && size > 4)
		size = 4;
	if (size == 0)
		return flow;
	flow = isa_flow(isa, code, size, address);
	if ((flow.kind != FLOW_CALL && flow.kind != FLOW_JUMP) || !flow.has_target)
		flow = (struct flow){ .kind = FLOW_NEXT };
	return flow;
}

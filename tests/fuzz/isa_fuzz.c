/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of any instruction set: the first byte chooses which, the rest is decoded from its start to
 * its end. What an instruction accesses and where it goes must not depend on what stands behind it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/access.h"
#include "isa/arguments.h"
#include "isa/disasm.h"
#include "isa/flow.h"
#include "isa/follow.h"
#include "isa/operand.h"
#include "isa/stub.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const enum isa sets[] = { ISA_A64, ISA_A32, ISA_X86_64, ISA_X86_32, ISA_UNKNOWN };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_text(const struct instruction *i)
{
	require(memchr(i->mnemonic, '\0', sizeof(i->mnemonic)) != NULL);
	require(memchr(i->operands, '\0', sizeof(i->operands)) != NULL);
	require(i->mnemonic[0] != '\0');
}

/* Where the instruction alone has an access, so it has with more code behind it. */
static void check_access(enum isa isa, const uint8_t *code, size_t size, size_t n)
{
	struct isa_access all = { 0 }, one = { 0 };

	if (!isa_access(isa, code, n, &one))
		return;
	require(isa_access(isa, code, size, &all));
	require(all.bytes == one.bytes && all.flags == one.flags);
}

/*
 * An instruction of x86 that is cut short is none. Each piece is copied to bytes of its own, so that
 * what is read behind it is noticed.
 */
static void check_cuts(struct disasm *d, enum isa isa, const uint8_t *code, size_t n)
{
	for (size_t size = 0; size < n; size++) {
		uint8_t *cut = mem_alloc(size + 1, 1);
		struct isa_access access;
		struct isa_operand operand;
		uint64_t slot;

		memcpy(cut + 1, code, size);
		require(!isa_access(isa, cut + 1, size, &access));
		require(isa_flow(isa, cut + 1, size, 0).kind == FLOW_NEXT);
		require(size == 0 || !isa_operand(d, cut + 1, size, &operand));
		(void)isa_prologue(isa, cut + 1, size);
		(void)isa_x86_stub(isa, cut + 1, size, 0, 0, &slot);
		free(cut);
	}
}

static void disassemble(struct disasm *d, enum isa isa, const uint8_t *code, size_t size)
{
	uint64_t address = 0x400000;

	for (size_t at = 0; at < size;) {
		struct instruction i;

		disasm_next(d, code + at, size - at, address + at, &i);
		require(i.size > 0 && i.size <= size - at && i.address == address + at);
		check_text(&i);
		if (i.is_known)
			check_access(isa, code + at, size - at, i.size);
		if (i.is_known && (isa == ISA_X86_64 || isa == ISA_X86_32))
			check_cuts(d, isa, code + at, i.size);
		at += i.size;
	}
}

static bool may_return(void *context, uint64_t target)
{
	(void)context;
	return target & 1;
}

/* As a whole function: each instruction's registers can be asked for. */
static void follow(enum isa isa, const uint8_t *code, size_t size)
{
	struct isa_function function = { isa, code, size, 0x400000, may_return, NULL };
	struct isa_followed *f;

	if (isa != ISA_A64 && isa != ISA_X86_64)
		return;
	f = isa_follow(&function);
	for (size_t at = 0; f != NULL && at < size; at++) {
		struct isa_value v = isa_followed_register(f, function.address + at, at % 32);
		struct isa_holder holders[2];

		require(isa_followed_holders(f, &v, COUNT(holders), holders) <= COUNT(holders));
		if (v.root >= ISA_LOADED)
			require(isa_origin_of(f, &v).address - function.address < size);
	}
	isa_followed_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct isa_access access;
	struct disasm *d;
	struct err err;
	enum isa isa;

	if (size < 2)
		return 0;
	isa = sets[(bytes[0] >> 1) % COUNT(sets)];
	for (size_t at = 1; at < size; at++) {
		(void)isa_access(isa, bytes + at, size - at, &access);
		(void)isa_flow(isa, bytes + at, size - at, at);
		(void)isa_direct_jump(isa, bytes + at, size - at, at);
		require(isa_prologue(isa, bytes + at, size - at) <= size - at);
	}
	d = disasm_new(isa, bytes[0] & 1 ? SYNTAX_INTEL : SYNTAX_ATT, &err);
	if (d != NULL)
		disassemble(d, isa, bytes + 1, size - 1);
	follow(isa, bytes + 1, size - 1);
	disasm_free(d);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/disasm.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "isa/disasm_arm.h"
#include "isa/disasm_x86.h"
#include "isa/x86.h"

enum { WORD = 4 };

struct disasm {
	enum isa isa;
	struct disasm_arm *arm; /* one of the two, depending on the instruction set */
	struct disasm_x86 *x86;
};

struct disasm *disasm_new(enum isa isa, enum disasm_syntax syntax, struct err *err)
{
	struct disasm_arm *arm = NULL;
	struct disasm_x86 *x86 = NULL;
	struct disasm *d;

	if (isa == ISA_UNKNOWN)
		err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			"no disassembler for the instruction set");
	else if (isa_is_x86(isa))
		x86 = disasm_x86_new(isa, syntax, err);
	else
		arm = disasm_arm_new(isa, err);
	if (arm == NULL && x86 == NULL)
		return NULL;
	d = mem_zalloc(1, sizeof(*d));
	*d = (struct disasm){ isa, arm, x86 };
	return d;
}

void disasm_free(struct disasm *d)
{
	if (d == NULL)
		return;
	disasm_arm_free(d->arm);
	disasm_x86_free(d->x86);
	free(d);
}

enum isa disasm_isa(const struct disasm *d)
{
	return d->isa;
}

/* For bytes that are no instruction. */
static void set_unknown(const struct disasm *d, const uint8_t *code, size_t size,
			struct instruction *out)
{
	size_t least = d->arm != NULL ? WORD : 1;
	size_t n = 0;

	out->is_known = false;
	out->size = size < least ? size : least;
	if (out->size == WORD) {
		snprintf(out->mnemonic, sizeof(out->mnemonic), ".inst");
		snprintf(out->operands, sizeof(out->operands), "0x%08x", load_u32(code));
		return;
	}
	snprintf(out->mnemonic, sizeof(out->mnemonic), ".byte");
	for (size_t i = 0; i < out->size; i++)
		n += (size_t)snprintf(out->operands + n, sizeof(out->operands) - n, "%s0x%02x",
				      i == 0 ? "" : ", ", code[i]);
}

void disasm_next(struct disasm *d, const uint8_t *code, size_t size, uint64_t address,
		 struct instruction *out)
{
	*out = (struct instruction){ .address = address };
	if (d->arm != NULL)
		out->is_known = disasm_arm_next(d->arm, code, size, address, out);
	else
		out->is_known = disasm_x86_next(d->x86, code, size, address, out);
	if (!out->is_known)
		set_unknown(d, code, size, out);
}

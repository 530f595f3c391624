/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly of x86: x86_text.c or x86_none.c; private to disasm.c. */
#ifndef CYCLOPS_ISA_DISASM_X86_H
#define CYCLOPS_ISA_DISASM_X86_H

#include "isa/disasm.h"

struct disasm_x86;

/* As disasm_new() and disasm_free(). */
struct disasm_x86 *disasm_x86_new(enum isa, enum disasm_syntax, struct err *);
void disasm_x86_free(struct disasm_x86 *);

/* Fills all of `out` that is not zero, but for the address; false if that is no instruction. */
bool disasm_x86_next(const struct disasm_x86 *, const uint8_t *code, size_t size, uint64_t address,
		     struct instruction *out);

#endif

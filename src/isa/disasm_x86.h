/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly of x86, by x86_text.c or x86_none.c. For disasm.c only. */
#ifndef CYCLOPS_ISA_DISASM_X86_H
#define CYCLOPS_ISA_DISASM_X86_H

#include "isa/disasm.h"

struct disasm_x86;

/* As disasm_new() and disasm_free(). */
struct disasm_x86 *disasm_x86_new(enum isa, enum disasm_syntax, struct err *);
void disasm_x86_free(struct disasm_x86 *);

/* Fills `out`, which is zeroed but for the address. False if the bytes are no instruction. */
bool disasm_x86_next(const struct disasm_x86 *, const uint8_t *code, size_t size, uint64_t address,
		     struct instruction *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly of AArch64 and 32-bit Arm, by disasm_llvm.c or disasm_none.c. For disasm.c only. */
#ifndef CYCLOPS_ISA_DISASM_ARM_H
#define CYCLOPS_ISA_DISASM_ARM_H

#include "isa/disasm.h"

struct disasm_arm;

/* As disasm_new() and disasm_free(). */
struct disasm_arm *disasm_arm_new(enum isa, struct err *);
void disasm_arm_free(struct disasm_arm *);

/* Fills `out`, which is zeroed but for the address. False if the bytes are no instruction. */
bool disasm_arm_next(struct disasm_arm *, const uint8_t *code, size_t size, uint64_t address,
		     struct instruction *out);

#endif

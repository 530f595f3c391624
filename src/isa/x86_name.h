/* SPDX-License-Identifier: Apache-2.0 */
/* Names of x86 instructions. For x86_text.c only. */
#ifndef CYCLOPS_ISA_X86_NAME_H
#define CYCLOPS_ISA_X86_NAME_H

#include "isa/disasm.h"
#include "isa/x86_decode.h"

enum { X86_NAME = 32 }; /* room for a name */

/*
 * Writes the name as objdump does: "je" for Zydis's "jz". In AT&T syntax it has a size letter where
 * no register shows the size; Zydis writes too few of them (mul with memory, x87) and too many
 * (vectors). Returns whether the name replaces the last operand: "vpcmpeqb" for "vpcmpb" with 0.
 */
bool x86_name(const struct x86 *, enum disasm_syntax, char out[X86_NAME]);

#endif

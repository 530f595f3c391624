/* SPDX-License-Identifier: Apache-2.0 */
/* What x86 instructions are called; private to x86_text.c. */
#ifndef CYCLOPS_ISA_X86_NAME_H
#define CYCLOPS_ISA_X86_NAME_H

#include "isa/disasm.h"
#include "isa/x86_decode.h"

enum { X86_NAME = 32 }; /* room for a name */

/*
 * The name as objdump has it: "je" for what Zydis calls "jz". With AT&T syntax it has the letters
 * that say how long the operands are if no register does, of which Zydis writes too few (mul of
 * memory, the x87) and too many (vectors). Returns whether the name says what the last operand does,
 * too: "vpcmpeqb" for "vpcmpb" with the number 0.
 */
bool x86_name(const struct x86 *, enum disasm_syntax, char out[X86_NAME]);

#endif

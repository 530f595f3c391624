/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disassembly. x86 by Zydis. Arm by LLVM's disassembler, if the program was built with it. It takes
 * milliseconds to start, so it is made only where instructions are shown.
 */
#ifndef CYCLOPS_ISA_DISASM_H
#define CYCLOPS_ISA_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "isa/access.h"
#include "isa/flow.h"

/* Syntax of x86. */
enum disasm_syntax {
	SYNTAX_ATT, /* "mov %rax, 0x8(%rsp)", as in objdump and perf */
	SYNTAX_INTEL,
};

struct disasm;

/*
 * Makes a disassembler. NULL and ERR_UNSUPPORTED if the program was built without LLVM (or Zydis),
 * or the instruction set is unknown. Not for two threads at once. disasm_free(NULL) does nothing.
 */
struct disasm *disasm_new(enum isa, enum disasm_syntax, struct err *);
void disasm_free(struct disasm *);

enum isa disasm_isa(const struct disasm *);

enum { DISASM_TEXT = 192 };

struct instruction {
	uint64_t address;
	size_t size;   /* bytes, at least 1 */
	bool is_known; /* false: no instruction; mnemonic and operands show the bytes */
	struct flow flow;
	bool has_reference; /* an operand is a data address relative to the PC */
	uint64_t reference;
	char mnemonic[32];	    /* "b.ne"; ".inst" or ".byte" for unknown bytes */
	char operands[DISASM_TEXT]; /* "w1, #2, 0x1018"; branch targets are addresses */
};

/*
 * Disassembles the instruction at the start of `code`, of which `size` (at least 1) bytes are
 * readable. Always fills `out`. Unknown bytes have the size of the shortest instruction.
 */
void disasm_next(struct disasm *, const uint8_t *code, size_t size, uint64_t address,
		 struct instruction *out);

#endif

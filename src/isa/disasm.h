/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disassembly: instructions as text. Behind it is Zydis for x86, and for Arm LLVM's disassembler, if
 * the program was built with it; it takes milliseconds to start, so only who shows instructions
 * makes one.
 */
#ifndef CYCLOPS_ISA_DISASM_H
#define CYCLOPS_ISA_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "isa/access.h"
#include "isa/flow.h"

/* How x86 is written. */
enum disasm_syntax {
	SYNTAX_ATT, /* "mov %rax, 0x8(%rsp)": as objdump and perf show it */
	SYNTAX_INTEL,
};

struct disasm;

/*
 * A disassembler, or NULL and an error (ERR_UNSUPPORTED) that says why there is none: the
 * program was built without LLVM and the code is Arm's, or does not know the instruction set. Not for
 * use by two threads at once. disasm_free(NULL) does nothing.
 */
struct disasm *disasm_new(enum isa, enum disasm_syntax, struct err *);
void disasm_free(struct disasm *);

enum isa disasm_isa(const struct disasm *);

enum { DISASM_TEXT = 192 };

struct instruction {
	uint64_t address;
	size_t size;   /* in bytes, at least 1 */
	bool is_known; /* false: bytes that are no instruction, see `text` */
	struct flow flow;
	bool has_reference; /* an operand is the address of data, relative to the pc */
	uint64_t reference;
	char mnemonic[32];	    /* "b.ne"; of unknown bytes ".inst" or ".byte" */
	char operands[DISASM_TEXT]; /* "w1, #2, 0x1018"; a branch's target is an address */
};

/*
 * Decodes what stands first in `code`, of which `size` (at least 1) bytes are there, at this
 * address. Always fills `out`: what is no instruction has as many bytes as the shortest that
 * could be one.
 */
void disasm_next(struct disasm *, const uint8_t *code, size_t size, uint64_t address,
		 struct instruction *out);

#endif

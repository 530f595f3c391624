/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces disasm_llvm.c in builds without LLVM. */
#include <stdlib.h>

#include "isa/disasm_arm.h"

struct disasm_arm *disasm_arm_new(enum isa isa, struct err *err)
{
	(void)isa;
	err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
		sizeof(void *) == 4 ? "a program of 32 bits has no disassembler of Arm: take that "
				      "for AArch64 or x86-64"
				    : "built without a disassembler of Arm: install llvm-19-dev "
				      "and build again");
	return NULL;
}

void disasm_arm_free(struct disasm_arm *d)
{
	(void)d;
}

/* Never called: there is no disassembler to pass. */
bool disasm_arm_next(struct disasm_arm *d, const uint8_t *code, size_t size, uint64_t address,
		     struct instruction *out)
{
	(void)d, (void)code, (void)size, (void)address, (void)out;
	abort();
}

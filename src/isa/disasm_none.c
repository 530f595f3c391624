/* SPDX-License-Identifier: Apache-2.0 */
/* In place of disasm.c, where there is no LLVM to build with. */
#include <stdlib.h>

#include "isa/disasm.h"

struct disasm *disasm_new(enum isa isa, enum disasm_syntax syntax, struct err *err)
{
	(void)isa, (void)syntax;
	err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
		"built without a disassembler: install llvm-19-dev and build again");
	return NULL;
}

void disasm_free(struct disasm *d)
{
	(void)d;
}

/* Nobody has a disassembler to call it with. */
void disasm_next(struct disasm *d, const uint8_t *code, size_t size, uint64_t address,
		 struct instruction *out)
{
	(void)d, (void)code, (void)size, (void)address, (void)out;
	abort();
}

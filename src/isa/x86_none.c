/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the other files x86_*.c in builds without Zydis: x86 instructions are unknown. */
#include <stdlib.h>

#include "isa/disasm_x86.h"
#include "isa/follow_inside.h"
#include "isa/stub.h"
#include "isa/x86.h"

bool x86_access(enum isa isa, const void *code, size_t size, struct isa_access *out)
{
	(void)isa, (void)code, (void)size, (void)out;
	return false;
}

struct flow x86_flow(enum isa isa, const void *code, size_t size, uint64_t address,
		     size_t *out_size)
{
	(void)isa, (void)code, (void)size, (void)address;
	*out_size = 0;
	return (struct flow){ .kind = FLOW_NEXT };
}

bool x86_operand(const void *code, size_t size, struct isa_operand *out)
{
	(void)code, (void)size, (void)out;
	return false;
}

size_t x86_prologue(const void *code, size_t size)
{
	(void)code, (void)size;
	return 0;
}

size_t isa_x86_stub(enum isa isa, const void *code, size_t size, uint64_t address, uint64_t got,
		    uint64_t *out_slot)
{
	(void)isa, (void)code, (void)size, (void)address, (void)got, (void)out_slot;
	return 0;
}

/* An indirect jump: isa_follow() then refuses the function. */
void isa_read_x86(const uint8_t *code, size_t size, uint64_t address, struct isa_x86_step *out)
{
	(void)code, (void)size, (void)address;
	*out = (struct isa_x86_step){ .size = 1, .flow = { .kind = FLOW_JUMP } };
}

struct disasm_x86 *disasm_x86_new(enum isa isa, enum disasm_syntax syntax, struct err *err)
{
	(void)isa, (void)syntax;
	err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
		"built without a disassembler of x86: install libzydis-dev and build again");
	return NULL;
}

void disasm_x86_free(struct disasm_x86 *d)
{
	(void)d;
}

/* Never called: there is no disassembler to pass. */
bool disasm_x86_next(const struct disasm_x86 *d, const uint8_t *code, size_t size, uint64_t address,
		     struct instruction *out)
{
	(void)d, (void)code, (void)size, (void)address, (void)out;
	abort();
}

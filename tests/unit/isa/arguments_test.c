/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"

enum { MAX_BYTES = 32 };

static const struct prologue_case {
	const char *text;
	enum isa isa;
	uint8_t bytes[MAX_BYTES];
	size_t size, prologue;
} prologues[] = {
	{ "bti c; stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; mov w0, w1",
	  ISA_A64,
	  { 0x5f, 0x24, 0x03, 0xd5, 0xfd, 0x7b, 0xbe, 0xa9, 0xfd, 0x03,
	    0x00, 0x91, 0xf3, 0x0b, 0x00, 0xf9, 0xe0, 0x03, 0x01, 0x2a },
	  20,
	  16 },
	{ "sub sp, sp, #16; str w0, [sp, #12]; ldr w0, [sp, #12]",
	  ISA_A64,
	  { 0xff, 0x43, 0x00, 0xd1, 0xe0, 0x0f, 0x00, 0xb9, 0xe0, 0x0f, 0x40, 0xb9 },
	  12,
	  8 },
	{ "add x0, sp, #0", ISA_A64, { 0xe0, 0x03, 0x00, 0x91 }, 4, 0 },
	{ "stp x1, x2, [x0, #-16]!", ISA_A64, { 0x01, 0x08, 0xbf, 0xa9 }, 4, 0 },
	{ "cbz x0, .+8", ISA_A64, { 0x40, 0x00, 0x00, 0xb4 }, 4, 0 },
	{ "nop, cut short", ISA_A64, { 0x1f, 0x20, 0x03 }, 3, 0 },
	{ "endbr64; push %rbp; mov %rsp,%rbp; sub $0x20,%rsp; mov %rdi,-0x18(%rbp); "
	  "mov %esi,-0x1c(%rbp); mov %r8d,-0x20(%rbp); mov -0x18(%rbp),%rdi",
	  ISA_X86_64,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x48, 0x89,
	    0x7d, 0xe8, 0x89, 0x75, 0xe4, 0x44, 0x89, 0x45, 0xe0, 0x48, 0x8b, 0x7d, 0xe8 },
	  27,
	  23 },
	{ "push %r15; push %rbx; sub $0x1000,%rsp; mov %fs:0x28,%rax; xor %eax,%eax; ret",
	  ISA_X86_64,
	  { 0x41, 0x57, 0x53, 0x48, 0x81, 0xec, 0x00, 0x10, 0x00, 0x00, 0x64,
	    0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00, 0x31, 0xc0, 0xc3 },
	  22,
	  21 },
	{ "mov %edi,%edi", ISA_X86_64, { 0x89, 0xff }, 2, 0 },
	{ "lea (%rdi,%rsi),%rdi", ISA_X86_64, { 0x48, 0x8d, 0x3c, 0x37 }, 4, 0 },
	{ "sub $0x20,%rsp, cut short", ISA_X86_64, { 0x48, 0x83, 0xec }, 3, 0 },
	{ "push %ebp, of other code", ISA_X86_32, { 0x55 }, 1, 0 },
	{ "nothing", ISA_X86_64, { 0 }, 0, 0 },
};

static void prologue_ends_where_arguments_may_change(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(prologues); i++) {
		const struct prologue_case *c = &prologues[i];

		if (isa_prologue(c->isa, c->bytes, c->size) != c->prologue)
			fail_msg("%s: %zu bytes", c->text, isa_prologue(c->isa, c->bytes, c->size));
	}
}

/* However the bytes end, no more than is there is taken for a prologue. */
static void prologue_is_within_the_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(prologues); i++)
		for (size_t size = 0; size <= prologues[i].size; size++)
			assert_true(isa_prologue(prologues[i].isa, prologues[i].bytes, size) <=
				    size);
}

static const struct jump_case {
	const char *text;
	enum isa isa;
	uint8_t bytes[16];
	size_t size;
	enum flow_kind kind;
	uint64_t target; /* of an instruction at 0x1000 */
} jumps[] = {
	{ "bl .+64, and more", ISA_A64, { 0x10, 0, 0, 0x94, 1, 2, 3, 4 }, 8, FLOW_CALL, 0x1040 },
	{ "b .+12", ISA_A64, { 0x03, 0, 0, 0x14 }, 4, FLOW_JUMP, 0x100c },
	{ "cbz x0, .-8", ISA_A64, { 0xc0, 0xff, 0xff, 0xb4 }, 4, FLOW_NEXT, 0 },
	{ "blr x1", ISA_A64, { 0x20, 0, 0x3f, 0xd6 }, 4, FLOW_NEXT, 0 },
	{ "bl, cut short", ISA_A64, { 0x10, 0, 0 }, 3, FLOW_NEXT, 0 },
	{ "call .+6, and more", ISA_X86_64, { 0xe8, 1, 0, 0, 0, 0x90 }, 6, FLOW_CALL, 0x1006 },
	{ "bnd call .+6", ISA_X86_64, { 0xf2, 0xe8, 0, 0, 0, 0, 0x90 }, 7, FLOW_CALL, 0x1006 },
	{ "data16 rex.W call .+8",
	  ISA_X86_64,
	  { 0x66, 0x48, 0xe8, 1, 0, 0, 0 },
	  7,
	  FLOW_CALL,
	  0x1008 },
	{ "jmp .+3", ISA_X86_64, { 0xeb, 1, 0x90 }, 3, FLOW_JUMP, 0x1003 },
	{ "je .+18", ISA_X86_64, { 0x74, 0x10 }, 2, FLOW_NEXT, 0 },
	{ "call *%rax", ISA_X86_64, { 0xff, 0xd0 }, 2, FLOW_NEXT, 0 },
	{ "call, cut short", ISA_X86_64, { 0xe8, 1, 0, 0 }, 4, FLOW_NEXT, 0 },
	{ "nothing", ISA_X86_64, { 0 }, 0, FLOW_NEXT, 0 },
};

static void direct_jumps_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(jumps); i++) {
		const struct jump_case *c = &jumps[i];
		struct flow flow = isa_direct_jump(c->isa, c->bytes, c->size, 0x1000);

		if (flow.kind != c->kind || flow.has_target != (c->target != 0) ||
		    flow.target != c->target)
			fail_msg("%s: kind %d, target 0x%lx", c->text, flow.kind,
				 (unsigned long)flow.target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prologue_ends_where_arguments_may_change),
		cmocka_unit_test(prologue_is_within_the_bytes),
		cmocka_unit_test(direct_jumps_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

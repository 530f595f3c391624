/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"

static const struct flow_case {
	const char *text;
	enum isa isa;
	uint8_t bytes[8];
	size_t size;
	enum flow_kind kind;
	uint64_t target; /* of an instruction at 0x1000; 0: none */
	bool has_no_size;
} cases[] = {
	{ "b .+12", ISA_A64, { 0x03, 0, 0, 0x14 }, 4, FLOW_JUMP, 0x100c },
	{ "b .-4", ISA_A64, { 0xff, 0xff, 0xff, 0x17 }, 4, FLOW_JUMP, 0xffc },
	{ "bl .+64", ISA_A64, { 0x10, 0, 0, 0x94 }, 4, FLOW_CALL, 0x1040 },
	{ "b.ne .+8", ISA_A64, { 0x41, 0, 0, 0x54 }, 4, FLOW_BRANCH, 0x1008 },
	{ "cbz x0, .-8", ISA_A64, { 0xc0, 0xff, 0xff, 0xb4 }, 4, FLOW_BRANCH, 0xff8 },
	{ "tbz w1, #2, .+8", ISA_A64, { 0x41, 0, 0x10, 0x36 }, 4, FLOW_BRANCH, 0x1008 },
	{ "tbnz x1, #33, .-4", ISA_A64, { 0xe1, 0xff, 0x0f, 0xb7 }, 4, FLOW_BRANCH, 0xffc },
	{ "br x1", ISA_A64, { 0x20, 0, 0x1f, 0xd6 }, 4, FLOW_JUMP, 0 },
	{ "blraa x1, x2", ISA_A64, { 0x22, 0x08, 0x3f, 0xd7 }, 4, FLOW_CALL, 0 },
	{ "ret", ISA_A64, { 0xc0, 0x03, 0x5f, 0xd6 }, 4, FLOW_RETURN, 0 },
	{ "svc #0", ISA_A64, { 0x01, 0, 0, 0xd4 }, 4, FLOW_SYSTEM, 0 },
	{ "udf #0", ISA_A64, { 0, 0, 0, 0 }, 4, FLOW_STOP, 0 },
	{ "ldr x0, [x0]", ISA_A64, { 0, 0, 0x40, 0xf9 }, 4, FLOW_NEXT, 0 },
	{ "b, cut short", ISA_A64, { 0x03, 0, 0, 0x14 }, 3, FLOW_NEXT, 0, true },
	{ "je .+18", ISA_X86_64, { 0x74, 0x10 }, 2, FLOW_BRANCH, 0x1012 },
	{ "jne .-2", ISA_X86_64, { 0x0f, 0x85, 0xf8, 0xff, 0xff, 0xff }, 6, FLOW_BRANCH, 0xffe },
	{ "loop .+2", ISA_X86_64, { 0xe2, 0 }, 2, FLOW_BRANCH, 0x1002 },
	{ "call .+6", ISA_X86_64, { 0xe8, 1, 0, 0, 0 }, 5, FLOW_CALL, 0x1006 },
	{ "bnd jmp .+6", ISA_X86_64, { 0xf2, 0xe9, 0, 0, 0, 0 }, 6, FLOW_JUMP, 0x1006 },
	{ "call *%rax", ISA_X86_64, { 0xff, 0xd0 }, 2, FLOW_CALL, 0 },
	{ "notrack jmp *%rax", ISA_X86_64, { 0x3e, 0xff, 0xe0 }, 3, FLOW_JUMP, 0 },
	{ "jmp *%r8", ISA_X86_64, { 0x41, 0xff, 0xe0 }, 3, FLOW_JUMP, 0 },
	{ "push %rax", ISA_X86_64, { 0xff, 0xf0 }, 2, FLOW_NEXT, 0 },
	{ "rep ret", ISA_X86_64, { 0xf3, 0xc3 }, 2, FLOW_RETURN, 0 },
	{ "syscall", ISA_X86_64, { 0x0f, 0x05 }, 2, FLOW_SYSTEM, 0 },
	{ "xabort $0xff", ISA_X86_64, { 0xc6, 0xf8, 0xff }, 3, FLOW_SYSTEM, 0 },
	{ "xend", ISA_X86_64, { 0x0f, 0x01, 0xd5 }, 3, FLOW_NEXT, 0 },
	{ "ud2", ISA_X86_64, { 0x0f, 0x0b }, 2, FLOW_STOP, 0 },
	{ "inc %eax, which is a prefix in 64 bits", ISA_X86_32, { 0x40 }, 1, FLOW_NEXT, 0 },
	{ "jmp .+6", ISA_X86_32, { 0xe9, 1, 0, 0, 0 }, 5, FLOW_JUMP, 0x1006 },
	{ "data16 jmp .+6", ISA_X86_32, { 0x66, 0xe9, 2, 0 }, 4, FLOW_JUMP, 0x1006 },
	{ "jmp, cut short", ISA_X86_64, { 0xe9 }, 1, FLOW_NEXT, 0, true },
	{ "prefixes alone", ISA_X86_64, { 0x66, 0x66 }, 2, FLOW_NEXT, 0, true },
	{ "je, of nobody", ISA_UNKNOWN, { 0x74, 0x10 }, 2, FLOW_NEXT, 0, true },
};

static void flow_is_what_the_bytes_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct flow_case *c = &cases[i];
		struct flow flow = isa_flow(c->isa, c->bytes, c->size, 0x1000);

		if (flow.kind != c->kind || flow.has_target != (c->target != 0) ||
		    (flow.has_target && flow.target != c->target))
			fail_msg("%s: kind %d, target %#llx", c->text, (int)flow.kind,
				 (unsigned long long)flow.target);
	}
}

/* An instruction that is cut off has no size, and goes on; one that is whole has all its bytes. */
static void size_is_that_of_the_whole_instruction(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct flow_case *c = &cases[i];

		for (size_t n = 0; n <= c->size; n++) {
			bool is_whole = n == c->size && !c->has_no_size;
			struct flow flow;
			size_t size = isa_flow_and_size(c->isa, c->bytes, n, 0x1000, &flow);

			if (size != (is_whole ? c->size : 0) ||
			    flow.kind != (is_whole ? c->kind : FLOW_NEXT))
				fail_msg("%s, %zu bytes: size %zu, kind %d", c->text, n, size,
					 (int)flow.kind);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_is_that_of_the_whole_instruction),
		cmocka_unit_test(flow_is_what_the_bytes_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

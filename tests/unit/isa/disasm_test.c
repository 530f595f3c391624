/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface and format. tests/e2e/disasm_vs_objdump.py and x86_vs_objdump.py compare whole
 * libraries with objdump.
 */
#include "isa/disasm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"

static const struct text_case {
	enum isa isa;
	enum disasm_syntax syntax;
	uint8_t bytes[16];
	size_t size; /* that are there */
	size_t taken;
	const char *text; /* of an instruction at 0x1000 */
} cases[] = {
	{ ISA_A64, SYNTAX_ATT, { 0xe0, 0x07, 0x40, 0xf9 }, 4, 4, "ldr x0, [sp, #8]" },
	{ ISA_A64, SYNTAX_ATT, { 0x41, 0, 0x10, 0x36 }, 16, 4, "tbz w1, #2, 0x1008" },
	{ ISA_A64, SYNTAX_ATT, { 0, 0, 0, 0xb0 }, 4, 4, "adrp x0, 0x2000" },
	{ ISA_A64, SYNTAX_ATT, { 0xe0, 0xff, 0xff, 0x10 }, 4, 4, "adr x0, 0xffc" },
	{ ISA_A64, SYNTAX_ATT, { 0x40, 0, 0, 0x58 }, 4, 4, "ldr x0, 0x1008" },
	{ ISA_A64, SYNTAX_ATT, { 0xc0, 0x03, 0x5f, 0xd6 }, 4, 4, "ret " },
	{ ISA_A64, SYNTAX_ATT, { 0, 0, 0, 0x80 }, 4, 4, ".inst 0x80000000" },
	{ ISA_A64, SYNTAX_ATT, { 1, 2 }, 2, 2, ".byte 0x01, 0x02" },
	{ ISA_A32, SYNTAX_ATT, { 0x00, 0x00, 0x91, 0xe5 }, 4, 4, "ldr r0, [r1]" },
	{ ISA_X86_64,
	  SYNTAX_ATT,
	  { 0x48, 0x8b, 0x05, 0x10, 0, 0, 0 },
	  7,
	  7,
	  "mov 0x10(%rip), %rax" },
	{ ISA_X86_64,
	  SYNTAX_INTEL,
	  { 0x48, 0x8b, 0x05, 0x10, 0, 0, 0 },
	  7,
	  7,
	  "mov rax, qword ptr [rip+0x10]" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x74, 0x10 }, 2, 2, "je 0x1012" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xff, 0xd0 }, 2, 2, "call *%rax" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xf0, 0x0f, 0xb1, 0x0a }, 4, 4, "lock cmpxchg %ecx, (%rdx)" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xf3, 0x48, 0xab }, 3, 3, "rep stosq " },
	{ ISA_X86_64, SYNTAX_ATT, { 0xf0 }, 1, 1, ".byte 0xf0" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x06 }, 1, 1, ".byte 0x06" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x48, 0x8b }, 2, 1, ".byte 0x48" },
	/* One of each kind that Zydis writes otherwise than objdump. */
	{ ISA_X86_64, SYNTAX_INTEL, { 0x74, 0x10 }, 2, 2, "je 0x1012" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x0f, 0xb6, 0x07 }, 3, 3, "movzbl (%rdi), %eax" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x48, 0x63, 0xc7 }, 3, 3, "movslq %edi, %rax" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x48, 0xf7, 0x27 }, 3, 3, "mulq (%rdi)" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xd3, 0x27 }, 2, 2, "shll %cl, (%rdi)" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xff, 0x27 }, 2, 2, "jmp *(%rdi)" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x0f, 0x1f, 0x40, 0 }, 4, 4, "nopl (%rax)" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x48, 0x98 }, 2, 2, "cltq " },
	{ ISA_X86_64, SYNTAX_ATT, { 0xa5 }, 1, 1, "movsl " },
	{ ISA_X86_64, SYNTAX_ATT, { 0xf2, 0x0f, 0x10, 0x07 }, 4, 4, "movsd (%rdi), %xmm0" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xdb, 0x2f }, 2, 2, "fldt (%rdi)" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x48, 0x0f, 0x07 }, 3, 3, "sysretq " },
	{ ISA_X86_64, SYNTAX_ATT, { 0xc5, 0xfd, 0x5a, 0x07 }, 4, 4, "vcvtpd2psy (%rdi), %xmm0" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xdf, 0x2f }, 2, 2, "fildll (%rdi)" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xde, 0xe9 }, 2, 2, "fsubrp %st, %st(1)" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xc8, 0x34, 0x12, 0x03 }, 4, 4, "enter $0x1234, $0x3" },
	{ ISA_X86_64, SYNTAX_INTEL, { 0xde, 0xe9 }, 2, 2, "fsubp st(1), st" },
	{ ISA_X86_64,
	  SYNTAX_ATT,
	  { 0x62, 0xf3, 0x4d, 0x48, 0x3f, 0xca, 0x00 },
	  7,
	  7,
	  "vpcmpeqb %zmm2, %zmm6, %k1" },
	{ ISA_X86_64, SYNTAX_ATT, { 0xf2, 0x0f, 0xc2, 0xd8, 0x06 }, 5, 5, "cmpnlesd %xmm0, %xmm3" },
	{ ISA_X86_64,
	  SYNTAX_ATT,
	  { 0x48, 0xb8, 0, 0, 0, 0, 1 },
	  10,
	  10,
	  "movabs $0x100000000, %rax" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x83, 0xc8, 0xff }, 3, 3, "or $0xffffffff, %eax" },
	{ ISA_X86_64, SYNTAX_ATT, { 0x48, 0x8b, 0x45, 0xf8 }, 4, 4, "mov -0x8(%rbp), %rax" },
	{ ISA_X86_32, SYNTAX_ATT, { 0x06 }, 1, 1, "push %es" },
};

static bool is_built_in(enum isa isa)
{
	return HAS_LLVM || (isa != ISA_A64 && isa != ISA_A32);
}

static void text_is_mnemonic_and_operands(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct text_case *c = &cases[i];
		struct err err;
		struct disasm *d = disasm_new(c->isa, c->syntax, &err);
		struct instruction found;
		char text[256];

		if (!is_built_in(c->isa))
			continue;
		if (d == NULL)
			fail_msg("%s", err.text);
		disasm_next(d, c->bytes, c->size, 0x1000, &found);
		snprintf(text, sizeof(text), "%s %s", found.mnemonic, found.operands);
		if (strcmp(text, c->text) != 0 || found.size != c->taken)
			fail_msg("%s: found %s, %zu bytes", c->text, text, found.size);
		assert_int_equal(found.address, 0x1000);
		assert_int_equal(found.is_known, c->text[0] != '.');
		disasm_free(d);
	}
}

/* Whatever the bytes: at least one is taken, and never more than there are. */
static void any_bytes_are_taken(void **state)
{
	const enum isa isas[] = { ISA_A64, ISA_A32, ISA_X86_64, ISA_X86_32 };
	uint32_t random = 1;

	(void)state;
	for (size_t k = 0; k < COUNT(isas); k++) {
		struct err err;
		struct disasm *d = disasm_new(isas[k], SYNTAX_ATT, &err);

		if (!is_built_in(isas[k]))
			continue;
		assert_non_null(d);
		for (unsigned n = 0; n < 20000; n++) {
			uint8_t bytes[20];
			size_t size = 1 + n % sizeof(bytes);
			struct instruction found;

			for (size_t i = 0; i < sizeof(bytes); i++) {
				random = random * 1664525 + 1013904223;
				bytes[i] = (uint8_t)(random >> 24);
			}
			disasm_next(d, bytes, size, 0x1000, &found);
			assert_in_range(found.size, 1, size);
			assert_int_not_equal(found.mnemonic[0], '\0');
		}
		disasm_free(d);
	}
}

static void unknown_instruction_sets_are_refused(void **state)
{
	struct err err;

	(void)state;
	assert_null(disasm_new(ISA_UNKNOWN, SYNTAX_ATT, &err));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	if (!is_built_in(ISA_A64)) {
		assert_null(disasm_new(ISA_A64, SYNTAX_ATT, &err));
		assert_int_equal(err.code, ERR_UNSUPPORTED);
	}
	disasm_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_mnemonic_and_operands),
		cmocka_unit_test(any_bytes_are_taken),
		cmocka_unit_test(unknown_instruction_sets_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

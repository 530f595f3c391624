/* SPDX-License-Identifier: Apache-2.0 */
/* Operands in memory, as the disassembler writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "isa/operand.h"

static const struct {
	enum isa isa;
	const char *operands;
	struct isa_operand operand;
} good[] = {
	{ ISA_A64, "x0, [x1]", { .base = 1, .scale = 1 } },
	{ ISA_A64, "x0, [x1, #32]", { .base = 1, .scale = 1, .displacement = 32 } },
	{ ISA_A64, "w0, [x29, #-4]", { .base = 29, .scale = 1, .displacement = -4 } },
	{ ISA_A64,
	  "x0, x1, [sp, #16]!",
	  { .base = 31, .is_stack = true, .scale = 1, .displacement = 16 } },
	{ ISA_A64, "x0, [x30], #8", { .base = 30, .scale = 1 } },
	{ ISA_A64, "x0, [x1, x2]", { .base = 1, .has_index = true, .scale = 1 } },
	{ ISA_A64, "x0, [x1, x2, lsl #3]", { .base = 1, .has_index = true, .scale = 8 } },
	{ ISA_A64, "w0, [x1, w2, sxtw #2]", { .base = 1, .has_index = true, .scale = 4 } },
	{ ISA_A64, "w0, [x1, w2, uxtw]", { .base = 1, .has_index = true, .scale = 1 } },
	{ ISA_A64, "{ v0.16b, v1.16b }, [x3]", { .base = 3, .scale = 1 } },
	{ ISA_A64, "x0, [x1, #0x10]", { .base = 1, .scale = 1, .displacement = 16 } },
	{ ISA_X86_64, "qword ptr [rdi], rax", { .base = 5, .scale = 1 } },
	{ ISA_X86_64, "rax, qword ptr [rbp - 8]", { .base = 6, .scale = 1, .displacement = -8 } },
	{ ISA_X86_64,
	  "rax, qword ptr [rsp + 16]",
	  { .base = 7, .is_stack = true, .scale = 1, .displacement = 16 } },
	{ ISA_X86_64,
	  "eax, dword ptr [r15 + 4*rcx + 0x20]",
	  { .base = 15, .has_index = true, .scale = 4, .displacement = 32 } },
	{ ISA_X86_64,
	  "rax, qword ptr fs:[40]",
	  { .is_thread = true, .scale = 1, .displacement = 40 } },
	{ ISA_X86_64,
	  "qword ptr fs:[-8], 1",
	  { .is_thread = true, .scale = 1, .displacement = -8 } },
	{ ISA_X86_64,
	  "dword ptr fs:[4*rax - 80], 1",
	  { .is_thread = true, .has_index = true, .scale = 4, .displacement = -80 } },
	{ ISA_X86_64,
	  "rax, qword ptr fs:[rcx]",
	  { .is_thread = true, .has_index = true, .scale = 1 } },
	{ ISA_X86_64,
	  "rax, qword ptr fs:[rsp + 8*rcx - 4]",
	  { .is_thread = true, .has_index = true, .scale = 8, .displacement = -4 } },
	{ ISA_X86_64, "eax, dword ptr [rsi + rcx]", { .base = 4, .has_index = true, .scale = 1 } },
};

static const struct {
	enum isa isa;
	const char *operands;
} bad[] = {
	{ ISA_A64, "" },
	{ ISA_A64, "x0, x1" },
	{ ISA_A64, "x0, [" },
	{ ISA_A64, "x0, []" },
	{ ISA_A64, "x0, [x31]" },
	{ ISA_A64, "x0, [x1, #]" },
	{ ISA_A64, "{ z0.d }, p0/z, [z1.d]" },
	{ ISA_A64, "{ z0.d }, p0/z, [x1, z2.d]" },
	{ ISA_A64, "{ z0.d }, p0/z, [x1, #1, mul vl]" },
	{ ISA_A64, "x0, [x1, x2, lsl #9]" },
	{ ISA_A64, "x0, [x1, #99999999999999999999]" },
	{ ISA_X86_64, "rax, qword ptr [rip + 0x2f]" },
	{ ISA_X86_64, "rax, qword ptr gs:[0x28]" },
	{ ISA_X86_64, "rax, qword ptr [-8]" },
	{ ISA_X86_64, "rax, qword ptr fs:[]" },
	{ ISA_X86_64, "byte ptr es:[rdi], byte ptr [rsi]" },
	{ ISA_X86_64, "rax, qword ptr [8*rcx + 0x404040]" },
	{ ISA_X86_64, "rax, qword ptr [rdi + 8*]" },
	{ ISA_X86_64, "eax, dword ptr [edi]" },
	{ ISA_X86_32, "eax, dword ptr [edi]" },
	{ ISA_UNKNOWN, "x0, [x1]" },
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		struct isa_operand o = { 0 };

		if (!isa_operand_parse(good[i].isa, good[i].operands, &o))
			fail_msg("'%s' was not read", good[i].operands);
		assert_int_equal(o.base, good[i].operand.base);
		assert_int_equal(o.is_stack, good[i].operand.is_stack);
		assert_int_equal(o.is_thread, good[i].operand.is_thread);
		assert_int_equal(o.has_index, good[i].operand.has_index);
		assert_int_equal(o.scale, good[i].operand.scale);
		assert_int_equal(o.displacement, good[i].operand.displacement);
	}
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct isa_operand o;

		if (isa_operand_parse(bad[i].isa, bad[i].operands, &o))
			fail_msg("'%s' was read", bad[i].operands);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

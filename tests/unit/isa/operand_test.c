/* SPDX-License-Identifier: Apache-2.0 */
/* Operands in memory: of A64 as the disassembler writes them, of x86 as they are encoded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "isa/operand.h"

static const struct {
	const char *operands;
	struct isa_operand operand;
} good[] = {
	{ "x0, [x1]", { .base = 1, .scale = 1 } },
	{ "x0, [x1, #32]", { .base = 1, .scale = 1, .displacement = 32 } },
	{ "w0, [x29, #-4]", { .base = 29, .scale = 1, .displacement = -4 } },
	{ "x0, x1, [sp, #16]!", { .base = 31, .is_stack = true, .scale = 1, .displacement = 16 } },
	{ "x0, [x30], #8", { .base = 30, .scale = 1 } },
	{ "x0, [x1, x2]", { .base = 1, .has_index = true, .scale = 1 } },
	{ "x0, [x1, x2, lsl #3]", { .base = 1, .has_index = true, .scale = 8 } },
	{ "w0, [x1, w2, sxtw #2]", { .base = 1, .has_index = true, .scale = 4 } },
	{ "w0, [x1, w2, uxtw]", { .base = 1, .has_index = true, .scale = 1 } },
	{ "{ v0.16b, v1.16b }, [x3]", { .base = 3, .scale = 1 } },
	{ "x0, [x1, #0x10]", { .base = 1, .scale = 1, .displacement = 16 } },
};

static const char *const bad[] = {
	"",
	"x0, x1",
	"x0, [",
	"x0, []",
	"x0, [x31]",
	"x0, [x1, #]",
	"{ z0.d }, p0/z, [z1.d]",
	"{ z0.d }, p0/z, [x1, z2.d]",
	"{ z0.d }, p0/z, [x1, #1, mul vl]",
	"x0, [x1, x2, lsl #9]",
	"x0, [x1, #99999999999999999999]",
};

static void expect(const struct isa_operand *o, const struct isa_operand *wanted)
{
	assert_int_equal(o->base, wanted->base);
	assert_int_equal(o->is_stack, wanted->is_stack);
	assert_int_equal(o->is_thread, wanted->is_thread);
	assert_int_equal(o->has_index, wanted->has_index);
	assert_int_equal(o->scale, wanted->scale);
	assert_int_equal(o->displacement, wanted->displacement);
}

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		struct isa_operand o = { 0 };

		if (!isa_operand_parse_a64(good[i].operands, &o))
			fail_msg("'%s' was not read", good[i].operands);
		expect(&o, &good[i].operand);
	}
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct isa_operand o;

		if (isa_operand_parse_a64(bad[i], &o))
			fail_msg("'%s' was read", bad[i]);
	}
}

enum { MAX_BYTES = 12 };

static const struct {
	const char *text;
	uint8_t code[MAX_BYTES];
	size_t size;
	struct isa_operand operand;
} good_x86[] = {
	{ "mov [rdi], rax", { 0x48, 0x89, 0x07 }, 3, { .base = 5, .scale = 1 } },
	{ "mov rax, [rbp - 8]",
	  { 0x48, 0x8b, 0x45, 0xf8 },
	  4,
	  { .base = 6, .scale = 1, .displacement = -8 } },
	{ "mov rax, [rsp + 16]",
	  { 0x48, 0x8b, 0x44, 0x24, 0x10 },
	  5,
	  { .base = 7, .is_stack = true, .scale = 1, .displacement = 16 } },
	{ "mov eax, [r15 + 4*rcx + 32]",
	  { 0x41, 0x8b, 0x44, 0x8f, 0x20 },
	  5,
	  { .base = 15, .has_index = true, .index = 2, .scale = 4, .displacement = 32 } },
	{ "mov rax, fs:[40]",
	  { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0 },
	  9,
	  { .is_thread = true, .scale = 1, .displacement = 40 } },
	{ "add fs:[-8], 1",
	  { 0x64, 0x48, 0x83, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x01 },
	  10,
	  { .is_thread = true, .scale = 1, .displacement = -8 } },
	{ "mov eax, fs:[4*rax - 80]",
	  { 0x64, 0x8b, 0x04, 0x85, 0xb0, 0xff, 0xff, 0xff },
	  8,
	  { .is_thread = true, .has_index = true, .scale = 4, .displacement = -80 } },
	{ "mov rax, fs:[rcx]",
	  { 0x64, 0x48, 0x8b, 0x01 },
	  4,
	  { .is_thread = true, .has_index = true, .scale = 1 } },
	{ "mov rax, fs:[rsp + 8*rcx - 4]",
	  { 0x64, 0x48, 0x8b, 0x44, 0xcc, 0xfc },
	  6,
	  { .is_thread = true, .has_index = true, .scale = 8, .displacement = -4 } },
	{ "mov eax, [rsi + rcx]",
	  { 0x8b, 0x04, 0x0e },
	  3,
	  { .base = 4, .has_index = true, .index = 2, .scale = 1 } },
};

static const struct {
	const char *text;
	uint8_t code[MAX_BYTES];
	size_t size;
} bad_x86[] = {
	{ "mov rax, rcx", { 0x48, 0x89, 0xc8 }, 3 },
	{ "mov rax, [rip + 0x2f]", { 0x48, 0x8b, 0x05, 0x2f, 0, 0, 0 }, 7 },
	{ "mov rax, gs:[0x28]", { 0x65, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0 }, 9 },
	{ "mov rax, [-8]", { 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff }, 8 },
	{ "movsb", { 0xa4 }, 1 },
	{ "stosq", { 0x48, 0xab }, 2 },
	{ "push rbp", { 0x55 }, 1 },
	{ "mov rax, [8*rcx + 0x404040]", { 0x48, 0x8b, 0x04, 0xcd, 0x40, 0x40, 0x40, 0 }, 8 },
	{ "mov eax, [edi]", { 0x67, 0x8b, 0x07 }, 3 },
	{ "vgatherdps xmm0, [rdi + xmm2], xmm1", { 0xc4, 0xe2, 0x71, 0x92, 0x04, 0x17 }, 6 },
	{ "no instruction", { 0x06 }, 1 },
};

static void operands_of_x86_are_read(void **state)
{
	struct err err;
	struct disasm *d = disasm_new(ISA_X86_64, SYNTAX_ATT, &err);
	struct isa_operand o;

	(void)state;
	for (size_t i = 0; i < COUNT(good_x86); i++) {
		if (!isa_operand(d, good_x86[i].code, good_x86[i].size, &o))
			fail_msg("'%s' was not read", good_x86[i].text);
		expect(&o, &good_x86[i].operand);
		if (o.has_index && !o.is_thread)
			assert_int_equal(o.index, good_x86[i].operand.index);
		for (size_t n = 1; n < good_x86[i].size; n++)
			if (isa_operand(d, good_x86[i].code, n, &o))
				fail_msg("'%s' was read of %zu bytes", good_x86[i].text, n);
	}
	for (size_t i = 0; i < COUNT(bad_x86); i++)
		if (isa_operand(d, bad_x86[i].code, bad_x86[i].size, &o))
			fail_msg("'%s' was read", bad_x86[i].text);
	disasm_free(d);
	d = disasm_new(ISA_X86_32, SYNTAX_ATT, &err);
	assert_false(isa_operand(d, good_x86[0].code + 1, 2, &o));
	disasm_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(operands_of_x86_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

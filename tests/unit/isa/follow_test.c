/* SPDX-License-Identifier: Apache-2.0 */
/* Values of registers in small functions. */
#include "isa/follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "isa/disasm.h"

enum { MOST = 12, MOST_BYTES = 64, WORD = 4 };

#define START UINT64_C(0x400000)

/* What an access is to. The origin of a value is given by the index of the instruction. */
struct wanted {
	enum isa_root root;
	uint64_t slot; /* or which instruction it is of */
	uint64_t offset, step;
};

static const struct {
	const char *what;
	uint32_t code[MOST]; /* the last one accesses; ends with 0 */
	struct isa_operand operand;
	struct wanted wanted;
} a64_cases[] = {
	{ "a parameter",
	  { 0xf9400400 /* ldr x0, [x0, #8] */ },
	  { .base = 0, .scale = 1, .displacement = 8 },
	  { ISA_INITIAL, 0, 8, 0 } },
	{ "a global pointer",
	  { 0x90000081 /* adrp x1, +16 pages */, 0xf9401821 /* ldr x1, [x1, #48] */,
	    0xf9400820 /* ldr x0, [x1, #16] */ },
	  { .base = 1, .scale = 1, .displacement = 16 },
	  { ISA_CONTENT, START + 0x10030, 16, 0 } },
	{ "two of them in a pair, with an index",
	  { 0x90000081, 0x9100c021 /* add x1, x1, #48 */, 0xa9400c22 /* ldp x2, x3, [x1] */,
	    0xf8647860 /* ldr x0, [x3, x4, lsl #3] */ },
	  { .base = 3, .has_index = true, .index = 4, .scale = 8 },
	  { ISA_CONTENT, START + 0x10038, 0, 8 } },
	{ "a pointer behind another",
	  { 0x90000081, 0xf9401821, 0xf9400422 /* ldr x2, [x1, #8] */,
	    0xf9400040 /* ldr x0, [x2] */ },
	  { .base = 2, .scale = 1 },
	  { ISA_LOADED, 2, 0, 0 } },
	{ "kept in a call",
	  { 0xf9400413 /* ldr x19, [x0, #8] */, 0x94000400 /* bl */,
	    0xf9400260 /* ldr x0, [x19] */ },
	  { .base = 19, .scale = 1 },
	  { ISA_LOADED, 0, 0, 0 } },
	{ "lost in a call",
	  { 0xf9400402 /* ldr x2, [x0, #8] */, 0x94000400, 0xf9400040 },
	  { .base = 2, .scale = 1 },
	  { ISA_COMPUTED, 1, 0, 0 } },
	{ "a loop that moves it on",
	  { 0xf8408401 /* ldr x1, [x0], #8 */, 0xb5ffffe1 /* cbnz x1, -4 */,
	    0xf9400001 /* ldr x1, [x0] */ },
	  { .base = 0, .scale = 1 },
	  { ISA_INITIAL, 0, 8, 8 } },
	{ "a loop with an index",
	  { 0xd2800002 /* mov x2, #0 */, 0x3ce26800 /* ldr q0, [x0, x2] */,
	    0x91004042 /* add x2, x2, #16 */, 0xb5ffffc1 /* cbnz x1, -8 */, 0x3ce26800 },
	  { .base = 0, .has_index = true, .index = 2, .scale = 1 },
	  { ISA_INITIAL, 0, 16, 16 } },
	{ "a loop that multiplies its index by 64",
	  { 0xd2800020 /* mov x0, #1 */, 0x14000002 /* b +8 */, 0x92401c20 /* and x0, x1, #0xff */,
	    0xd37ae401 /* lsl x1, x0, #6 */, 0xb4ffffc2 /* cbz x2, -8 */,
	    0xf8616861 /* ldr x1, [x3, x1] */ },
	  { .base = 3, .has_index = true, .index = 1, .scale = 1 },
	  { ISA_INITIAL, 3, 0, 64 } },
	{ "an element of 24 bytes",
	  { 0x8b010421 /* add x1, x1, x1, lsl #1 */, 0x8b010c00 /* add x0, x0, x1, lsl #3 */,
	    0xf9400400 },
	  { .base = 0, .scale = 1, .displacement = 8 },
	  { ISA_INITIAL, 0, 8, 24 } },
	{ "one of 56: 64 less 8",
	  { 0xd37df022 /* lsl x2, x1, #3 */, 0xcb010042 /* sub x2, x2, x1 */,
	    0x8b020c00 /* add x0, x0, x2, lsl #3 */, 0xf9400400 },
	  { .base = 0, .scale = 1, .displacement = 8 },
	  { ISA_INITIAL, 0, 8, 56 } },
	{ "one of 40, by a product",
	  { 0xd2800502 /* mov x2, #40 */, 0x9b020020 /* madd x0, x1, x2, x0 */, 0xf9400400 },
	  { .base = 0, .scale = 1, .displacement = 8 },
	  { ISA_INITIAL, 0, 8, 40 } },
	{ "the distance of another pointer",
	  { 0xcb000021 /* sub x1, x1, x0 */, 0xf8616802 /* ldr x2, [x0, x1] */ },
	  { .base = 0, .has_index = true, .index = 1, .scale = 1 },
	  { ISA_UNKNOWN_VALUE, 0, 0, 0 } },
	{ "a distance that is not known",
	  { 0xf8616802 },
	  { .base = 0, .has_index = true, .index = 1, .scale = 1 },
	  { ISA_UNKNOWN_VALUE, 0, 0, 0 } },
	{ "one or the other",
	  { 0xb4000061 /* cbz x1, +12 */, 0xaa0203e0 /* mov x0, x2 */, 0xd503201f /* nop */,
	    0xf9400400 },
	  { .base = 0, .scale = 1, .displacement = 8 },
	  { ISA_MERGED, 3, 8, 0 } },
	{ "what vectors calculate touches no register",
	  { 0xf9400400, 0x1f420400 /* fmadd d0, d0, d2, d1 */, 0xf9400000 },
	  { .base = 0, .scale = 1 },
	  { ISA_LOADED, 0, 0, 0 } },
	{ "where exceptions are caught, anything may be in a register",
	  { 0xf9400413, 0x14000002 /* b +8 */, 0xaa0003f3 /* mov x19, x0 */, 0xf9400260 },
	  { .base = 19, .scale = 1 },
	  { ISA_MERGED, 3, 0, 0 } },
};

static bool may_return(void *context, uint64_t target)
{
	(void)context;
	(void)target;
	return false;
}

static void expect(const struct isa_followed *f, const struct isa_value *v,
		   const struct wanted *wanted, const uint64_t *starts)
{
	uint64_t slot = wanted->slot;

	assert_int_equal(v->root, wanted->root);
	if (v->root == ISA_UNKNOWN_VALUE)
		return;
	if (v->root == ISA_LOADED || v->root == ISA_COMPUTED || v->root == ISA_MERGED)
		assert_int_equal(isa_origin_of(f, v).address, START + starts[slot]);
	else if (v->root == ISA_INITIAL)
		assert_int_equal(isa_origin_of(f, v).reg, slot);
	else
		assert_int_equal(v->slot, slot);
	assert_int_equal(v->offset, wanted->offset);
	assert_int_equal(v->step, wanted->step);
}

static void a64_is_followed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(a64_cases); i++) {
		struct isa_function function = {
			.isa = ISA_A64,
			.code = (const uint8_t *)a64_cases[i].code,
			.address = START,
			.may_return = may_return,
		};
		struct isa_followed *f;
		struct isa_value v;
		uint64_t starts[MOST];
		size_t n = 0;

		while (n < MOST && a64_cases[i].code[n] != 0) {
			starts[n] = n * WORD;
			n++;
		}
		print_message("%s\n", a64_cases[i].what);
		function.size = n * WORD;
		f = isa_follow(&function);
		assert_non_null(f);
		v = isa_followed_address(f, START + starts[n - 1], &a64_cases[i].operand);
		expect(f, &v, &a64_cases[i].wanted, starts);
		isa_followed_free(f);
	}
}

/* The same for x86-64: the last instruction is the access. */
static const struct {
	const char *what;
	uint8_t code[MOST_BYTES];
	size_t size;
	uint64_t starts[MOST]; /* of instructions; ends with 0 */
	struct wanted wanted;
} x86_cases[] = {
	{ "a parameter",
	  { 0x48, 0x8b, 0x47, 0x08 /* mov rax, [rdi + 8] */ },
	  4,
	  { 0 },
	  { ISA_INITIAL, 5, 8, 0 } },
	{ "a global pointer",
	  { 0x48, 0x8b, 0x05, 0x09, 0x00, 0x00, 0x00 /* mov rax, [rip + 9] */, 0x48, 0x8b, 0x40,
	    0x10 /* mov rax, [rax + 16] */ },
	  11,
	  { 0, 7 },
	  { ISA_CONTENT, START + 16, 16, 0 } },
	{ "an element of 24 bytes in what another points to",
	  { 0x48, 0x63, 0xff /* movsxd rdi, edi */, 0x48, 0x8d, 0x14,
	    0x7f /* lea rdx, [rdi + 2*rdi] */, 0x48, 0xc1, 0xe2, 0x03 /* shl rdx, 3 */, 0x48, 0x03,
	    0x56, 0x08 /* add rdx, [rsi + 8] */, 0x48, 0x8b, 0x42, 0x08 /* mov rax, [rdx + 8] */ },
	  19,
	  { 0, 3, 7, 11, 15 },
	  { ISA_LOADED, 3, 8, 24 } },
	{ "a loop with an index",
	  { 0x31,
	    0xc0 /* xor eax, eax */,
	    0xf3,
	    0x0f,
	    0x6f,
	    0x04,
	    0x07 /* movdqu xmm0, [rdi + rax] */,
	    0x48,
	    0x83,
	    0xc0,
	    0x10 /* add rax, 16 */,
	    0x48,
	    0x39,
	    0xc6 /* cmp rsi, rax */,
	    0x75,
	    0xf2 /* jne -14 */,
	    0x48,
	    0x8b,
	    0x4c,
	    0x07,
	    0x08 /* mov rcx, [rdi + rax + 8] */ },
	  21,
	  { 0, 2, 7, 11, 14, 16 },
	  { ISA_INITIAL, 5, 24, 16 } },
	{ "lost in a call",
	  { 0x48, 0x8b, 0x47, 0x08, 0xe8, 0, 1, 0, 0 /* call */, 0x48, 0x8b, 0x00 },
	  12,
	  { 0, 4, 9 },
	  { ISA_COMPUTED, 1, 0, 0 } },
	{ "kept in a call",
	  { 0x48, 0x8b, 0x5f, 0x08 /* mov rbx, [rdi + 8] */, 0xe8, 0, 1, 0, 0, 0x48, 0x8b, 0x03 },
	  12,
	  { 0, 4, 9 },
	  { ISA_LOADED, 0, 0, 0 } },
	{ "strings move their registers",
	  { 0x48, 0xa5 /* movsq */, 0x48, 0x8b, 0x07 },
	  5,
	  { 0, 2 },
	  { ISA_COMPUTED, 0, 0, 0 } },
	{ "exchanged",
	  { 0x48, 0x87, 0x37 /* xchg [rdi], rsi */, 0x48, 0x8b, 0x06 /* mov rax, [rsi] */ },
	  6,
	  { 0, 3 },
	  { ISA_COMPUTED, 0, 0, 0 } },
	{ "exchanged, of two registers both",
	  { 0x48, 0x87, 0xfe /* xchg rsi, rdi */, 0x48, 0x8b, 0x07 },
	  6,
	  { 0, 3 },
	  { ISA_COMPUTED, 0, 0, 0 } },
	{ "of a repeated string only its registers are lost",
	  { 0x48, 0x8b, 0x5a, 0x08 /* mov rbx, [rdx + 8] */, 0xf3, 0xa4 /* rep movsb */, 0x48, 0x8b,
	    0x03 },
	  9,
	  { 0, 4, 6 },
	  { ISA_LOADED, 0, 0, 0 } },
	{ "written besides: rdx by mul",
	  { 0x48, 0x8b, 0x57, 0x08 /* mov rdx, [rdi + 8] */, 0x48, 0xf7, 0xe1 /* mul rcx */, 0x48,
	    0x8b, 0x02 },
	  10,
	  { 0, 4, 7 },
	  { ISA_COMPUTED, 1, 0, 0 } },
	{ "lost in the kernel",
	  { 0x48, 0x8b, 0x4f, 0x08 /* mov rcx, [rdi + 8] */, 0x0f, 0x05 /* syscall */, 0x48, 0x8b,
	    0x01 },
	  9,
	  { 0, 4, 6 },
	  { ISA_COMPUTED, 1, 0, 0 } },
	{ "of the stack pointer nothing is known",
	  { 0x48, 0x89, 0xe3 /* mov rbx, rsp */, 0x48, 0x8b, 0x03 },
	  6,
	  { 0, 3 },
	  { ISA_COMPUTED, 0, 0, 0 } },
};

static void x86_is_followed(void **state)
{
	struct err err;
	struct disasm *d = disasm_new(ISA_X86_64, SYNTAX_INTEL, &err);

	(void)state;
	for (size_t i = 0; i < COUNT(x86_cases); i++) {
		struct isa_function function = {
			.isa = ISA_X86_64,
			.code = x86_cases[i].code,
			.size = x86_cases[i].size,
			.address = START,
			.may_return = may_return,
		};
		struct isa_followed *f = isa_follow(&function);
		struct isa_operand operand;
		struct isa_value v;
		size_t last = 0;

		while (last + 1 < MOST && x86_cases[i].starts[last + 1] != 0)
			last++;
		print_message("%s\n", x86_cases[i].what);
		assert_non_null(f);
		assert_true(isa_operand(d, function.code + x86_cases[i].starts[last],
					function.size - x86_cases[i].starts[last], &operand));
		v = isa_followed_address(f, START + x86_cases[i].starts[last], &operand);
		expect(f, &v, &x86_cases[i].wanted, x86_cases[i].starts);
		isa_followed_free(f);
	}
	disasm_free(d);
}

/* Where a parameter is held: at the start, and after a move. */
static void holders_are_found(void **state)
{
	static const uint32_t code[] = { 0xaa0003f3 /* mov x19, x0 */, 0x94000400 /* bl */,
					 0xf9400260 /* ldr x0, [x19] */ };
	struct isa_function function = { ISA_A64,      (const uint8_t *)code,
					 sizeof(code), START,
					 may_return,   NULL };
	struct isa_followed *f = isa_follow(&function);
	struct isa_value v = isa_followed_register(f, START + 8, 19);
	struct isa_holder holders[4];

	(void)state;
	assert_int_equal(isa_followed_holders(f, &v, COUNT(holders), holders), 2);
	assert_int_equal(holders[0].address, START);
	assert_int_equal(holders[0].reg, 0);
	assert_int_equal(holders[1].address, START + 4);
	assert_int_equal(holders[1].reg, 19);
	assert_int_equal(isa_followed_holders(f, &v, 1, holders), 1);
	isa_followed_free(f);
}

/* Random bytes, truncated anywhere: no read past the end. */
static void any_bytes_are_followed(void **state)
{
	static const enum isa isas[] = { ISA_A64, ISA_X86_64 };
	uint64_t seed = 1;

	(void)state;
	for (size_t round = 0; round < 4000; round++) {
		size_t size = round % (MOST_BYTES + 1);
		uint8_t *code = mem_alloc(size + 1, 1);
		struct isa_function function = { isas[round % 2], code,	      size,
						 START,		  may_return, NULL };
		struct isa_followed *f;

		for (size_t i = 0; i < size; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			code[i] = (uint8_t)(seed >> 56);
		}
		f = isa_follow(&function);
		for (size_t at = 0; f != NULL && at <= size; at++) {
			struct isa_operand operand = { .base = (uint32_t)at % 32,
						       .index = (uint32_t)at % 31,
						       .has_index = at % 2,
						       .scale = 8 };
			struct isa_value v = isa_followed_address(f, START + at, &operand);
			struct isa_holder holders[2];

			(void)isa_followed_holders(f, &v, COUNT(holders), holders);
		}
		isa_followed_free(f);
		free(code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a64_is_followed),
		cmocka_unit_test(x86_is_followed),
		cmocka_unit_test(holders_are_found),
		cmocka_unit_test(any_bytes_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

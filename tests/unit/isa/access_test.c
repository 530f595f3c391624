/* SPDX-License-Identifier: Apache-2.0 */
/* Some instructions of each kind; tests/e2e/a64_access.py tries all encodings. */
#include "isa/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"

enum {
	LOAD = ACCESS_LOAD,
	STORE = ACCESS_STORE,
	ATOMIC = ACCESS_LOAD | ACCESS_STORE | ACCESS_ATOMIC,
	VECTOR = ACCESS_VECTOR,
	SVE = ACCESS_VECTOR | ACCESS_SCALABLE,
};

static const struct a64_case {
	const char *text;
	uint32_t word, bytes, flags;
} a64_cases[] = {
	{ "ldr x0, [x0]", 0xf9400000, 8, LOAD },
	{ "ldrb w2, [x20, w19, sxtw]", 0x3873ca82, 1, LOAD },
	{ "ldrsw x1, [x2, #4]", 0xb9800441, 4, LOAD },
	{ "ldp q0, q1, [x1]", 0xad400420, 32, LOAD | VECTOR },
	{ "ldp x6, x7, [x1, #16]!", 0xa9c11c26, 16, LOAD },
	{ "stp w1, w2, [sp]", 0x29000be1, 8, STORE },
	{ "ldr q3, .+16", 0x9c000083, 16, LOAD | VECTOR },
	{ "stlr x1, [x2]", 0xc89ffc41, 8, STORE | ACCESS_RELEASE },
	{ "ldaxr w1, [x2]", 0x885ffc41, 4, LOAD | ACCESS_EXCLUSIVE | ACCESS_ACQUIRE },
	{ "casal x1, x2, [x3]", 0xc8e1fc62, 8, ATOMIC | ACCESS_ACQUIRE | ACCESS_RELEASE },
	{ "casp x0, x1, x2, x3, [x4]", 0x48207c82, 16, ATOMIC },
	{ "ldaddl w1, w2, [x3]", 0xb8610062, 4, ATOMIC | ACCESS_RELEASE },
	{ "stadd x1, [x2]", 0xf821005f, 8, ATOMIC },
	{ "ldapurb w1, [x2]", 0x19400041, 1, LOAD | ACCESS_ACQUIRE },
	{ "ld1r {v0.4s}, [x1]", 0x4d40c820, 4, LOAD | VECTOR },
	{ "ld4 {v0.16b-v3.16b}, [x1]", 0x4c400020, 64, LOAD | VECTOR },
	{ "ld3 {v0.h-v2.h}[3], [x1], #6", 0x0ddf7820, 6, LOAD | VECTOR },
	{ "ldraa x1, [x2]", 0xf8200441, 8, LOAD },
	{ "prfm pldl1keep, [x1]", 0xf9800020, 0, ACCESS_PREFETCH },
	{ "dc zva, x1", 0xd50b7421, 64, STORE | ACCESS_CACHE },
	{ "dc civac, x1", 0xd50b7e21, 0, ACCESS_CACHE },
	{ "ld1w {z0.d}, p0/z, [x1]", 0xa560a020, 8, LOAD | SVE },
	{ "ld1b {z0.s}, p0/z, [z1.s]", 0x8420c020, 4, LOAD | SVE | ACCESS_STRIDED },
	{ "ld3d {z0.d-z2.d}, p0/z, [x1]", 0xa5c0e020, 48, LOAD | SVE },
	{ "str z0, [x1]", 0xe5804020, 16, STORE | SVE },
	{ "add x0, x1, x2", 0x8b020020, 0, 0 },
	{ "ret", 0xd65f03c0, 0, 0 },
};

/* Undefined words: no access, and no instruction. */
static const uint32_t a64_undefined[] = {
	0x00000000, /* udf */
	0x02000000, /* group 0001 */
	0xfdc00000, /* a SIMD load of 2 << 6 bytes */
	0x0c400c00, /* ld4 {v0.1d} */
	0x85a08000, /* an SVE gather of a size that does not exist */
};

static bool access_of_word(uint32_t word, size_t size, struct isa_access *out)
{
	const uint8_t bytes[] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
				  (uint8_t)(word >> 24) };

	return isa_access(ISA_A64, bytes, size, out);
}

static void a64_words_access_what_their_text_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(a64_cases); i++) {
		const struct a64_case *c = &a64_cases[i];
		struct isa_access access = { 0 };

		if (!access_of_word(c->word, 4, &access) || access.bytes != c->bytes ||
		    access.flags != c->flags)
			fail_msg("%s: %u bytes, flags %#x", c->text, access.bytes, access.flags);
		for (size_t size = 0; size < 4; size++)
			assert_false(access_of_word(c->word, size, &access));
	}
}

static void undefined_words_are_no_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(a64_undefined); i++) {
		struct isa_access access = { 1, 2 };

		if (access_of_word(a64_undefined[i], 4, &access))
			fail_msg("%#x is taken for an instruction", a64_undefined[i]);
		assert_int_equal(access.bytes, 1);
		assert_int_equal(access.flags, 2);
	}
}

/* Compared with objdump for all opcodes in e2e/x86-vs-objdump; these are one of each kind. */
static const struct {
	uint8_t code[12];
	size_t n; /* of the instruction */
	uint32_t bytes, flags;
	const char *text;
} x86_cases[] = {
	{ { 0x48, 0x8b, 0x07 }, 3, 8, ACCESS_LOAD, "mov (%rdi),%rax" },
	{ { 0x66, 0x89, 0x07 }, 3, 2, ACCESS_STORE, "mov %ax,(%rdi)" },
	{ { 0x01, 0x07 }, 2, 4, ACCESS_LOAD | ACCESS_STORE, "add %eax,(%rdi)" },
	{ { 0x80, 0x3f, 0x01 }, 3, 1, ACCESS_LOAD, "cmpb $1,(%rdi)" },
	{ { 0xf0, 0x0f, 0xb1, 0x17 },
	  4,
	  4,
	  ACCESS_LOAD | ACCESS_STORE | ACCESS_ATOMIC,
	  "lock cmpxchg %edx,(%rdi)" },
	{ { 0x87, 0x07 }, 2, 4, ACCESS_LOAD | ACCESS_STORE | ACCESS_ATOMIC, "xchg %eax,(%rdi)" },
	{ { 0x48, 0x8d, 0x07 }, 3, 0, 0, "lea (%rdi),%rax" },
	{ { 0x89, 0xc8 }, 2, 0, 0, "mov %ecx,%eax" },
	{ { 0x55 }, 1, 8, ACCESS_STORE, "push %rbp" },
	{ { 0xc3 }, 1, 8, ACCESS_LOAD, "ret" },
	{ { 0xff, 0xd0 }, 2, 8, ACCESS_STORE, "call *%rax" },
	{ { 0xa4 }, 1, 1, ACCESS_LOAD | ACCESS_STORE, "movsb" },
	{ { 0xf3, 0xa4 }, 2, 0, ACCESS_LOAD | ACCESS_STORE, "rep movsb" },
	{ { 0x0f, 0x18, 0x0f }, 3, 0, ACCESS_PREFETCH, "prefetcht0 (%rdi)" },
	{ { 0x0f, 0x1f, 0x00 }, 3, 0, 0, "nopl (%rax)" },
	{ { 0xf3, 0x0f, 0x10, 0x07 }, 4, 4, ACCESS_LOAD | ACCESS_VECTOR, "movss (%rdi),%xmm0" },
	{ { 0xc5, 0xfc, 0x28, 0x07 }, 4, 32, ACCESS_LOAD | ACCESS_VECTOR, "vmovaps (%rdi),%ymm0" },
	{ { 0xc5, 0xf8, 0x77 }, 3, 0, 0, "vzeroupper" },
	{ { 0x62, 0xf1, 0x7c, 0x48, 0x11, 0x07 },
	  6,
	  64,
	  ACCESS_STORE | ACCESS_VECTOR,
	  "vmovups %zmm0,(%rdi)" },
	{ { 0x62, 0xf1, 0x7c, 0x58, 0x58, 0x07 },
	  6,
	  4,
	  ACCESS_LOAD | ACCESS_VECTOR,
	  "vaddps (%rdi){1to16},%zmm0,%zmm0" },
	{ { 0xc4, 0xe2, 0x71, 0x92, 0x04, 0x17 },
	  6,
	  16,
	  ACCESS_LOAD | ACCESS_VECTOR | ACCESS_STRIDED,
	  "vgatherdps %xmm1,(%rdi,%xmm2),%xmm0" },
};

static void x86_instructions_access_what_their_text_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(x86_cases); i++) {
		struct isa_access access = { 0 };

		if (!isa_access(ISA_X86_64, x86_cases[i].code, sizeof(x86_cases[i].code),
				&access) ||
		    access.bytes != x86_cases[i].bytes || access.flags != x86_cases[i].flags)
			fail_msg("%s: %u bytes, flags %#x", x86_cases[i].text, access.bytes,
				 access.flags);
		for (size_t n = 0; n < x86_cases[i].n; n++) {
			if (isa_access(ISA_X86_64, x86_cases[i].code, n, &access))
				fail_msg("%s: not cut short with %zu bytes", x86_cases[i].text, n);
		}
	}
}

static void x86_depends_on_the_mode(void **state)
{
	static const uint8_t inc[] = { 0x40, 0x8b, 0x07 }, push[] = { 0x50 };
	static const uint8_t les[] = { 0xc4, 0x07, 0x00, 0x00 };
	struct isa_access access;

	(void)state;
	assert_true(isa_access(ISA_X86_64, inc, sizeof(inc), &access));
	assert_int_equal(access.bytes, 4); /* a prefix and mov */
	assert_true(isa_access(ISA_X86_32, inc, sizeof(inc), &access));
	assert_int_equal(access.bytes, 0); /* inc %eax */
	assert_true(isa_access(ISA_X86_32, push, sizeof(push), &access));
	assert_int_equal(access.bytes, 4);
	assert_true(isa_access(ISA_X86_32, les, sizeof(les), &access));
	assert_int_equal(access.bytes, 6);
}

static void other_instruction_sets_are_not_decoded(void **state)
{
	const uint8_t bytes[16] = { 0x90 };
	struct isa_access access;

	(void)state;
	assert_false(isa_access(ISA_UNKNOWN, bytes, sizeof(bytes), &access));
	assert_false(isa_access(ISA_A32, bytes, sizeof(bytes), &access));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a64_words_access_what_their_text_says),
		cmocka_unit_test(undefined_words_are_no_instructions),
		cmocka_unit_test(x86_instructions_access_what_their_text_says),
		cmocka_unit_test(x86_depends_on_the_mode),
		cmocka_unit_test(other_instruction_sets_are_not_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

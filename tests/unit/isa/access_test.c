/* SPDX-License-Identifier: Apache-2.0 */
/* Some of each kind; tests/e2e/a64_access.py tries all encodings. */
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

/* Undefined: nothing is accessed, and nothing is an instruction. */
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
		cmocka_unit_test(other_instruction_sets_are_not_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which registers instructions read and write: words as GNU as made them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "isa/registers.h"

static const struct {
	uint32_t word;
	const char *
		expected; /* reads; of an address in brackets > writes, and what moves by how much */
} cases[] = {
	{ 0x8b020020, "x1 x2 > x0" },		 /* add x0, x1, x2 */
	{ 0x91000420, "x1 > x0 +1" },		 /* add x0, x1, #1 */
	{ 0xd1400421, "x1 > x1 +-4096" },	 /* sub x1, x1, #1, lsl #12 */
	{ 0xf100043f, "x1 > flags +-1" },	 /* cmp x1, #1 (subs) */
	{ 0xaa0203e0, "x2 > x0" },		 /* mov x0, x2 */
	{ 0xf2a00020, "x0 > x0" },		 /* movk x0, #1, lsl #16 */
	{ 0x9b020c20, "x1 x2 x3 > x0" },	 /* madd x0, x1, x2, x3 */
	{ 0x9ac20820, "x1 x2 > x0" },		 /* udiv x0, x1, x2 */
	{ 0x9a820020, "x1 x2 flags > x0" },	 /* csel x0, x1, x2, eq */
	{ 0x54000041, "flags >" },		 /* b.ne */
	{ 0xb5000041, "x1 >" },			 /* cbnz x1 */
	{ 0xf9400420, "[x1] > x0" },		 /* ldr x0, [x1, #8] */
	{ 0xf8627820, "[x1 x2] > x0" },		 /* ldr x0, [x1, x2, lsl #3] */
	{ 0xf8408420, "[x1] > x0 x1 x1+8" },	 /* ldr x0, [x1], #8 */
	{ 0xf81f8c20, "[x1] x0 > x1 x1+-8" },	 /* str x0, [x1, #-8]! */
	{ 0xa9c10440, "[x2] > x0 x1 x2 x2+16" }, /* ldp x0, x1, [x2, #16]! */
	{ 0xa9000440, "[x2] x0 x1 >" },		 /* stp x0, x1, [x2] */
	{ 0xf9400be0, "[sp] > x0" },		 /* ldr x0, [sp, #16] */
	{ 0xf8a06820, "[x1 x0] >" },		 /* prfm pldl1keep, [x1, x0] */
	{ 0xf8220020, "[x1] x2 > x0" },		 /* ldadd x2, x0, [x1] */
	{ 0xc8a07c41, "[x2] x1 x0 > x0" },	 /* cas x0, x1, [x2] */
	{ 0x3ce16841, "[x2 x1] > v1" },		 /* ldr q1, [x2, x1] */
	{ 0x4c9fa020, "[x1] v0 v1 > x1 x1+32" }, /* st1 {v0.16b, v1.16b}, [x1], #32 */
	{ 0x1f420c20, "v1 v2 v3 > v0" },	 /* fmadd d0, d1, d2, d3 */
	{ 0x1e622820, "v1 v2 > v0" },		 /* fadd d0, d1, d2 */
	{ 0x1e622020, "v1 v2 > flags" },	 /* fcmp d1, d2 */
	{ 0x9e670020, "x1 > v0" },		 /* fmov d0, x1 */
	{ 0x9e660020, "v1 > x0" },		 /* fmov x0, d1 */
	{ 0x4fc21020, "v0 v1 v2 > v0" },	 /* fmla v0.2d, v1.2d, v2.d[0]: by element */
	{ 0x4e22cc20, "v0 v1 v2 > v0" },	 /* fmla v0.4s, v1.4s, v2.4s */
	{ 0x4e22d420, "v1 v2 > v0" },		 /* fadd v0.4s, v1.4s, v2.4s */
	{ 0x6e221c20, "v1 v2 > v0" },		 /* eor v0.16b, v1.16b, v2.16b */
	{ 0x6ea21c20, "v0 v1 v2 > v0" },	 /* bit v0.16b, v1.16b, v2.16b */
	{ 0x6f00e400, "> v0" },			 /* movi v0.2d, #0 */
	{ 0xd503201f, ">" },			 /* nop */
};

static void put_reg(struct text *t, unsigned reg)
{
	if (reg == ISA_REG_FLAGS)
		text_str(t, "flags ");
	else if (reg == ISA_REG_STACK)
		text_str(t, "sp ");
	else
		text_format(t, "%c%u ", reg >= ISA_REG_VECTOR ? 'v' : 'x', reg % ISA_REG_VECTOR);
}

/* As in the table. */
static void describe(const struct isa_registers *r, struct text *t)
{
	for (unsigned i = 0; i < r->n_reads; i++) {
		text_str(t, i == 0 && r->n_address > 0 ? "[" : "");
		put_reg(t, r->reads[i]);
		if (i + 1 == r->n_address) {
			t->n--;
			text_str(t, "] ");
		}
	}
	text_str(t, "> ");
	for (unsigned i = 0; i < r->n_writes; i++)
		put_reg(t, r->writes[i]);
	if (r->moved != ISA_REG_NONE)
		text_format(t, "x%u+%d ", r->moved, (int)r->step);
	if (r->is_step)
		text_format(t, "+%d ", (int)r->step);
	t->bytes[t->n - 1] = '\0';
}

static void registers_are_those_of_the_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct isa_registers r;
		struct text text = { 0 };

		assert_true(isa_registers_of(cases[i].word, &r));
		describe(&r, &text);
		assert_string_equal(text.bytes, cases[i].expected);
		text_release(&text);
	}
}

static void what_is_no_instruction(void **state)
{
	static const uint32_t words[] = { 0x00000000, 0x04200000 /* add z0.b, z0.b, z0.b */ };
	struct isa_registers r;

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		assert_false(isa_registers_of(words[i], &r));
}

/* No word makes it write behind its lists. */
static void any_word_is_read(void **state)
{
	struct isa_registers r;
	uint32_t word = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		word = word * 1664525u + 1013904223u;
		if (!isa_registers_of(word, &r))
			continue;
		assert_true(r.n_reads <= ISA_MOST_READ && r.n_writes <= ISA_MOST_WRITTEN);
		assert_true(r.n_address <= r.n_reads);
		for (unsigned k = 0; k < r.n_reads; k++)
			assert_true(r.reads[k] < ISA_N_REGS);
		for (unsigned k = 0; k < r.n_writes; k++)
			assert_true(r.writes[k] < ISA_N_REGS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_those_of_the_manual),
		cmocka_unit_test(what_is_no_instruction),
		cmocka_unit_test(any_word_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

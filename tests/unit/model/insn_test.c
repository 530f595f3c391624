/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of A64 words. The words are what the GNU assembler makes of the text beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/insn.h"

/* Registers by name; one that is written back stands in parentheses. */
static const struct {
	const char *text;
	uint32_t word;
	enum insn_kind kind;
	enum insn_class class;
	enum insn_timing timing;
	uint8_t op; /* of the SPE packet */
	const char *sources, *results;
} cases[] = {
	{ "add x0, x1, x2", 0x8b020020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x1 x2",
	  "x0" },
	{ "add x0, x1, x2, lsl #4", 0x8b021020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00,
	  "x1 x2", "x0" },
	{ "add x0, x1, x2, lsl #5", 0x8b021420, INSN_OTHER, CLASS_INTEGER, TIMING_ALU_SHIFTED, 0x00,
	  "x1 x2", "x0" },
	{ "add x0, x1, w2, uxtw #2", 0x8b224820, INSN_OTHER, CLASS_INTEGER, TIMING_ALU_SHIFTED,
	  0x00, "x1 x2", "x0" },
	{ "orr x0, x1, x2, lsl #20", 0xaa025020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00,
	  "x1 x2", "x0" },
	{ "ands x0, x1, x2, lsl #20", 0xea025020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU_SHIFTED,
	  0x00, "x1 x2", "x0 flags" },
	{ "adds x3, x4, #0x1", 0xb1000483, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x4",
	  "x3 flags" },
	{ "cmp x4, #0x1", 0xf100049f, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x4", "flags" },
	{ "and x0, x1, #0xff", 0x92401c20, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x1",
	  "x0" },
	{ "mov x5, #0x1", 0xd2800025, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "", "x5" },
	{ "movk x5, #0x2, lsl #16", 0xf2a00045, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x5",
	  "x5" },
	{ "adrp x6, .", 0x90000006, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "", "x6" },
	{ "bfi x0, x1, #3, #4", 0xb37d0c20, INSN_OTHER, CLASS_INTEGER, TIMING_ALU_SHIFTED, 0x00,
	  "x0 x1", "x0" },
	{ "ubfx x0, x1, #3, #4", 0xd3431820, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x1",
	  "x0" },
	{ "extr x0, x1, x2, #3", 0x93c20c20, INSN_OTHER, CLASS_INTEGER, TIMING_EXTRACT, 0x00,
	  "x1 x2", "x0" },
	{ "ror x0, x1, #3", 0x93c10c20, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x1 x1",
	  "x0" },
	{ "mul x0, x1, x2", 0x9b027c20, INSN_OTHER, CLASS_INTEGER, TIMING_MULTIPLY_LONG, 0x00,
	  "x1 x2", "x0" },
	{ "madd w0, w1, w2, w3", 0x1b020c20, INSN_OTHER, CLASS_INTEGER, TIMING_MULTIPLY, 0x00,
	  "x1 x2 x3", "x0" },
	{ "umulh x0, x1, x2", 0x9bc27c20, INSN_OTHER, CLASS_INTEGER, TIMING_MULTIPLY_HIGH, 0x00,
	  "x1 x2", "x0" },
	{ "smull x0, w1, w2", 0x9b227c20, INSN_OTHER, CLASS_INTEGER, TIMING_MULTIPLY, 0x00, "x1 x2",
	  "x0" },
	{ "udiv x0, x1, x2", 0x9ac20820, INSN_OTHER, CLASS_INTEGER, TIMING_DIVIDE_LONG, 0x00,
	  "x1 x2", "x0" },
	{ "sdiv w0, w1, w2", 0x1ac20c20, INSN_OTHER, CLASS_INTEGER, TIMING_DIVIDE, 0x00, "x1 x2",
	  "x0" },
	{ "crc32b w0, w1, w2", 0x1ac24020, INSN_OTHER, CLASS_INTEGER, TIMING_CRC, 0x00, "x1 x2",
	  "x0" },
	{ "lsl x0, x1, x2", 0x9ac22020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x1 x2",
	  "x0" },
	{ "clz x0, x1", 0xdac01020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "x1", "x0" },
	{ "csel x0, x1, x2, eq", 0x9a820020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x01,
	  "flags x1 x2", "x0" },
	{ "ccmp x1, x2, #0x0, ne", 0xfa421020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x01,
	  "flags x1 x2", "flags" },
	{ "ccmp x1, #0x3, #0x0, ne", 0xfa431820, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x01,
	  "flags x1", "flags" },
	{ "adc x0, x1, x2", 0x9a020020, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "flags x1 x2",
	  "x0" },
	{ "mov x0, sp", 0x910003e0, INSN_OTHER, CLASS_INTEGER, TIMING_ALU, 0x00, "", "x0" },
	{ "b .", 0x14000000, INSN_BRANCH, CLASS_BRANCH, TIMING_BRANCH, 0x00, "", "" },
	{ "bl .", 0x94000000, INSN_BRANCH, CLASS_BRANCH, TIMING_BRANCH, 0x00, "", "x30" },
	{ "b.eq .", 0x54000000, INSN_BRANCH, CLASS_BRANCH, TIMING_BRANCH, 0x01, "flags", "" },
	{ "cbz x3, .", 0xb4000003, INSN_BRANCH, CLASS_BRANCH, TIMING_BRANCH, 0x01, "x3", "" },
	{ "tbnz w3, #2, .", 0x37100003, INSN_BRANCH, CLASS_BRANCH, TIMING_BRANCH, 0x01, "x3", "" },
	{ "br x4", 0xd61f0080, INSN_BRANCH, CLASS_BRANCH, TIMING_BRANCH, 0x02, "x4", "" },
	{ "blr x4", 0xd63f0080, INSN_BRANCH, CLASS_BRANCH, TIMING_BRANCH, 0x02, "x4", "x30" },
	{ "ret", 0xd65f03c0, INSN_BRANCH, CLASS_BRANCH, TIMING_BRANCH, 0x02, "x30", "" },
	{ "svc #0x0", 0xd4000001, INSN_OTHER, CLASS_SYSTEM, TIMING_SYSTEM, 0x00, "", "" },
	{ "nop", 0xd503201f, INSN_OTHER, CLASS_SYSTEM, TIMING_ALU, 0x00, "", "" },
	{ "dmb ish", 0xd5033bbf, INSN_OTHER, CLASS_DMB, TIMING_SYSTEM, 0x00, "", "" },
	{ "dsb ish", 0xd5033b9f, INSN_OTHER, CLASS_DSB, TIMING_SYSTEM, 0x00, "", "" },
	{ "isb", 0xd5033fdf, INSN_OTHER, CLASS_ISB, TIMING_SYSTEM, 0x00, "", "" },
	{ "mrs x1, tpidr_el0", 0xd53bd041, INSN_OTHER, CLASS_SYSTEM, TIMING_SYSTEM, 0x00, "",
	  "x1" },
	{ "msr tpidr_el0, x1", 0xd51bd041, INSN_OTHER, CLASS_SYSTEM, TIMING_SYSTEM, 0x00, "x1",
	  "" },
	{ "ldr x0, [x1, #8]", 0xf9400420, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "x1", "x0" },
	{ "ldr x0, [x1, x2]", 0xf8626820, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "x1 x2", "x0" },
	{ "ldr x0, [x1], #8", 0xf8408420, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "x1",
	  "x0 (x1)" },
	{ "ldr x0, [x1, #8]!", 0xf8408c20, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "x1",
	  "x0 (x1)" },
	{ "ldr w0, [sp, #16]", 0xb94013e0, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "", "x0" },
	{ "ldrsw x0, [x1, #4]", 0xb9800420, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "x1", "x0" },
	{ "str x0, [x1, #8]", 0xf9000420, INSN_STORE, CLASS_STORE, TIMING_STORE, 0x01, "x1 x0",
	  "" },
	{ "str xzr, [x1], #8", 0xf800843f, INSN_STORE, CLASS_STORE, TIMING_STORE, 0x01, "x1",
	  "(x1)" },
	{ "ldp x0, x3, [x1, #16]", 0xa9410c20, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "x1",
	  "x0 x3" },
	{ "stp x0, x3, [sp, #-16]!", 0xa9bf0fe0, INSN_STORE, CLASS_STORE, TIMING_STORE, 0x01,
	  "x0 x3", "" },
	{ "ldr q0, [x1, #16]", 0x3dc00420, INSN_LOAD, CLASS_LOAD, TIMING_LOAD_VECTOR, 0x04, "x1",
	  "v0" },
	{ "str d0, [x1, #8]", 0xfd000420, INSN_STORE, CLASS_STORE, TIMING_STORE, 0x05, "x1 v0",
	  "" },
	{ "ldp q0, q1, [x1]", 0xad400420, INSN_LOAD, CLASS_LOAD, TIMING_LOAD_VECTOR, 0x04, "x1",
	  "v0 v1" },
	{ "ldr x0, .", 0x58000000, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "", "x0" },
	{ "prfm pldl1keep, [x1, #64]", 0xf9802020, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x00, "x1",
	  "" },
	{ "ldxr x0, [x1]", 0xc85f7c20, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x0a, "x1", "x0" },
	{ "stxr w2, x0, [x1]", 0xc8027c20, INSN_STORE, CLASS_STORE, TIMING_STORE, 0x0b, "x1 x0",
	  "x2" },
	{ "ldaxr x0, [x1]", 0xc85ffc20, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x1a, "x1", "x0" },
	{ "stlxr w2, x0, [x1]", 0xc802fc20, INSN_STORE, CLASS_STORE, TIMING_STORE, 0x1b, "x1 x0",
	  "x2" },
	{ "ldar x0, [x1]", 0xc8dffc20, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x12, "x1", "x0" },
	{ "stlr x0, [x1]", 0xc89ffc20, INSN_STORE, CLASS_STORE, TIMING_STORE, 0x13, "x1 x0", "" },
	{ "ldapr x0, [x1]", 0xf8bfc020, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x12, "x1", "x0" },
	{ "ldadd x0, x2, [x1]", 0xf8200022, INSN_ATOMIC, CLASS_LOAD, TIMING_LOAD, 0x06, "x1 x0",
	  "x2" },
	{ "ldaddal x0, x2, [x1]", 0xf8e00022, INSN_ATOMIC, CLASS_LOAD, TIMING_LOAD, 0x16, "x1 x0",
	  "x2" },
	{ "stadd x0, [x1]", 0xf820003f, INSN_ATOMIC, CLASS_LOAD, TIMING_LOAD, 0x06, "x1 x0", "" },
	{ "swpa x0, x2, [x1]", 0xf8a08022, INSN_ATOMIC, CLASS_LOAD, TIMING_LOAD, 0x16, "x1 x0",
	  "x2" },
	{ "cas x0, x2, [x1]", 0xc8a07c22, INSN_ATOMIC, CLASS_LOAD, TIMING_LOAD, 0x06, "x1 x2 x0",
	  "x0" },
	{ "casal x0, x2, [x1]", 0xc8e0fc22, INSN_ATOMIC, CLASS_LOAD, TIMING_LOAD, 0x16, "x1 x2 x0",
	  "x0" },
	{ "casp x0, x1, x2, x3, [x4]", 0x48207c82, INSN_ATOMIC, CLASS_LOAD, TIMING_LOAD, 0x06,
	  "x4 x2 x0", "x0" },
	{ "ldxp x0, x2, [x1]", 0xc87f0820, INSN_LOAD, CLASS_LOAD, TIMING_LOAD, 0x0a, "x1",
	  "x0 x2" },
	{ "ld1 {v0.4s}, [x1]", 0x4c407820, INSN_LOAD, CLASS_LOAD, TIMING_LOAD_VECTOR, 0x04, "x1",
	  "v0" },
	{ "ld1 {v0.4s, v1.4s}, [x1], #32", 0x4cdfa820, INSN_LOAD, CLASS_LOAD, TIMING_LOAD_VECTOR,
	  0x04, "x1", "v0 v1 (x1)" },
	{ "ld2 {v0.4s, v1.4s}, [x1]", 0x4c408820, INSN_LOAD, CLASS_LOAD, TIMING_LOAD_VECTOR, 0x04,
	  "x1", "v0 v1" },
	{ "st1 {v0.4s}, [x1]", 0x4c007820, INSN_STORE, CLASS_STORE, TIMING_STORE, 0x05, "x1 v0",
	  "" },
	{ "ld1r {v0.4s}, [x1]", 0x4d40c820, INSN_LOAD, CLASS_LOAD, TIMING_LOAD_VECTOR, 0x04, "x1",
	  "v0" },
	{ "fadd d0, d1, d2", 0x1e622820, INSN_OTHER, CLASS_FLOAT, TIMING_FLOAT_ADD, 0x00, "v1 v2",
	  "v0" },
	{ "fmul d0, d1, d2", 0x1e620820, INSN_OTHER, CLASS_FLOAT, TIMING_FLOAT_MULTIPLY, 0x00,
	  "v1 v2", "v0" },
	{ "fdiv s0, s1, s2", 0x1e221820, INSN_OTHER, CLASS_FLOAT, TIMING_FLOAT_DIVIDE, 0x00,
	  "v1 v2", "v0" },
	{ "fsqrt d0, d1", 0x1e61c020, INSN_OTHER, CLASS_FLOAT, TIMING_FLOAT_ROOT, 0x00, "v1",
	  "v0" },
	{ "fmadd d0, d1, d2, d3", 0x1f420c20, INSN_OTHER, CLASS_FLOAT, TIMING_FLOAT_FUSED, 0x00,
	  "v1 v2 v3", "v0" },
	{ "fcmp d1, d2", 0x1e622020, INSN_OTHER, CLASS_FLOAT, TIMING_FLOAT_ADD, 0x00, "v1 v2",
	  "flags" },
	{ "fcsel d0, d1, d2, eq", 0x1e620c20, INSN_OTHER, CLASS_FLOAT, TIMING_FLOAT_ADD, 0x01,
	  "v1 v2 flags", "v0" },
	{ "fcvt d0, s1", 0x1e22c020, INSN_OTHER, CLASS_FLOAT, TIMING_CONVERT, 0x00, "v1", "v0" },
	{ "scvtf d0, x1", 0x9e620020, INSN_OTHER, CLASS_FLOAT, TIMING_CONVERT_TO_VECTOR, 0x00, "x1",
	  "v0" },
	{ "fcvtzs x0, d1", 0x9e780020, INSN_OTHER, CLASS_FLOAT, TIMING_CONVERT_TO_GENERAL, 0x00,
	  "v1", "x0" },
	{ "fmov x0, d1", 0x9e660020, INSN_OTHER, CLASS_FLOAT, TIMING_MOVE_TO_GENERAL, 0x00, "v1",
	  "x0" },
	{ "fmov d0, x1", 0x9e670020, INSN_OTHER, CLASS_FLOAT, TIMING_MOVE_TO_VECTOR, 0x00, "x1",
	  "v0" },
	{ "fmov d0, #1.000000000000000000e+00", 0x1e6e1000, INSN_OTHER, CLASS_FLOAT, TIMING_VECTOR,
	  0x00, "", "v0" },
	{ "fmov d0, d1", 0x1e604020, INSN_OTHER, CLASS_FLOAT, TIMING_FLOAT_ADD, 0x00, "v1", "v0" },
	{ "add v0.4s, v1.4s, v2.4s", 0x4ea28420, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR, 0x00,
	  "v1 v2", "v0" },
	{ "mla v0.4s, v1.4s, v2.4s", 0x4ea29420, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR_MULTIPLY,
	  0x00, "v1 v2 v0", "v0" },
	{ "mul v0.4s, v1.4s, v2.4s", 0x4ea29c20, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR_MULTIPLY,
	  0x00, "v1 v2", "v0" },
	{ "fmla v0.2d, v1.2d, v2.2d", 0x4e62cc20, INSN_OTHER, CLASS_VECTOR, TIMING_FLOAT_FUSED,
	  0x00, "v1 v2 v0", "v0" },
	{ "fadd v0.2d, v1.2d, v2.2d", 0x4e62d420, INSN_OTHER, CLASS_VECTOR, TIMING_FLOAT_ADD, 0x00,
	  "v1 v2", "v0" },
	{ "fdiv v0.2d, v1.2d, v2.2d", 0x6e62fc20, INSN_OTHER, CLASS_VECTOR, TIMING_FLOAT_DIVIDE,
	  0x00, "v1 v2", "v0" },
	{ "fmla v0.2d, v1.2d, v2.d[0]", 0x4fc21020, INSN_OTHER, CLASS_VECTOR, TIMING_FLOAT_FUSED,
	  0x00, "v1 v2 v0", "v0" },
	{ "mov w0, v1.s[1]", 0x0e0c3c20, INSN_OTHER, CLASS_VECTOR, TIMING_MOVE_TO_GENERAL, 0x00,
	  "v1", "x0" },
	{ "dup v0.4s, w1", 0x4e040c20, INSN_OTHER, CLASS_VECTOR, TIMING_MOVE_TO_VECTOR, 0x00, "x1",
	  "v0" },
	{ "mov v0.s[1], w1", 0x4e0c1c20, INSN_OTHER, CLASS_VECTOR, TIMING_MOVE_TO_VECTOR, 0x00,
	  "x1 v0", "v0" },
	{ "scvtf v0.4s, v1.4s", 0x4e21d820, INSN_OTHER, CLASS_VECTOR, TIMING_CONVERT, 0x00, "v1",
	  "v0" },
	{ "fsqrt v0.2d, v1.2d", 0x6ee1f820, INSN_OTHER, CLASS_VECTOR, TIMING_FLOAT_ROOT, 0x00, "v1",
	  "v0" },
	{ "smlal v0.2d, v1.2s, v2.2s", 0x0ea28020, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR_MULTIPLY,
	  0x00, "v1 v2 v0", "v0" },
	{ "mul v0.4s, v1.4s, v2.s[0]", 0x4f828020, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR_MULTIPLY,
	  0x00, "v1 v2", "v0" },
	{ "aese v0.16b, v1.16b", 0x4e284820, INSN_OTHER, CLASS_CRYPTO, TIMING_CRYPTO, 0x00, "v1 v0",
	  "v0" },
	{ "smull v0.2d, v1.2s, v2.2s", 0x0ea2c020, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR_MULTIPLY,
	  0x00, "v1 v2", "v0" },
	{ "cnt v0.8b, v1.8b", 0x0e205820, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR, 0x00, "v1",
	  "v0" },
	{ "addv s0, v1.4s", 0x4eb1b820, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR, 0x00, "v1", "v0" },
	{ "tbl v0.16b, {v1.16b}, v2.16b", 0x4e020020, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR, 0x00,
	  "v1 v2", "v0" },
	{ "movi v0.4s, #0x0", 0x4f000400, INSN_OTHER, CLASS_VECTOR, TIMING_VECTOR, 0x00, "", "v0" },
};

static void name_register(struct text *out, unsigned reg)
{
	if (out->n > 0)
		text_char(out, ' ');
	if (reg == REG_FLAGS)
		text_str(out, "flags");
	else
		text_format(out, "%c%u", reg < REG_VECTOR ? 'x' : 'v',
			    reg < REG_VECTOR ? reg : reg - REG_VECTOR);
}

static void check_names(const char *what, struct text *found, const char *wanted, const char *text)
{
	text_char(found, '\0');
	if (strcmp(found->bytes, wanted) != 0)
		fail_msg("%s: %s are '%s', wanted '%s'", text, what, found->bytes, wanted);
	text_release(found);
}

static void decodes_what_the_assembler_wrote(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct insn in = insn_decode(0x1000, cases[i].word);
		struct text sources = { 0 }, results = { 0 };

		for (size_t k = 0; k < COUNT(in.sources) && in.sources[k] != REG_NONE; k++)
			name_register(&sources, in.sources[k]);
		for (size_t k = 0; k < COUNT(in.results) && in.results[k] != REG_LOST; k++)
			name_register(&results, in.results[k]);
		if (in.early_result != REG_LOST)
			text_format(&results, "%s(x%u)", results.n > 0 ? " " : "", in.early_result);
		check_names("sources", &sources, cases[i].sources, cases[i].text);
		check_names("results", &results, cases[i].results, cases[i].text);
		if (in.kind != cases[i].kind || in.class != cases[i].class ||
		    in.timing != cases[i].timing || in.op != cases[i].op)
			fail_msg("%s: kind %u, class %u, timing %u, op 0x%x", cases[i].text,
				 in.kind, in.class, in.timing, in.op);
	}
}

static void knows_the_units(void **state)
{
	static const struct {
		const char *text;
		uint32_t word;
		enum insn_unit unit;
		uint8_t n;
		enum insn_unit second;
		uint8_t n_second;
	} more[] = {
		{ "add x0, x1, x2", 0x8b020020, UNIT_INTEGER, 1, UNIT_NONE, 0 },
		{ "add x0, x1, x2, lsl #5", 0x8b021420, UNIT_MULTICYCLE, 1, UNIT_NONE, 0 },
		{ "udiv x0, x1, x2", 0x9ac20820, UNIT_MULTICYCLE, 1, UNIT_NONE, 0 },
		{ "nop", 0xd503201f, UNIT_NONE, 0, UNIT_NONE, 0 },
		{ "b.eq .", 0x54000000, UNIT_BRANCH, 1, UNIT_NONE, 0 },
		{ "bl .", 0x94000000, UNIT_BRANCH, 1, UNIT_INTEGER, 1 },
		{ "ldr x0, [x1, #8]", 0xf9400420, UNIT_MEMORY, 1, UNIT_NONE, 0 },
		{ "ldr x0, [x1], #8", 0xf8408420, UNIT_MEMORY, 1, UNIT_INTEGER, 1 },
		{ "ldp x0, x3, [x1, #16]", 0xa9410c20, UNIT_MEMORY, 2, UNIT_NONE, 0 },
		{ "ldp w0, w3, [x1, #16]", 0x29420c20, UNIT_MEMORY, 1, UNIT_NONE, 0 },
		{ "str x0, [x1, #8]", 0xf9000420, UNIT_MEMORY, 1, UNIT_NONE, 0 },
		{ "str d0, [x1, #8]", 0xfd000420, UNIT_MEMORY, 1, UNIT_VECTOR, 1 },
		{ "str q0, [x1, #16]", 0x3d800420, UNIT_MEMORY, 2, UNIT_VECTOR, 2 },
		{ "stp q0, q1, [x1]", 0xad000420, UNIT_MEMORY, 4, UNIT_VECTOR, 2 },
		{ "ld1 {v0.4s}, [x1]", 0x4c407820, UNIT_MEMORY, 1, UNIT_NONE, 0 },
		{ "ld2 {v0.4s, v1.4s}, [x1]", 0x4c408820, UNIT_MEMORY, 2, UNIT_VECTOR, 2 },
		{ "fadd d0, d1, d2", 0x1e622820, UNIT_VECTOR, 1, UNIT_NONE, 0 },
		{ "fcmp d1, d2", 0x1e622020, UNIT_VECTOR_FIRST, 1, UNIT_NONE, 0 },
		{ "fdiv s0, s1, s2", 0x1e221820, UNIT_VECTOR_FIRST, 1, UNIT_NONE, 0 },
		{ "scvtf d0, x1", 0x9e620020, UNIT_MULTICYCLE, 1, UNIT_VECTOR_FIRST, 1 },
		{ "fmov x0, d1", 0x9e660020, UNIT_VECTOR_LAST, 1, UNIT_NONE, 0 },
		{ "mul v0.4s, v1.4s, v2.4s", 0x4ea29c20, UNIT_VECTOR_FIRST, 2, UNIT_NONE, 0 },
		{ "mul v0.2s, v1.2s, v2.2s", 0x0ea29c20, UNIT_VECTOR_FIRST, 1, UNIT_NONE, 0 },
		{ "smull2 v0.2d, v1.4s, v2.4s", 0x4ea2c020, UNIT_VECTOR_FIRST, 1, UNIT_NONE, 0 },
		{ "ushr v0.4s, v1.4s, #3", 0x6f3d0420, UNIT_VECTOR_LAST, 1, UNIT_NONE, 0 },
		{ "addv s0, v1.4s", 0x4eb1b820, UNIT_VECTOR_LAST, 1, UNIT_NONE, 0 },
		{ "movi v0.4s, #0x0", 0x4f000400, UNIT_VECTOR, 1, UNIT_NONE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(more); i++) {
		struct insn in = insn_decode(0x1000, more[i].word);

		if (in.unit != more[i].unit || in.n_uses != more[i].n ||
		    in.second_unit != more[i].second || in.n_second_uses != more[i].n_second)
			fail_msg("%s: units %u x %u, %u x %u", more[i].text, in.unit, in.n_uses,
				 in.second_unit, in.n_second_uses);
	}
}

static void tells_branches_and_order(void **state)
{
	static const struct {
		const char *text;
		uint32_t word;
		uint8_t branch;
		uint16_t flags;
	} more[] = {
		{ "b .", 0x14000000, BRANCH_DIRECT, 0 },
		{ "bl .", 0x94000000, BRANCH_DIRECT, INSN_CALL },
		{ "b.eq .", 0x54000000, BRANCH_CONDITIONAL, 0 },
		{ "br x4", 0xd61f0080, BRANCH_INDIRECT, 0 },
		{ "blr x4", 0xd63f0080, BRANCH_INDIRECT, INSN_CALL },
		{ "ret", 0xd65f03c0, BRANCH_RETURN, 0 },
		{ "prfm pldl1keep, [x1]", 0xf9800020, 0, INSN_PREFETCH | INSN_UNSEEN },
		{ "dmb ish", 0xd5033bbf, 0, INSN_BARRIER },
		{ "isb", 0xd5033fdf, 0, INSN_FLUSH },
		{ "ldar x0, [x1]", 0xc8dffc20, 0, INSN_ACQUIRE | INSN_AFTER_RELEASE },
		{ "ldapr x0, [x1]", 0xf8bfc020, 0, INSN_ACQUIRE },
		{ "ldapur x0, [x1]", 0xd9400020, 0, INSN_ACQUIRE },
		{ "stlur x0, [x1]", 0xd9000020, 0, INSN_RELEASE },
		{ "ldaxr x0, [x1]", 0xc85ffc20, 0,
		  INSN_EXCLUSIVE | INSN_ACQUIRE | INSN_AFTER_RELEASE },
		{ "stlxr w2, x0, [x1]", 0xc802fc20, 0, INSN_EXCLUSIVE | INSN_RELEASE },
		{ "ldaddal x0, x2, [x1]", 0xf8e00022, 0,
		  INSN_ACQUIRE | INSN_AFTER_RELEASE | INSN_RELEASE },
		{ "swp x0, x2, [x1]", 0xf8208022, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(more); i++) {
		struct insn in = insn_decode(0x1000, more[i].word);

		if (in.branch != more[i].branch || in.flags != more[i].flags)
			fail_msg("%s: branch %u, flags 0x%x", more[i].text, in.branch, in.flags);
	}
}

/* Whatever the word, registers are within their table and the operation has a class. */
static void survives_any_word(void **state)
{
	uint32_t word = 1;

	(void)state;
	for (int i = 0; i < 2000000; i++) {
		struct insn in;

		word = word * 1664525 + 1013904223;
		in = insn_decode(0x1000, word ^ word >> 15);
		for (size_t k = 0; k < COUNT(in.sources); k++)
			assert_true(in.sources[k] <= REG_NONE);
		for (size_t k = 0; k < COUNT(in.results); k++)
			assert_true(in.results[k] < N_REGS);
		assert_true(in.early_result < N_REGS && in.timing < N_TIMINGS &&
			    in.class < N_INSN_CLASSES && in.op_class < 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_what_the_assembler_wrote),
		cmocka_unit_test(knows_the_units),
		cmocka_unit_test(tells_branches_and_order),
		cmocka_unit_test(survives_any_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/frame_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/alloc.h"

enum { STACK = 0x1000, SP = 7, RA = 16, SAVED = 3 };

static const uint64_t words[4] = { 0x11, 0x22, 0x33, 0x44 };

/* A stack of four words at STACK; the stack pointer is there. */
static struct frame_state state_of_test(void)
{
	struct frame_state s = {
		.known = 1u << SP | 1u << SAVED,
		.stack_start = STACK,
		.stack = (const uint8_t *)words,
		.stack_size = sizeof(words),
	};

	s.registers[SP] = STACK;
	s.registers[SAVED] = 0x99;
	return s;
}

static void stack_is_read_within_its_bounds(void **state)
{
	static const struct {
		uint64_t address;
		bool is_there;
	} cases[] = {
		{ STACK, true },      { STACK + 8, true },	 { STACK + 24, true },
		{ STACK + 4, true },  { STACK + 25, false },	 { STACK + 32, false },
		{ STACK - 1, false }, { UINT64_MAX - 3, false }, { 0, false },
	};
	struct frame_state s = state_of_test();
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(frame_state_read(&s, cases[i].address, &value), cases[i].is_there);
	assert_true(frame_state_read(&s, STACK + 8, &value));
	assert_int_equal(value, 0x22);
	s.stack_size = 7;
	assert_false(frame_state_read(&s, STACK, &value));
}

static const struct expression_case {
	const char *text;
	Dwarf_Op ops[8];
	size_t n;
	enum frame_outcome outcome;
	uint64_t value;
} expressions[] = {
	{ "breg7 8; deref",
	  { { .atom = DW_OP_breg0 + SP, .number = 8 }, { .atom = DW_OP_deref } },
	  2,
	  FRAME_STEPPED,
	  0x22 },
	/* What linkers write for the procedure linkage table. */
	{ "breg7 8; breg3 0; lit15; and; lit9; ge; lit3; shl",
	  { { .atom = DW_OP_breg0 + SP, .number = 8 },
	    { .atom = DW_OP_breg0 + SAVED },
	    { .atom = DW_OP_lit0 + 15 },
	    { .atom = DW_OP_and },
	    { .atom = DW_OP_lit0 + 9 },
	    { .atom = DW_OP_ge },
	    { .atom = DW_OP_lit0 + 3 },
	    { .atom = DW_OP_shl } },
	  8,
	  FRAME_STEPPED,
	  8 },
	{ "const1s -1; const1u 1; shra",
	  { { .atom = DW_OP_const1s, .number = UINT64_MAX },
	    { .atom = DW_OP_const1u, .number = 1 },
	    { .atom = DW_OP_shra } },
	  3,
	  FRAME_STEPPED,
	  UINT64_MAX },
	{ "lit1; const1u 64; shl",
	  { { .atom = DW_OP_lit1 },
	    { .atom = DW_OP_const1u, .number = 64 },
	    { .atom = DW_OP_shl } },
	  3,
	  FRAME_STEPPED,
	  0 },
	{ "lit2; lit5; swap; minus; stack_value",
	  { { .atom = DW_OP_lit2 },
	    { .atom = DW_OP_lit5 },
	    { .atom = DW_OP_swap },
	    { .atom = DW_OP_minus },
	    { .atom = DW_OP_stack_value } },
	  5,
	  FRAME_STEPPED,
	  3 },
	{ "call_frame_cfa; plus_uconst -16",
	  { { .atom = DW_OP_call_frame_cfa }, { .atom = DW_OP_plus_uconst, .number = -16ull } },
	  2,
	  FRAME_STEPPED,
	  0x1ff0 },
	{ "breg7 8; deref_size 1",
	  { { .atom = DW_OP_breg0 + SP, .number = 8 }, { .atom = DW_OP_deref_size, .number = 1 } },
	  2,
	  FRAME_STEPPED,
	  0x22 },
	{ "lit0; deref",
	  { { .atom = DW_OP_lit0 }, { .atom = DW_OP_deref } },
	  2,
	  FRAME_NO_MEMORY,
	  0 },
	{ "breg5, which is not known", { { .atom = DW_OP_breg5 } }, 1, FRAME_UNKNOWN, 0 },
	{ "bregx 99", { { .atom = DW_OP_bregx, .number = 99 } }, 1, FRAME_UNKNOWN, 0 },
	{ "plus of nothing", { { .atom = DW_OP_plus } }, 1, FRAME_UNKNOWN, 0 },
	{ "pick 3 of one",
	  { { .atom = DW_OP_lit1 }, { .atom = DW_OP_pick, .number = 3 } },
	  2,
	  FRAME_UNKNOWN,
	  0 },
	{ "skip, which is not followed",
	  { { .atom = DW_OP_lit1 }, { .atom = DW_OP_skip } },
	  2,
	  FRAME_UNKNOWN,
	  0 },
	{ "deref_size 9",
	  { { .atom = DW_OP_lit1 }, { .atom = DW_OP_deref_size, .number = 9 } },
	  2,
	  FRAME_UNKNOWN,
	  0 },
	{ "nothing", { { 0 } }, 0, FRAME_UNKNOWN, 0 },
};

static void expressions_have_values(void **state)
{
	const struct frame_state s = state_of_test();
	const uint64_t frame = 0x2000;

	(void)state;
	for (size_t i = 0; i < COUNT(expressions); i++) {
		const struct expression_case *c = &expressions[i];
		uint64_t value = 0;
		enum frame_outcome outcome = frame_expression(&s, c->ops, c->n, &frame, &value);

		if (outcome != c->outcome || (outcome == FRAME_STEPPED && value != c->value))
			fail_msg("%s: outcome %d, value 0x%lx", c->text, outcome,
				 (unsigned long)value);
	}
}

/* However long and deep it is, it ends. */
static void expressions_are_bounded(void **state)
{
	const struct frame_state s = state_of_test();
	Dwarf_Op *ops = mem_zalloc(1000, sizeof(*ops));
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		ops[i].atom = DW_OP_lit1;
	assert_int_equal(frame_expression(&s, ops, 32, NULL, &value), FRAME_STEPPED);
	assert_int_equal(frame_expression(&s, ops, 33, NULL, &value), FRAME_UNKNOWN);
	assert_int_equal(frame_expression(&s, ops, 1000, NULL, &value), FRAME_UNKNOWN);
	free(ops);
}

/* "The frame is 24 bytes above the stack pointer, the return address is its last word." */
static struct frame_rules rules_of_test(void)
{
	struct frame_rules r = {
		.address_register = SP,
		.address = { .offset = 24 },
		.return_register = RA,
	};

	for (size_t i = 0; i < FRAME_REGISTERS; i++)
		r.registers[i].kind = RULE_UNDEFINED;
	r.registers[RA] = (struct frame_rule){ .kind = RULE_MEMORY, .offset = -8 };
	r.registers[SAVED] = (struct frame_rule){ .kind = RULE_MEMORY, .offset = -16 };
	r.registers[4] = (struct frame_rule){ .kind = RULE_REGISTER, .offset = SAVED };
	r.registers[5] = (struct frame_rule){ .kind = RULE_SAME };
	return r;
}

static void rules_lead_to_the_caller(void **state)
{
	struct frame_rules r = rules_of_test();
	struct frame_state s = state_of_test();
	uint64_t pc = 0;

	(void)state;
	assert_int_equal(frame_rules_apply(&r, SP, &s, &pc), FRAME_STEPPED);
	assert_int_equal(pc, 0x33);
	assert_int_equal(s.registers[SP], STACK + 24);
	assert_int_equal(s.registers[SAVED], 0x22);
	assert_int_equal(s.registers[4], 0x99);
	assert_int_equal(s.known, 1u << SP | 1u << SAVED | 1u << 4 | 1u << RA);
}

static void what_fails_changes_nothing(void **state)
{
	struct frame_rules r = rules_of_test();
	struct frame_state s = state_of_test(), before = s;
	uint64_t pc = 7;

	(void)state;
	r.address.offset = 4096;
	assert_int_equal(frame_rules_apply(&r, SP, &s, &pc), FRAME_NO_MEMORY);
	r = rules_of_test();
	r.address_register = 12;
	assert_int_equal(frame_rules_apply(&r, SP, &s, &pc), FRAME_UNKNOWN);
	r = rules_of_test();
	r.registers[RA].kind = RULE_UNDEFINED;
	assert_int_equal(frame_rules_apply(&r, SP, &s, &pc), FRAME_OUTERMOST);
	assert_int_equal(pc, 7);
	assert_memory_equal(&s, &before, sizeof(s));
}

/* At a function's first instruction nothing is said of registers: what functions preserve is the caller's. */
static void preserved_registers_are_the_same(void **state)
{
#ifdef __x86_64__
	static const int preserved[] = { 3, 6, 12, 13, 14, 15 };
#else
	static const int preserved[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29 };
#endif
	int fd = open("/proc/self/exe", O_RDONLY);
	Elf *elf;
	Dwarf_CFI *cfi;
	GElf_Ehdr header;
	uint64_t address, mask = 0;
	struct frame_rules r;

	(void)state;
	for (size_t i = 0; i < COUNT(preserved); i++)
		mask |= (uint64_t)1 << preserved[i];
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(gelf_getehdr(elf, &header));
	/* From where the file is loaded to where this function begins. */
	address = (uint64_t)(uintptr_t)preserved_registers_are_the_same -
		  (header.e_type == ET_DYN ? getauxval(AT_ENTRY) - header.e_entry : 0);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	assert_true(frame_rules_read(cfi, address, mask, &r));
	for (size_t i = 0; i < COUNT(preserved); i++)
		assert_int_equal(r.registers[preserved[i]].kind, RULE_SAME);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_is_read_within_its_bounds),
		cmocka_unit_test(expressions_have_values),
		cmocka_unit_test(expressions_are_bounded),
		cmocka_unit_test(rules_lead_to_the_caller),
		cmocka_unit_test(what_fails_changes_nothing),
		cmocka_unit_test(preserved_registers_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

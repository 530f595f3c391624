/* SPDX-License-Identifier: Apache-2.0 */
/* Chains around loops, and how their addresses move: words as GNU as made them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "bottleneck/chain.h"

enum { MOST = 9 };

#define COUNT_DOWN                                                                                 \
	{                                                                                          \
		0xd1000421, 1, false                                                               \
	} /* sub x1, x1, #1 */
#define BACK                                                                                       \
	{                                                                                          \
		0xb5ffff81, 1, false                                                               \
	} /* cbnz x1 */

static const struct {
	const char *what;
	struct loop_insn code[MOST];
	size_t n;
	double cycles;
	double parts[MOST]; /* of each instruction */
} chains[] = {
	{ "ldr x0, [x0]", { { 0xf9400000, 300, false }, COUNT_DOWN, BACK }, 3, 300, { 300 } },
	{ "ldr x2, [x0]; ldr x0, [x2, #8]: one after the other",
	  { { 0xf9400002, 20, false }, { 0xf9400440, 30, false }, COUNT_DOWN, BACK },
	  4,
	  50,
	  { 20, 30 } },
	{ "ldr x0, [x0]; mov x3, x0; add x4, x4, x3: what hangs on it is no part of it",
	  { { 0xf9400000, 9, false },
	    { 0xaa0003e3, 1, false },
	    { 0x8b030084, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  9,
	  { 9 } },
	{ "add x5, x6, x6; ldr x0, [x0]; add x6, x0, x0: what hangs on it is used an iteration "
	  "later",
	  { { 0x8b0600c5, 1, false },
	    { 0xf9400000, 9, false },
	    { 0x8b000006, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  9,
	  { 0, 9 } },
	{ "fmadd d0, d1, d2, d0 of what is loaded anew each time",
	  { { 0xfc408401, 100, false }, { 0x1f420020, 4, false }, COUNT_DOWN, BACK },
	  4,
	  4,
	  { 0, 4 } },
	{ "mov x3, x2; ldr x2, [x0]; ldr x0, [x3]: over two iterations, half in each",
	  { { 0xaa0203e3, 1, false },
	    { 0xf9400002, 40, false },
	    { 0xf9400060, 59, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  50,
	  { 0.5, 20, 29.5 } },
	{ "ldr x2, [sp, #8]; add x2, x2, #1; str x2, [sp, #8]: through memory",
	  { { 0xf94007e2, 4, false },
	    { 0x91000442, 1, false },
	    { 0xf90007e2, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  6,
	  { 4, 1, 1 } },
	{ "the same, whose load waits 30 cycles for the store: that is in the store's time already",
	  { { 0xf94007e2, 30, false },
	    { 0x91000442, 1, false },
	    { 0xf90007e2, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  6,
	  { 4, 1, 1 } },
	{ "what is rare does not break it: mov x0, x5",
	  { { 0xf9400000, 300, false }, { 0xaa0503e0, 1, true }, COUNT_DOWN, BACK },
	  4,
	  300,
	  { 300 } },
	{ "an index that is there at once: ldr x2, [x0], #8",
	  { { 0xf8408402, 300, false }, BACK },
	  2,
	  1,
	  { 1 } },
	{ "nothing: ldr x2, [x0]; cbnz x1", { { 0xf9400002, 300, false }, BACK }, 2, 0, { 0 } },
	{ "a call", { { 0xf9400000, 300, false }, { 0x94000010, 1, false }, BACK }, 3, 0, { 0 } },
	{ "not known: SVE",
	  { { 0xf9400000, 300, false }, { 0x04200000, 1, false }, BACK },
	  3,
	  0,
	  { 0 } },
};

static void the_longest_way_around_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(chains); i++) {
		double parts[MOST], cycles = chain_find(chains[i].code, chains[i].n, parts);

		if (cycles < chains[i].cycles - 0.01 || cycles > chains[i].cycles + 0.01)
			fail_msg("%s: %g", chains[i].what, cycles);
		for (size_t k = 0; k < chains[i].n; k++)
			if (parts[k] < chains[i].parts[k] - 0.01 ||
			    parts[k] > chains[i].parts[k] + 0.01)
				fail_msg("%s: %g at %zu", chains[i].what, parts[k], k);
	}
}

/* Loads and stores of one place, as if it were a register. */
static const struct {
	const char *what;
	struct loop_insn code[MOST];
	size_t n;
	double cycles;
	bool is_slot[MOST];
} slots[] = {
	{ "ldr x2, [sp, #8]; add x2, x2, #1; str x2, [sp, #8]",
	  { { 0xf94007e2, 4, false },
	    { 0x91000442, 1, false },
	    { 0xf90007e2, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  1,
	  { true, false, true } },
	{ "the same with str x2, [sp, #16]: another place",
	  { { 0xf94007e2, 4, false },
	    { 0x91000442, 1, false },
	    { 0xf9000be2, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  1,
	  { false } },
	{ "ldr x2, [x0]; add x2, x2, #1; str x2, [x0]; add x0, x0, #8: a place that moves",
	  { { 0xf9400002, 4, false },
	    { 0x91000442, 1, false },
	    { 0xf9000002, 1, false },
	    { 0x91002000, 1, false },
	    COUNT_DOWN,
	    BACK },
	  6,
	  1,
	  { false } },
	{ "ldr x0, [sp, #8]; ldr x0, [x0]; str x0, [sp, #8]: the chase is left",
	  { { 0xf94007e0, 4, false },
	    { 0xf9400000, 100, false },
	    { 0xf90007e0, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  100,
	  { true, false, true } },
};

static void places_in_memory_can_be_registers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(slots); i++) {
		bool is_slot[MOST];
		double cycles = chain_find_in_registers(slots[i].code, slots[i].n, is_slot);

		if (cycles < slots[i].cycles - 0.01 || cycles > slots[i].cycles + 0.01)
			fail_msg("%s: %g", slots[i].what, cycles);
		for (size_t k = 0; k < slots[i].n; k++)
			if (is_slot[k] != slots[i].is_slot[k])
				fail_msg("%s: %d at %zu", slots[i].what, is_slot[k], k);
	}
}

static const struct {
	const char *what;
	struct loop_insn code[MOST];
	size_t n, at;
	enum address_move move;
	bool knows_step;
	int64_t step;
} moves[] = {
	{ "ldr x2, [x0], #8", { { 0xf8408402, 4, false }, BACK }, 2, 0, ADDRESS_STEPS, true, 8 },
	{ "ldr x2, [x0, x1, lsl #3]; sub x1, x1, #1",
	  { { 0xf8617802, 4, false }, COUNT_DOWN, BACK },
	  3,
	  0,
	  ADDRESS_STEPS,
	  true,
	  -8 },
	{ "lsl x2, x1, #11; ldr q1, [x0, x2]",
	  { { 0xd3755022, 1, false }, { 0x3ce26801, 4, false }, COUNT_DOWN, BACK },
	  4,
	  1,
	  ADDRESS_STEPS,
	  true,
	  -2048 },
	{ "add x0, x0, x5: a step that the loop does not tell",
	  { { 0xf9400002, 4, false }, { 0x8b050000, 1, false }, COUNT_DOWN, BACK },
	  4,
	  0,
	  ADDRESS_STEPS,
	  false,
	  0 },
	{ "ldr x2, [x0]",
	  { { 0xf9400002, 4, false }, COUNT_DOWN, BACK },
	  3,
	  0,
	  ADDRESS_FIXED,
	  true,
	  0 },
	{ "ldr x2, [x3], #8; ldr x4, [x0, x2, lsl #3]",
	  { { 0xf8408462, 4, false }, { 0xf8627804, 4, false }, COUNT_DOWN, BACK },
	  4,
	  1,
	  ADDRESS_LOADED,
	  false,
	  0 },
	{ "madd x2, x2, x3, x4; ldr x5, [x0, x2]",
	  { { 0x9b031042, 2, false }, { 0xf8626805, 4, false }, COUNT_DOWN, BACK },
	  4,
	  1,
	  ADDRESS_COMPUTED,
	  false,
	  0 },
	{ "ldr x0, [x0]",
	  { { 0xf9400000, 4, false }, COUNT_DOWN, BACK },
	  3,
	  0,
	  ADDRESS_LOADED,
	  false,
	  0 },
	{ "mov x4, x5; ldrb w0, [x7, x4]; add x5, x4, #1: a step by way of a copy",
	  { { 0xaa0503e4, 1, false },
	    { 0x386468e0, 4, false },
	    { 0x91000485, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  1,
	  ADDRESS_STEPS,
	  true,
	  1 },
	{ "sub", { { 0xf9400000, 4, false }, COUNT_DOWN, BACK }, 3, 1, ADDRESS_NONE, false, 0 },
};

static void addresses_move_as_the_code_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(moves); i++) {
		struct loop_address out[MOST];
		const struct loop_address *a = &out[moves[i].at];

		chain_addresses(moves[i].code, moves[i].n, out);
		if (a->move != moves[i].move || a->knows_step != moves[i].knows_step ||
		    (a->knows_step && a->step != moves[i].step))
			fail_msg("%s: %d, %d, %d", moves[i].what, a->move, a->knows_step,
				 (int)a->step);
	}
}

/* Addresses that something loaded goes into: pointers and indexes, or more than that? */
static const struct {
	const char *what;
	struct loop_insn code[MOST];
	size_t n, at;
	bool is_link;
	uint64_t inputs;
} links[] = {
	{ "ldr x0, [x0]", { { 0xf9400000, 4, false }, COUNT_DOWN, BACK }, 3, 0, true, 0 },
	{ "ldr x0, [x0, #8]; and x0, x0, #-8: a pointer with a tag",
	  { { 0xf9400400, 4, false }, { 0x927df000, 1, false }, COUNT_DOWN, BACK },
	  4,
	  0,
	  true,
	  0 },
	{ "ldr w2, [x0, x2, lsl #2]: an index",
	  { { 0xb8627802, 4, false }, COUNT_DOWN, BACK },
	  3,
	  0,
	  true,
	  1 << 0 },
	{ "madd x2, x2, x3, x0; ldr x2, [x2]: an index of large elements",
	  { { 0x9b030042, 3, false }, { 0xf9400042, 4, false }, COUNT_DOWN, BACK },
	  4,
	  1,
	  true,
	  1 << 0 },
	{ "add x1, x2, x2, lsl #1; add x2, x0, x1, lsl #4; ldr w2, [x2, #44]: 48 times an index",
	  { { 0x8b020441, 2, false }, { 0x8b011002, 2, false }, { 0xb9402c42, 4, false }, BACK },
	  4,
	  2,
	  true,
	  1 << 0 },
	{ "ldp x2, x3, [x0]; csel x0, x2, x3, lt: one of two",
	  { { 0xa9400c02, 4, false }, { 0x9a83b040, 1, false }, COUNT_DOWN, BACK },
	  4,
	  0,
	  true,
	  0 },
	{ "ldr x0, [x0, x1, lsl #3]: one of many, by a number that steps",
	  { { 0xf8617800, 4, false }, COUNT_DOWN, BACK },
	  3,
	  0,
	  true,
	  0 },
	{ "ldr x2, [x0, x2, lsl #3]; add x2, x2, x1: a number that steps goes into the index",
	  { { 0xf8627802, 4, false }, { 0x8b010042, 1, false }, COUNT_DOWN, BACK },
	  4,
	  0,
	  false,
	  1 << 0 },
	{ "ldr x2, [x0, x2, lsl #3]; eor x2, x2, x2, lsr #7: a hash",
	  { { 0xf8627802, 4, false }, { 0xca421c42, 1, false }, COUNT_DOWN, BACK },
	  4,
	  0,
	  false,
	  1 << 0 },
	{ "ldr x2, [x0, x2]; madd x2, x2, x3, x4; and x2, x2, #0xff8: bits of a product",
	  { { 0xf8626802, 4, false },
	    { 0x9b031042, 3, false },
	    { 0x927d1c42, 1, false },
	    COUNT_DOWN,
	    BACK },
	  5,
	  0,
	  false,
	  1 << 0 },
	{ "ldr x2, [x0, x2, lsl #3]; eor x2, x2, x4: a key goes into it, but moves it by no known "
	  "step",
	  { { 0xf8627802, 4, false }, { 0xca040042, 1, false }, COUNT_DOWN, BACK },
	  4,
	  0,
	  false,
	  1 << 0 },
};

static void links_are_told_from_calculations(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(links); i++) {
		struct loop_address out[MOST];
		const struct loop_address *a = &out[links[i].at];

		chain_addresses(links[i].code, links[i].n, out);
		if (a->move != ADDRESS_LOADED || a->is_link != links[i].is_link ||
		    a->inputs != links[i].inputs)
			fail_msg("%s: %d, %d, %#x", links[i].what, a->move, a->is_link,
				 (unsigned)a->inputs);
	}
}

/* lsl x3, x6, #1; [ldr x4, [x2], #8; ldrsh w1, [x4, x3]; cbnz]; add x6, x6, #2; cbnz */
static void the_loop_around_moves_on_by_a_step(void **state)
{
	static const struct loop_insn code[] = {
		{ 0xd37ff8c3, 1, false }, { 0xf8408444, 4, false }, { 0x78e36881, 4, false },
		{ 0xb5ffffc1, 1, false }, { 0x910008c6, 1, false }, { 0xb5ffff67, 1, false },
	};
	int64_t step = 0;

	(void)state;
	assert_true(chain_register_step(code, COUNT(code), 1, 3, &step));
	assert_int_equal(step, 4);
	assert_false(chain_register_step(code, COUNT(code), 1, 0, &step)); /* stays */
	assert_false(chain_register_step(code, COUNT(code), 1, 4, &step)); /* loaded */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_way_around_is_found),
		cmocka_unit_test(places_in_memory_can_be_registers),
		cmocka_unit_test(addresses_move_as_the_code_says),
		cmocka_unit_test(links_are_told_from_calculations),
		cmocka_unit_test(the_loop_around_moves_on_by_a_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The branches that samples have: types, flags, filters, and which of them a sample sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/branch_stack.h"
#include "small.h"

static const struct {
	uint32_t word;
	uint64_t next, to; /* of a branch at 0x1000 */
	uint32_t type;
	bool is_return, is_call;
} branches[] = {
	{ 0x54000100, 0x1020, 0x1020, 1, false, false }, /* b.eq .+0x20 */
	{ 0x34ffff00, 0x0fe0, 0x0fe0, 1, false, false }, /* cbz w0, .-0x20 */
	{ 0x36000400, 0x1080, 0x1080, 1, false, false }, /* tbz w0, #0, .+0x80 */
	{ 0x3607fc00, 0x0f80, 0x0f80, 1, false, false }, /* tbz w0, #0, .-0x80 */
	{ 0x14000100, 0x1400, 0x1400, 2, false, false }, /* b .+0x400 */
	{ 0x14000100, 0x9000, 0x1400, 2, false, false }, /* … when a signal comes */
	{ 0x17ffffff, 0x0ffc, 0x0ffc, 2, false, false }, /* b .-4 */
	{ 0xd61f0000, 0x5000, 0x5000, 3, false, false }, /* br x0 */
	{ 0x94000100, 0x1400, 0x1400, 4, false, true },	 /* bl .+0x400 */
	{ 0xd63f0000, 0x5000, 0x5000, 5, false, true },	 /* blr x0 */
	{ 0xd65f03c0, 0x5000, 0x5000, 6, true, false },	 /* ret */
};

/* Every branch above, one after the other, each some cycles later than the one before. */
static void take_all(struct branch_stack *s)
{
	for (size_t i = 0; i < COUNT(branches); i++) {
		const struct insn in = insn_decode(0x1000, branches[i].word);
		const struct branch_execution b = {
			.insn = &in,
			.number = i,
			.to = insn_target(&in, branches[i].next),
			.cycle = 100 + i * i,
			.is_taken = true,
			.is_mispredicted = i % 3 == 0,
		};

		branch_stack_see(s, &b);
	}
}

static void entries_are_flagged(void **state)
{
	const struct params params = small_params();
	const struct branch_recording recording = { .depth = BRANCH_STACK_MOST };
	struct branch_entry out[BRANCH_STACK_MOST];
	struct branch_stack s;

	(void)state;
	branch_stack_init(&s, &recording, &params, 7);
	take_all(&s);
	assert_int_equal(branch_stack_read(&s, UINT64_MAX, out), COUNT(branches));
	for (size_t i = 0; i < COUNT(branches); i++) {
		const struct branch_entry *e = &out[COUNT(branches) - 1 - i];
		uint64_t cycles = i == 0 ? 0 : 2 * i - 1;

		assert_int_equal(e->from, 0x1000);
		assert_int_equal(e->to, branches[i].to);
		assert_int_equal(e->flags, (i % 3 == 0 ? 1 : 2) | cycles << 4 |
						   (uint64_t)branches[i].type << 20);
	}
}

static void filters_choose(void **state)
{
	const struct params params = small_params();
	(void)state;
	for (uint32_t filter = 0; filter < N_BRANCH_FILTERS; filter++) {
		const struct branch_recording recording = { .depth = 64, .filter = filter };
		struct branch_entry out[BRANCH_STACK_MOST];
		struct branch_stack s;
		size_t n = 0;

		branch_stack_init(&s, &recording, &params, 7);
		take_all(&s);
		for (size_t i = 0; i < COUNT(branches); i++)
			n += filter == BRANCHES_ANY ||
			     (filter == BRANCHES_CALL ? branches[i].is_call
						      : branches[i].is_return);
		assert_int_equal(branch_stack_read(&s, UINT64_MAX, out), n);
	}
}

/* Of an instruction in the past; no more than there is room for; not those of another thread. */
static void samples_see_what_came_before(void **state)
{
	const struct params params = small_params();
	static const struct {
		uint32_t depth;
		uint64_t order;
		size_t n;
	} cases[] = {
		{ 64, 0, 0 },  { 64, 1, 1 }, { 64, 10, 5 },
		{ 64, 11, 6 }, { 3, 11, 3 }, { 0, 11, 0 },
	};
	struct branch_entry out[BRANCH_STACK_MOST];
	struct branch_stack s;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct branch_recording recording = { .depth = cases[i].depth };
		size_t n;

		branch_stack_init(&s, &recording, &params, 7);
		take_all(&s);
		n = branch_stack_read(&s, cases[i].order, out);
		assert_int_equal(n, cases[i].n);
		if (n > 0)
			assert_int_equal(out[0].to, branches[(cases[i].order - 1) / 2].to);
	}
	branch_stack_init(&s, &(struct branch_recording){ .depth = 64 }, &params, 7);
	take_all(&s);
	branch_stack_forget(&s);
	assert_int_equal(branch_stack_read(&s, UINT64_MAX, out), 0);
	s.recording = &(struct branch_recording){ .depth = 64 };
	for (size_t i = 0; i < 2 * BRANCHES_KEPT; i++)
		take_all(&s);
	assert_int_equal(branch_stack_read(&s, UINT64_MAX, out), 64);
}

/* Each fault that a machine can have, always and never; what it does to the entries. */
static void faults_are_made(void **state)
{
	enum { WRONG_PATH = 1, CORRECT_PATH = 3, SPEC_SHIFT = 24, PRIVILEGE_SHIFT = 30 };
	const struct branch_recording recording = { .depth = 64 };
	const struct insn branch = insn_decode(0x1000, 0x54000100); /* b.eq .+0x20 */
	struct branch_entry out[BRANCH_STACK_MOST], *newest = &out[0];
	struct params params = small_params();
	struct branch_execution b = { .insn = &branch, .to = 0x1020, .is_mispredicted = true };
	struct branch_stack s;

	(void)state;
	params.stack_wrong_path = 100;
	branch_stack_init(&s, &recording, &params, 7);
	branch_stack_see(&s, &b); /* not taken, as it was thought */
	b.is_taken = true;
	b.number = 1;
	branch_stack_see(&s, &b);
	assert_int_equal(branch_stack_read(&s, branch_order_behind(1), out), 2);
	assert_int_equal(branch_stack_read(&s, branch_order(2), out), 3);
	assert_int_equal(newest->from, 0x100c);
	assert_int_equal(newest->flags >> SPEC_SHIFT, WRONG_PATH);
	assert_int_equal(out[1].flags >> SPEC_SHIFT, CORRECT_PATH);
	assert_int_equal(out[2].from, 0x1028);
	assert_int_equal(out[2].flags >> SPEC_SHIFT, WRONG_PATH);

	params.stack_wrong_path = 0;
	params.interrupt_cycles = 1;
	branch_stack_interrupt(&s, 1, 0x1020, 0x400);
	assert_int_equal(branch_stack_read(&s, branch_order(2), out), 8);
	assert_int_equal(newest->to, 0x1020);
	assert_int_equal(newest->flags >> PRIVILEGE_SHIFT, 1);
	assert_int_equal(out[1].flags >> PRIVILEGE_SHIFT, 2);
	assert_int_equal(out[4].from, 0x1020);
	assert_int_equal(out[4].to, out[3].from - 0x14);

	params.interrupt_signals = 1;
	branch_stack_interrupt(&s, 1, 0x1020, 0x400);
	assert_int_equal(branch_stack_read(&s, branch_order(2), out), 10);
	assert_int_equal(out[1].from, 0x404);
	assert_int_equal(newest->flags >> SPEC_SHIFT, 0);

	params.stack_wrong_newest = 100;
	assert_int_equal(branch_stack_read(&s, branch_order(2), out), 10);
	assert_int_equal(newest->from, 0x404);
	params.stack_shallow = 100;
	for (int i = 0; i < 100; i++) {
		size_t n = branch_stack_read(&s, branch_order(2), out);

		assert_true(n >= 1 && n < 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_flagged),
		cmocka_unit_test(filters_choose),
		cmocka_unit_test(samples_see_what_came_before),
		cmocka_unit_test(faults_are_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

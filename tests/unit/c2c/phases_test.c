/* SPDX-License-Identifier: Apache-2.0 */
/* Which accesses were made at once, by the slots that they fell in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "c2c/accesses/phases.h"

#define SLOTS(from, to) ((~UINT64_C(0) >> (63 - (to))) & (~UINT64_C(0) << (from)))
#define BIT(n) (UINT64_C(1) << (n))

/* Every third slot: as many gaps as chance leaves. */
#define THIN UINT64_C(0x9249249249249249)

static const struct {
	const char *name;
	struct c2c_activity a, b;
	bool expected;
} cases[] = {
	{ "the same", { 0, 640, SLOTS(0, 63), 100 }, { 0, 640, SLOTS(0, 63), 100 }, true },
	{ "before", { 0, 300, SLOTS(0, 29), 100 }, { 301, 640, SLOTS(30, 63), 100 }, false },
	{ "before, in the same slot",
	  { 0, 305, SLOTS(0, 30), 9 },
	  { 306, 640, SLOTS(30, 63), 9 },
	  false },
	{ "before, and a glance back",
	  { 0, 640, SLOTS(0, 29) | BIT(63), 100 },
	  { 295, 635, SLOTS(29, 63), 100 },
	  false },
	{ "few of them", { 0, 640, BIT(0) | BIT(63), 7 }, { 5, 635, SLOTS(0, 63), 100 }, true },
	{ "now and then, at the same time", { 0, 640, THIN, 22 }, { 0, 640, THIN << 1, 22 }, true },
	{ "again and again, a pause between",
	  { 0, 640, SLOTS(0, 15) | SLOTS(32, 47), 1000 },
	  { 160, 640, SLOTS(16, 31) | SLOTS(48, 63), 1000 },
	  false },
	{ "a quarter of the shorter one",
	  { 0, 640, SLOTS(0, 7), 100 },
	  { 60, 640, SLOTS(6, 63), 100 },
	  true },
	{ "no times", { UINT64_MAX, 0, 0, 100 }, { UINT64_MAX, 0, 0, 100 }, true },
	{ "no times of one", { UINT64_MAX, 0, 0, 100 }, { 0, 9, 1, 100 }, true },
};

static void test_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct c2c_activity *a = &cases[i].a, *b = &cases[i].b;
		uint64_t of_a = c2c_activity_slots(a), of_b = c2c_activity_slots(b);

		print_message("%s\n", cases[i].name);
		assert_int_equal(c2c_were_at_once(a, of_a, b, of_b), cases[i].expected);
		assert_int_equal(c2c_were_at_once(b, of_b, a, of_a), cases[i].expected);
	}
}

static void test_add(void **state)
{
	struct c2c_activity a = C2C_NEVER;
	const struct c2c_touch_part touches[] = {
		{ .first_ns = 50, .last_ns = 70, .slots = 6, .n_records = 3 },
		{ .first_ns = 10, .last_ns = 60, .slots = 1, .n_records = 4 },
		{ .first_ns = UINT64_MAX, .n_records = 1 },
	};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		c2c_activity_add(&a, &touches[i]);
	assert_int_equal(a.first_ns, 10);
	assert_int_equal(a.last_ns, 70);
	assert_int_equal(a.slots, 7);
	assert_int_equal(a.n, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

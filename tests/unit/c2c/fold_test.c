/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of one type as if they were one object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "c2c/fix/fold.h"
#include "c2c/verdict/cause.h"
#include "objects_world.h"

/* Accesses to objects of a type are those of one object; threads are told apart by what they do. */
static const struct {
	const char *name;
	struct contended_line contended[MAX_LINES]; /* ends with excess 0 */
	struct layout_access accesses[5]; /* of the first cause; ends with loads and stores 0 */
	uint64_t address;
	uint32_t n_objects, n_alike;
	bool has_roles;
} folded[] = {
	{ "the same threads everywhere",
	  { { LARGE, 0x1000, 0, 32, 2, 50 },
	    { LARGE, 0x2000, 0, 32, 2, 40 },
	    { LARGE, 0x3000, 0, 32, 2, 30 } },
	  { { 0, LONG, 1, .counts.stores = 6 }, { 32, LONG, 2, .counts.loads = 15 } },
	  0x1000,
	  3,
	  3,
	  false },
	{ "each has threads of its own",
	  { { LARGE, 0x1000, 0, 32, 2, 50, .first_tid = 40 },
	    { LARGE, 0x2000, 0, 32, 2, 40, .first_tid = 10 },
	    { LARGE, 0x3000, 0, 32, 2, 30, .first_tid = 20 } },
	  { { 0, LONG, 0, .counts.stores = 6 }, { 32, LONG, 1, .counts.loads = 15 } },
	  0x1000,
	  3,
	  3,
	  true },
	{ "a thread that does another thing elsewhere",
	  { { LARGE, 0x1000, 0, 32, 2, 50, .first_tid = 1 },
	    { LARGE, 0x2000, 0, 32, 2, 40, .first_tid = 2 } },
	  { { 0, LONG, 0, .counts.stores = 4 }, { 32, LONG, 1, .counts.loads = 10 } },
	  0x1000,
	  2,
	  2,
	  true },
	{ "a thread that is elsewhere in other code",
	  { { LARGE, 0x1000, 0, 32, 2, 50, .first_tid = 1, .places = { 0, 1 } },
	    { LARGE, 0x2000, 0, 32, 2, 40, .first_tid = 2, .places = { 2, 3 } } },
	  { { 0, LONG, 0, .counts.stores = 2 },
	    { 32, LONG, 1, .counts.loads = 5 },
	    { 0, LONG, 2, .counts.stores = 2 },
	    { 32, LONG, 3, .counts.loads = 5 } },
	  0x1000,
	  2,
	  2,
	  true },
	{ "places where one thread was in one object belong together",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .first_tid = 40, .places = { 0, 1 } },
	    { LARGE, 0x1000, 64, 32, 9, 10, .first_tid = 40, .places = { 2, 1 } },
	    { LARGE, 0x2000, 0, 32, 9, 40, .first_tid = 10, .places = { 2, 1 } } },
	  { { 0, LONG, 0, .counts.stores = 18 },
	    { 32, LONG, 1, .counts.loads = 10 },
	    { 64, LONG, 0, .counts.stores = 9 },
	    { 96, LONG, 1, .counts.loads = 5 } },
	  0x1000,
	  2,
	  2,
	  true },
	{ "of several threads in one place, by what they write and read",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .first_tid = 0 },
	    { LARGE, 0x1000, 64, 32, 9, 10, .first_tid = 10 },
	    { LARGE, 0x2000, 0, 32, 9, 40, .first_tid = 10 },
	    { LARGE, 0x2000, 64, 32, 9, 10, .first_tid = 0 } },
	  { { 0, LONG, 0, .counts.stores = 18 },
	    { 32, LONG, 1, .counts.loads = 10 },
	    { 64, LONG, 2, .counts.stores = 18 },
	    { 96, LONG, 3, .counts.loads = 10 } },
	  0x1000,
	  2,
	  2,
	  true },
	{ "one that begins elsewhere in a line, and costs more",
	  { { LARGE, 0x1000, 0, 32, 9, 40 }, { LARGE, 0x2010, 0x30, 32, 9, 50 } },
	  { { 0, LONG, 1, .counts.stores = 9 },
	    { 0x20, LONG, 2, .counts.loads = 5 },
	    { 0x30, LONG, 1, .counts.stores = 9 },
	    { 0x50, LONG, 2, .counts.loads = 5 } },
	  0x2010,
	  2,
	  1,
	  false },
	{ "another line of theirs, which has another cause",
	  { { LARGE, 0x1000, 0, 32, 9, 10 },
	    { LARGE, 0x1000, 64, 0, 9, 20 },
	    { LARGE, 0x2000, 0, 32, 9, 10 },
	    { LARGE, 0x2000, 64, 0, 9, 20 } },
	  { { 0, LONG, 1, .counts.stores = 18, .is_outside = true },
	    { 32, LONG, 2, .counts.loads = 10, .is_outside = true },
	    { 64, LONG, 1, .counts.stores = 18 },
	    { 64, LONG, 2, .counts.loads = 10 } },
	  0x1000,
	  2,
	  2,
	  false },
	{ "what reaches over the end is cut off",
	  { { OUTER, 0x1000, 0, 28, 9, 50 }, { OUTER, 0x2000, 0, 28, 9, 40 } },
	  { { 0, LONG, 1, .counts.stores = 18 }, { 28, 4, 2, .counts.loads = 10 } },
	  0x1000,
	  2,
	  2,
	  false },
};

static void expect_accesses(const struct c2c_fold *fold, const struct layout_access *expected)
{
	size_t n = 0;

	for (; expected[n].counts.loads + expected[n].counts.stores > 0; n++) {
		const struct layout_access *a = &fold->accesses.items[n];

		assert_true(n < fold->accesses.n);
		assert_int_equal(a->offset, expected[n].offset);
		assert_int_equal(a->size, expected[n].size);
		assert_int_equal(a->thread, expected[n].thread);
		assert_int_equal(a->counts.loads, expected[n].counts.loads);
		assert_int_equal(a->counts.stores, expected[n].counts.stores);
		assert_int_equal(a->is_outside, expected[n].is_outside);
		assert_false(a->is_atomic);
	}
	assert_int_equal(fold->accesses.n, n);
}

static void objects_of_a_type_are_folded(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(folded); i++) {
		struct c2c_instances instances;
		struct c2c_causes causes;
		struct c2c_fold fold;
		struct world w;

		print_message("%s\n", folded[i].name);
		world_init(&w);
		world_add_lines(&w, folded[i].contended);
		c2c_instances_init(&instances, &w.objects);
		c2c_causes_init(&causes, &w.objects, &instances);
		c2c_fold_init(&fold, &w.objects, &instances, &causes, 0);
		expect_accesses(&fold, folded[i].accesses);
		assert_int_equal(fold.address, folded[i].address);
		assert_int_equal(fold.n_objects, folded[i].n_objects);
		assert_int_equal(fold.n_alike, folded[i].n_alike);
		assert_int_equal(fold.has_roles, folded[i].has_roles);
		c2c_fold_release(&fold);
		c2c_causes_release(&causes);
		c2c_instances_release(&instances);
		world_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_of_a_type_are_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

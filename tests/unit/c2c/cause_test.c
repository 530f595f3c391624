/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of one type that have one cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "c2c/verdict/cause.h"
#include "objects_world.h"

static const struct {
	const char *name;
	struct contended_line contended[MAX_LINES]; /* ends with excess 0 */
	struct {
		size_t n_lines, first;
		uint32_t n_objects;
		enum c2c_verdict verdict;
		enum c2c_class class;
		int64_t excess;
		uint32_t n_variables;
	} causes[MAX_LINES]; /* ends with n_lines 0 */
} grouped[] = {
	{ "three of a type, few samples of each",
	  { { LARGE, 0x1000, 0, 32, 2, 50 },
	    { LARGE, 0x2000, 0, 32, 2, 40 },
	    { LARGE, 0x3000, 0, 32, 2, 30 } },
	  { { 3, 0, 3, C2C_FALSE, C2C_CONTENDED, 120 } } },
	{ "one of it is nothing but itself",
	  { { LARGE, 0x1000, 0, 32, 2, 50 } },
	  { { 1, 0, 0, C2C_UNKNOWN, C2C_SUSPECTED, 50 } } },
	{ "small ones, each alone",
	  { { OUTER, 0x1000, 0, 16, 9, 50 }, { OUTER, 0x2000, 0, 16, 9, 40 } },
	  { { 2, 0, 2, C2C_FALSE, C2C_CONTENDED, 90 } } },
	{ "elements of arrays that share their lines",
	  { { OUTER, 0x1000, 0, 16, 9, 50, 4 }, { OUTER, 0x2000, 0, 16, 9, 40, 4 } },
	  { { 1, 0, 0, C2C_FALSE, C2C_CONTENDED, 50 },
	    { 1, 1, 0, C2C_FALSE, C2C_CONTENDED, 40 } } },
	{ "elements of one array that have their own",
	  { { LARGE, 0x1000, 0, 32, 9, 50, 4 }, { LARGE, 0x1000, 128, 32, 9, 40, 4 } },
	  { { 2, 0, 2, C2C_FALSE, C2C_CONTENDED, 90 } } },
	{ "two lines of one object",
	  { { LARGE, 0x1000, 0, 32, 9, 40 }, { LARGE, 0x1000, 64, 32, 9, 50 } },
	  { { 2, 0, 0, C2C_FALSE, C2C_CONTENDED, 90 } } },
	{ "two lines of two objects each",
	  { { LARGE, 0x1000, 0, 32, 9, 10 },
	    { LARGE, 0x1000, 64, 0, 9, 20 },
	    { LARGE, 0x2000, 0, 32, 9, 10 },
	    { LARGE, 0x2000, 64, 0, 9, 20 } },
	  { { 2, 1, 2, C2C_TRUE, C2C_CONTENDED, 40 }, { 2, 0, 2, C2C_FALSE, C2C_CONTENDED, 20 } } },
	{ "variables of one type that are used alike",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .is_variable = true },
	    { LARGE, 0x2000, 0, 32, 9, 40, .is_variable = true } },
	  { { 2, 0, 0, C2C_FALSE, C2C_CONTENDED, 90, 2 } } },
	{ "variables of one type, one with true sharing",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .is_variable = true },
	    { LARGE, 0x2000, 0, 0, 9, 40, .is_variable = true } },
	  { { 1, 0, 0, C2C_FALSE, C2C_CONTENDED, 50, 1 },
	    { 1, 1, 0, C2C_TRUE, C2C_CONTENDED, 40, 1 } } },
	{ "variables of two types",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .is_variable = true },
	    { OUTER, 0x2000, 0, 16, 9, 40, .is_variable = true } },
	  { { 1, 0, 0, C2C_FALSE, C2C_CONTENDED, 50, 1 },
	    { 1, 1, 0, C2C_FALSE, C2C_CONTENDED, 40, 1 } } },
	{ "what has no name is alone",
	  { { NOTHING, 0x1000, 0, 32, 9, 40 }, { NOTHING, 0x2000, 0, 32, 9, 50 } },
	  { { 1, 1, 0, C2C_FALSE, C2C_CONTENDED, 50 },
	    { 1, 0, 0, C2C_FALSE, C2C_CONTENDED, 40 } } },
};

static void objects_of_a_type_are_one_cause(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(grouped); i++) {
		struct c2c_instances instances;
		struct c2c_causes causes;
		struct world w;
		size_t n = 0;

		print_message("%s\n", grouped[i].name);
		world_init(&w);
		world_add_lines(&w, grouped[i].contended);
		c2c_instances_init(&instances, &w.objects);
		c2c_causes_init(&causes, &w.objects, &instances);
		for (; n < MAX_LINES && grouped[i].causes[n].n_lines > 0; n++) {
			const struct c2c_cause *c = &causes.list.items[n];

			assert_true(n < causes.list.n);
			assert_int_equal(c->lines.n, grouped[i].causes[n].n_lines);
			assert_int_equal(c->lines.items[0], grouped[i].causes[n].first);
			assert_int_equal(c->n_objects, grouped[i].causes[n].n_objects);
			assert_int_equal(c->n_variables, grouped[i].causes[n].n_variables);
			assert_int_equal(c->sum.judgement.verdict, grouped[i].causes[n].verdict);
			assert_int_equal(c->class, grouped[i].causes[n].class);
			assert_int_equal(c->sum.excess_cycles, grouped[i].causes[n].excess);
			assert_int_equal(c->finding, n + 1);
		}
		assert_int_equal(causes.list.n, n);
		c2c_causes_release(&causes);
		c2c_instances_release(&instances);
		world_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_of_a_type_are_one_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* When the SPE records of a chase are taken to be right. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kernel/spe/levels.h"

static void test_verdicts(void **state)
{
	static const struct {
		struct spe_level level;
		bool is_right;
	} cases[] = {
		{ { .source = SOURCE_L2,
		    .mostly = SOURCE_L2,
		    .loads = 100000,
		    .n = 98,
		    .estimate = 98000,
		    .error = 19400,
		    .n_of_source = 97 },
		  true },
		/* one in two loads is missing */
		{ { .source = SOURCE_L2,
		    .mostly = SOURCE_L2,
		    .loads = 100000,
		    .n = 50,
		    .estimate = 50000,
		    .error = 13860,
		    .n_of_source = 50 },
		  false },
		/* from another level */
		{ { .source = SOURCE_L2,
		    .mostly = SOURCE_DRAM,
		    .loads = 100000,
		    .n = 98,
		    .estimate = 98000,
		    .error = 19400,
		    .n_of_source = 40 },
		  false },
		/* mostly from the level, but not enough */
		{ { .source = SOURCE_L2,
		    .mostly = SOURCE_L2,
		    .loads = 100000,
		    .n = 98,
		    .estimate = 98000,
		    .error = 19400,
		    .n_of_source = 60 },
		  false },
	};
	struct spe_levels levels = { 0 };
	struct table t;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(spe_level_is_right(&cases[i].level), cases[i].is_right);
		*vec_add(&levels.list) = cases[i].level;
		levels.list.items[i].name = "l2";
		levels.list.items[i].cycles = levels.list.items[i].latency = NAN;
	}
	spe_levels_table(&levels, &t);
	assert_int_equal(table_n_rows(&t), COUNT(cases));
	assert_string_equal(table_cell(&t, 0, 1)->text, "ok");
	assert_string_equal(table_cell(&t, 1, 1)->text, "wrong");
	table_release(&t);
	vec_release(&levels.list);
}

static void test_levels(void **state)
{
	enum source_level source;

	(void)state;
	assert_true(spe_level_source("dram", &source) && source == SOURCE_DRAM);
	assert_true(spe_level_source("l1", &source) && source == SOURCE_L1);
	assert_false(spe_level_source("tlb2", &source));
}

static void test_no_capture(void **state)
{
	struct spe_level level = { .name = "l1", .source = SOURCE_L1 };
	struct err err;

	(void)state;
	assert_int_equal(spe_level_read(&level, "/dev/null/none", NULL, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_no_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "count/counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void counts_are_found_by_name_whatever_its_case(void **state)
{
	struct counts counts = { 0 };

	(void)state;
	assert_null(counts_find(&counts, "CPU_CYCLES"));
	counts_add(&counts, "CPU_CYCLES")->value = 10;
	counts_add(&counts, "INST_RETIRED")->value = 20;
	counts_add(&counts, "CPU_CYCLES")->value = 30;
	assert_true(counts_find(&counts, "cpu_cycles")->value == 10);
	assert_true(counts_find(&counts, "INST_RETIRED")->value == 20);
	assert_int_equal(counts_find(&counts, "INST_RETIRED")->cpu, COUNT_ANY);
	assert_null(counts_find(&counts, "INST"));
	counts_release(&counts);
	assert_int_equal(counts.items.n, 0);
}

static void coverage_is_the_share_of_time_on_a_counter(void **state)
{
	(void)state;
	assert_true(count_coverage(&(struct count){ 0 }) == 1);
	assert_true(count_coverage(&(struct count){ .enabled_ns = 8, .running_ns = 2 }) == 0.25);
	assert_true(count_coverage(&(struct count){ .enabled_ns = 8 }) == 0);
}

/* As told, or else perf's event. */
static void time_is_that_of_a_run(void **state)
{
	struct counts counts = { 0 };
	struct count *time;

	(void)state;
	assert_true(counts_elapsed_ns(&counts) == 0);
	time = counts_add(&counts, "duration_time");
	time->value = 7;
	assert_true(counts_elapsed_ns(&counts) == 7);
	counts.items.items[0].state = COUNT_NOT_COUNTED;
	assert_true(counts_elapsed_ns(&counts) == 0);
	counts.elapsed_ns = 9;
	assert_true(counts_elapsed_ns(&counts) == 9);
	counts_release(&counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_found_by_name_whatever_its_case),
		cmocka_unit_test(time_is_that_of_a_run),
		cmocka_unit_test(coverage_is_the_share_of_time_on_a_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/sums.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"

static void readings_are_scaled_to_the_whole_time(void **state)
{
	static const struct {
		struct reading readings[3];
		size_t n;
		double value;
		uint64_t raw;
		bool is_counted;
	} cases[] = {
		{ { { 100, 1000, 1000 } }, 1, 100, 100, true },
		{ { { 100, 1000, 250 } }, 1, 400, 100, true },
		{ { { 100, 1000, 0 } }, 1, 0, 100, false },
		{ { { 0, 0, 0 } }, 1, 0, 0, true }, /* the task never ran */
		{ { { 0 } }, 0, 0, 0, false },	    /* nobody could read it */
		/* each place by its own share */
		{ { { 100, 1000, 500 }, { 10, 100, 100 } }, 2, 210, 110, true },
		/* a place that had no turn is taken to be like the others */
		{ { { 100, 1000, 1000 }, { 0, 1000, 0 } }, 2, 200, 100, true },
		/* large numbers keep their digits */
		{ { { 1ull << 52, 3, 3 } }, 1, 4503599627370496.0, 1ull << 52, true },
		{ { { 1ull << 40, UINT64_MAX / 2, UINT64_MAX / 4 } },
		  1,
		  2199023255552.0,
		  1ull << 40,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sum sum = { 0 };
		struct runs runs = { 0 };

		for (size_t k = 0; k < cases[i].n; k++)
			sum_add(&sum, &cases[i].readings[k]);
		assert_true(fabs(sum_value(&sum) - cases[i].value) <= 1e-9 * cases[i].value);
		assert_int_equal(sum.raw, cases[i].raw);
		runs_add(&runs, &sum);
		assert_int_equal(runs_are_counted(&runs), cases[i].is_counted);
	}
}

static void time_on_other_cores_is_not_scaled(void **state)
{
	struct sum sum = { .is_unscaled = true };
	struct runs runs = { 0 };

	(void)state;
	sum_add(&sum, &(struct reading){ 100, 1000, 250 });
	assert_true(sum_value(&sum) == 100);
	runs_add(&runs, &sum);
	assert_true(runs.running_ns == runs.enabled_ns);
	assert_true(runs_are_counted(&runs));
}

static void spans_add_up(void **state)
{
	struct sum whole = { 0 }, first = { 0 }, second = { 0 };

	(void)state;
	sum_add(&first, &(struct reading){ 100, 1000, 500 });
	sum_add(&second, &(struct reading){ 50, 1000, 1000 });
	sum_merge(&whole, &first);
	sum_merge(&whole, &second);
	assert_int_equal(whole.raw, 150);
	assert_true(sum_value(&whole) == 250);
}

static void differences_never_go_below_zero(void **state)
{
	struct reading d =
		reading_since(&(struct reading){ 5, 10, 10 }, &(struct reading){ 2, 3, 20 });

	(void)state;
	assert_int_equal(d.value, 3);
	assert_int_equal(d.enabled_ns, 7);
	assert_int_equal(d.running_ns, 0);
}

static void runs_have_a_mean_and_a_spread(void **state)
{
	static const uint64_t values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct runs runs = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		struct sum sum = { 0 };

		sum_add(&sum, &(struct reading){ values[i], 1, 1 });
		runs_add(&runs, &sum);
		if (i == 0)
			assert_true(runs_spread(&runs) == 0);
	}
	assert_true(fabs(runs.mean - 5) < 1e-12);
	assert_true(fabs(runs_spread(&runs) - sqrt(32.0 / 7) / 5) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_are_scaled_to_the_whole_time),
		cmocka_unit_test(time_on_other_cores_is_not_scaled),
		cmocka_unit_test(spans_add_up),
		cmocka_unit_test(differences_never_go_below_zero),
		cmocka_unit_test(runs_have_a_mean_and_a_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

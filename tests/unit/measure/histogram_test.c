/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Buckets follow each other without gaps, and each holds both of its ends. */
static void test_buckets_cover_all_values(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_low(i), high = histogram_low(i + 1) - 1;

		assert_true(low <= high);
		assert_int_equal(histogram_bucket(low), i);
		assert_int_equal(histogram_bucket(high), i);
	}
	assert_int_equal(histogram_low(0), 0);
	assert_true(histogram_low(HISTOGRAM_BUCKETS) == (uint64_t)1 << HISTOGRAM_TOP);
}

static void test_buckets_are_narrow(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_low(i), width = histogram_low(i + 1) - low;

		assert_true(width == 1 || (double)width <= 0.03 * (double)low);
	}
}

static void test_what_is_too_large_is_in_the_last(void **state)
{
	(void)state;
	assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_bucket((uint64_t)1 << HISTOGRAM_TOP), HISTOGRAM_BUCKETS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets_cover_all_values),
		cmocka_unit_test(test_buckets_are_narrow),
		cmocka_unit_test(test_what_is_too_large_is_in_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of totals and shares against published values; which way shares of latency may be off. */
#include "estimate/estimate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "estimate/shares.h"

static bool is_within(double a, double b, double distance)
{
	return fabs(a - b) <= distance;
}

/* Exact limits of a Poisson count (Garwood 1936): half quantiles of chi-squared, 2.5 and 97.5 %. */
static void totals_have_the_limits_of_garwood(void **state)
{
	static const struct {
		uint64_t n;
		double low, high;
	} cases[] = {
		{ 0, 0, 3.689 },	{ 1, 0.0253, 5.572 },	  { 2, 0.2422, 7.225 },
		{ 5, 1.623, 11.668 },	{ 10, 4.795, 18.390 },	  { 20, 12.217, 30.888 },
		{ 50, 37.111, 65.919 }, { 100, 81.364, 121.627 },
	};
	const struct spe_interval_range exact = { 1000, 1, 1, false },
					unsure = { 1000, 0.8, 1.1, false };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t operations = cases[i].n * 1000;
		struct estimate e = estimate_of(cases[i].n, operations, &exact);
		struct estimate wider = estimate_of(cases[i].n, operations, &unsure);

		assert_true(e.total == (double)operations);
		assert_true(is_within(e.low / 1000, cases[i].low, 0.03));
		assert_true(is_within(e.high / 1000, cases[i].high, 0.03));
		assert_true(is_within(wider.low, e.low * 0.8, 1e-6));
		assert_true(is_within(wider.high, e.high * 1.1, 1e-6));
		assert_true(wider.total == e.total);
		if (cases[i].n > 0)
			assert_true(is_within(
				estimate_error(&e),
				(cases[i].high - cases[i].low) / 2 / (double)cases[i].n, 0.03));
	}
	assert_true(isnan(estimate_error(&(struct estimate){ 0, 0, 3 })));
}

/* Samples that were lost could have been of anything; those that are there were not. */
static void collisions_leave_the_lower_limit(void **state)
{
	const struct spe_interval_range whole = { 1000, 1, 1, false }, less = { 1000, 1, 1, true };
	struct estimate full = estimate_of(100, 100000, &whole);
	struct estimate e = estimate_of(100, 100000, &less);

	(void)state;
	assert_true(e.total == full.total);
	assert_true(e.low == full.low);
	assert_true(isinf(e.high));
	assert_true(isnan(estimate_error(&e)));
	assert_int_equal(estimate_high_cell(&e).type, CELL_NONE);
	assert_true(estimate_high_cell(&full).number == full.high);
}

/* Wilson 1927. */
static void shares_have_the_limits_of_wilson(void **state)
{
	static const struct {
		uint64_t n, n_all;
		double share, low, high;
	} cases[] = {
		{ 0, 0, 0, 0, 1 },
		{ 0, 10, 0, 0, 0.27753 },
		{ 10, 10, 1, 0.72247, 1 },
		{ 5, 10, 0.5, 0.23659, 0.76341 },
		{ 1, 100, 0.01, 0.00177, 0.05449 },
		{ 500, 1000, 0.5, 0.46906, 0.53094 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct estimate e = estimate_share(cases[i].n, cases[i].n_all);

		assert_true(is_within(e.total, cases[i].share, 1e-9));
		assert_true(is_within(e.low, cases[i].low, 1e-5));
		assert_true(is_within(e.high, cases[i].high, 1e-5));
	}
}

static void full_counters_bound_shares(void **state)
{
	static const struct {
		struct latency_amount part, whole;
		enum cell_mark mark;
	} cases[] = {
		{ { 100, 0 }, { 1000, 0 }, MARK_EXACT },
		{ { 100, 50 }, { 1000, 50 }, MARK_SATURATED },
		{ { 100, 0 }, { 1000, 50 }, MARK_AT_MOST },
		{ { 100, 50 }, { 1000, 100 }, MARK_UNCERTAIN },
		{ { 100, 50 }, { 1000, 55 }, MARK_SATURATED }, /* others have little */
		{ { 100, 10 }, { 1000, 10 }, MARK_EXACT }, /* a hundredth of the whole is little */
		{ { 100, 11 }, { 1000, 11 }, MARK_SATURATED },
		{ { 100, 0 }, { 1000, 10 }, MARK_EXACT },
		{ { 100, 0 }, { 1000, 11 }, MARK_AT_MOST },
		{ { 1000, 500 }, { 1000, 500 }, MARK_EXACT }, /* all of it, whatever it is */
		{ { 0, 0 }, { 0, 0 }, MARK_EXACT },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cell many = cell_latency_share(cases[i].part, cases[i].whole, SPARSE_BELOW);
		struct cell few =
			cell_latency_share(cases[i].part, cases[i].whole, SPARSE_BELOW - 1);

		print_message("%zu\n", i);
		assert_int_equal(latency_share_mark(cases[i].part, cases[i].whole), cases[i].mark);
		if (cases[i].whole.cycles == 0) {
			assert_int_equal(many.type, CELL_NONE);
			continue;
		}
		assert_int_equal(many.mark, cases[i].mark);
		assert_int_equal(few.mark, MARK_SPARSE);
		assert_true(is_within(many.number,
				      (double)cases[i].part.cycles / (double)cases[i].whole.cycles,
				      1e-12));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_have_the_limits_of_garwood),
		cmocka_unit_test(collisions_leave_the_lower_limit),
		cmocka_unit_test(shares_have_the_limits_of_wilson),
		cmocka_unit_test(full_counters_bound_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
	const struct spe_interval_range exact = { 1000, 1, 1, { 0 } },
					unsure = { 1000, 0.8, 1.1, { 0 } };

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
static void losses_leave_the_lower_limit(void **state)
{
	const struct spe_interval_range whole = { 1000, 1, 1, { 0 } };
	const struct spe_interval_range less = { 1000, 1, 1, { .is_unknown = true } };
	struct estimate full = estimate_of(100, 100000, &whole);
	struct estimate e = estimate_of(100, 100000, &less);

	(void)state;
	assert_true(e.total == full.total);
	assert_true(e.low == full.low);
	assert_true(isinf(e.high));
	assert_true(isnan(estimate_error(&e)));
	assert_int_equal(estimate_high_cell(&e).type, CELL_NONE);
	assert_true(estimate_high_cell(&full).number == full.high);
	assert_int_equal(estimate_cell(&full).mark, MARK_SCALED);
	assert_int_equal(estimate_cell(&e).mark, MARK_AT_LEAST);
	assert_int_equal(estimate_cell(&e).count, 100000);
}

/* The total is scaled by their share of all; all of them may be of these operations, or none. */
static void counted_losses_bound_it(void **state)
{
	const struct lost_samples lost = {
		.is_counted = true, .n = 151, .most = 151, .share = 0.25
	};
	const struct spe_interval_range range = { 384, 1, 1, lost };
	const struct spe_interval_range whole = { 384, 1, 1, { 0 } };
	struct estimate e = estimate_of(162, 162 * 384, &range);

	(void)state;
	assert_true(is_within(e.total, 162 * 384 / 0.75, 1e-6));
	assert_true(e.low == estimate_of(162, 162 * 384, &whole).low);
	assert_true(is_within(e.high, estimate_of(313, 313 * 384, &whole).high, 1e-6));
	assert_int_equal(estimate_cell(&e).count, 82944);
	assert_int_equal(estimate_cell(&e).mark, MARK_SCALED);
}

/* What has no limits of its own is scaled where that changes little, else it is a lower bound. */
static void amounts_are_scaled_or_bounds(void **state)
{
	static const struct {
		struct lost_samples lost;
		double times;
		enum cell_mark mark;
	} cases[] = {
		{ { 0 }, 1, MARK_SCALED },
		{ { .is_unknown = true }, 1, MARK_AT_LEAST },
		{ { .is_counted = true, .n = 5, .most = 5, .share = 0.2 }, 1.25, MARK_SCALED },
		{ { .is_counted = true, .n = 5, .most = 6, .share = 0.2 }, 1, MARK_AT_LEAST },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cell count = estimate_amount_cell(cell_count(800), 100, &cases[i].lost);
		struct cell number = estimate_amount_cell(cell_number(0.5), 100, &cases[i].lost);

		assert_int_equal(count.count, 800 * cases[i].times);
		assert_int_equal(count.mark, cases[i].mark);
		assert_true(is_within(number.number, 0.5 * cases[i].times, 1e-12));
		assert_int_equal(number.mark, cases[i].mark);
	}
}

enum { N_KINDS = 3, N_SEEDS = 400 };

static double next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / (double)(1ull << 53);
}

/*
 * A program whose operations are of some kinds, one in `interval` sampled; of samples of each kind
 * another part is lost. How often the truth is within the limits, of all seeds and kinds.
 */
static double held(const double *shares, const double *losses, double operations, bool is_counted)
{
	enum { INTERVAL = 384 };
	unsigned n_held = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		uint64_t random = seed, n[N_KINDS] = { 0 }, lost = 0, taken = 0;
		struct spe_interval_range range = { INTERVAL, 1, 1, { 0 } };

		for (double at = 0; at < operations; at += INTERVAL) {
			double which = next_random(&random);
			int kind = which < shares[0] ? 0 : which < shares[0] + shares[1] ? 1 : 2;
			bool is_lost = next_random(&random) < losses[kind];

			n[kind] += !is_lost;
			taken += !is_lost;
			lost += is_lost;
		}
		range.lost.is_unknown = lost > 0 && !is_counted;
		if (is_counted) {
			range.lost.n = range.lost.most = (double)lost;
			range.lost.share = (double)lost / (double)(lost + taken);
		}
		for (int kind = 0; kind < N_KINDS; kind++) {
			struct estimate e = estimate_of(n[kind], n[kind] * INTERVAL, &range);
			double truth = operations * shares[kind];

			n_held += e.low <= truth && truth <= e.high;
		}
	}
	return (double)n_held / (N_SEEDS * N_KINDS);
}

/* 19 times out of 20, whichever kinds the lost samples were of. */
static void limits_hold_the_truth(void **state)
{
	static const double shares[][N_KINDS] = { { 0.2, 0.3, 0.5 }, { 0.01, 0.09, 0.9 } };
	static const double losses[][N_KINDS] = {
		{ 0, 0, 0 },	{ 0.1, 0.1, 0.1 }, { 0.4, 0.02, 0.02 },
		{ 0.95, 0, 0 }, { 0, 0.5, 0.1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(shares); i++)
		for (size_t k = 0; k < COUNT(losses); k++)
			for (int is_counted = 0; is_counted < 2; is_counted++) {
				double part = held(shares[i], losses[k], 500000, is_counted);

				print_message("%zu, %zu, counted %d: %g\n", i, k, is_counted, part);
				assert_true(part >= 0.93);
			}
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

	const struct lost_samples complete = { 0 }, some = { .n = 5, .most = 5 };
	const struct lost_samples unknown = { .is_unknown = true };

	(void)state;
	assert_true(estimate_share(5, 10, &some).total == 0.5);
	assert_true(is_within(estimate_share(5, 10, &some).low,
			      estimate_share(5, 15, &complete).low, 1e-12));
	assert_true(is_within(estimate_share(5, 10, &some).high,
			      estimate_share(10, 15, &complete).high, 1e-12));
	assert_true(estimate_share(5, 10, &unknown).low == 0);
	assert_true(estimate_share(5, 10, &unknown).high == 1);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct estimate e = estimate_share(cases[i].n, cases[i].n_all, &complete);

		assert_true(is_within(e.total, cases[i].share, 1e-9));
		assert_true(is_within(e.low, cases[i].low, 1e-5));
		assert_true(is_within(e.high, cases[i].high, 1e-5));
	}
}

/* 20 of 120 lost: all of them may be of the part, or none. */
static void lost_samples_widen_shares(void **state)
{
	const struct lost_samples complete = { 0 }, unknown = { .is_unknown = true },
				  some = {
					  .is_counted = true, .n = 20, .most = 20, .share = 1 / 6.
				  };

	(void)state;
	assert_true(estimate_lost_error(0.5, &complete) == 0);
	assert_true(estimate_lost_error(0.5, &unknown) == 0);
	assert_true(is_within(estimate_lost_error(0.5, &some), 0.5 / 6, 1e-9));
	assert_true(is_within(estimate_lost_error(0.9, &some), 0.9 - 90 / 120., 1e-9));
	assert_true(is_within(estimate_lost_error(0.1, &some), 30 / 120. - 0.1, 1e-9));
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
		cmocka_unit_test(losses_leave_the_lower_limit),
		cmocka_unit_test(counted_losses_bound_it),
		cmocka_unit_test(amounts_are_scaled_or_bounds),
		cmocka_unit_test(limits_hold_the_truth),
		cmocka_unit_test(shares_have_the_limits_of_wilson),
		cmocka_unit_test(lost_samples_widen_shares),
		cmocka_unit_test(full_counters_bound_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies of records, their distributions, and limits of estimates. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "estimate/estimate.h"
#include "estimate/latency.h"
#include "estimate/shares.h"

#define ALL (HAS_TOTAL | HAS_ISSUE | HAS_XLAT)

static void knows_what_is_full(void **state)
{
	enum { A = LATENCY_ABSENT, U = LATENCY_USABLE, F = LATENCY_FULL };
	static const struct {
		uint32_t has;
		uint16_t total, issue, xlat;
		uint8_t state[N_LATENCIES]; /* total, execution, issue, translation, access */
		uint16_t execution, access;
	} cases[] = {
		{ ALL, 347, 325, 1, { U, U, U, U, U }, 21, 22 },
		{ ALL, 4095, 325, 1, { F, F, U, U, F }, 0, 0 },
		{ ALL, 4095, 4095, 1, { F, F, F, U, F }, 0, 0 },
		{ ALL, 65535, 10, 1, { F, F, U, U, F }, 0, 0 },
		{ ALL, 4096, 96, 0, { U, U, U, U, U }, 4000, 4000 },
		{ ALL, 4094, 94, 4095, { U, F, U, F, U }, 0, 4000 },
		{ ALL, 10, 20, 1, { U, U, U, U, U }, 0, 0 },
		{ HAS_TOTAL | HAS_ISSUE, 10, 4, 99, { U, U, U, A, U }, 6, 6 },
		{ HAS_TOTAL, 10, 0, 0, { U, A, A, A, A }, 0, 0 },
		{ 0, 0, 0, 0, { A, A, A, A, A }, 0, 0 },
	};
	struct batch *b = batch_new();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct latencies l;

		b->has[0] = cases[i].has;
		b->total[0] = cases[i].total;
		b->issue[0] = cases[i].issue;
		b->xlat[0] = cases[i].xlat;
		l = latencies_of(b, 0);
		assert_memory_equal(l.state, cases[i].state, sizeof(l.state));
		if (l.state[LATENCY_EXECUTION] == U)
			assert_int_equal(l.cycles[LATENCY_EXECUTION], cases[i].execution);
		if (l.state[LATENCY_ACCESS] == U)
			assert_int_equal(l.cycles[LATENCY_ACCESS], cases[i].access);
	}
	batch_free(b);
}

static double quantile(const struct histogram *h, double q)
{
	bool is_full;

	return histogram_quantile(h, q, &is_full);
}

/*
 * Each value alone: exact up to 511, within 0.2 % above. From 4096 on, where buckets have 16 values
 * and more, every third.
 */
static void resolves_values(void **state)
{
	(void)state;
	for (unsigned value = 0; value < 65536; value += value < 4096 ? 1 : 3) {
		struct histogram h = { 0 };
		struct histogram two = { 0 };

		histogram_add(&h, (uint16_t)value, LATENCY_USABLE);
		assert_true(fabs(quantile(&h, 0.5) - value) <=
			    (value < HISTOGRAM_EXACT ? 0 : 0.002 * value));
		assert_int_equal(histogram_between(&h, 0, 65536), 1);
		/* With a larger one, the middle of the bucket counts. */
		histogram_add(&two, (uint16_t)value, LATENCY_USABLE);
		histogram_add(&two, 65534, LATENCY_USABLE);
		assert_true(fabs(quantile(&two, 0.5) - value) <=
			    (value < HISTOGRAM_EXACT ? 0 : 0.002 * value));
		histogram_release(&h);
		histogram_release(&two);
	}
}

/* Against sorting, whole and merged from parts. */
static void agrees_with_sorting(void **state)
{
	struct histogram whole = { 0 }, parts[3] = { 0 };
	bool is_full;

	(void)state;
	/* 0, 1, 2 … 399, and a hundred full ones. */
	for (unsigned i = 0; i < 500; i++) {
		enum latency_state s = i < 400 ? LATENCY_USABLE : LATENCY_FULL;
		uint16_t value = i < 400 ? (uint16_t)((i * 7) % 400) : 4095;

		histogram_add(&whole, value, s);
		histogram_add(&parts[i % 3], value, s);
	}
	histogram_add(&whole, 77, LATENCY_ABSENT);
	histogram_merge(&parts[0], &parts[1]);
	histogram_merge(&parts[0], &parts[2]);
	for (unsigned percent = 1; percent <= 100; percent++) {
		double q = percent / 100.0;
		double expected = percent <= 80 ? percent * 5 - 1 : 4095;

		assert_true(histogram_quantile(&whole, q, &is_full) == expected);
		assert_int_equal(is_full, percent > 80);
		assert_true(histogram_quantile(&parts[0], q, &is_full) == expected);
	}
	assert_int_equal(histogram_between(&whole, 100, 200), 100);
	assert_true(isnan(quantile(&(struct histogram){ 0 }, 0.5)));
	histogram_release(&whole);
	for (int i = 0; i < 3; i++)
		histogram_release(&parts[i]);
}

/* Against the exact limits of a Poisson count (published tables of Garwood's interval). */
static void limits_counts(void **state)
{
	static const struct {
		uint64_t n;
		double low, high;
	} cases[] = {
		{ 0, 0, 3.689 },	  { 1, 0.0253, 5.572 },	 { 2, 0.242, 7.225 },
		{ 5, 1.623, 11.668 },	  { 10, 4.795, 18.390 }, { 30, 20.241, 42.827 },
		{ 100, 81.364, 121.627 },
	};

	const struct spe_interval_range known = { 1000, 1, 1, { 0 } };
	const struct spe_interval_range assumed = { 1152, 1025.0 / 1152, 1, { 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct estimate e = estimate_of(cases[i].n, cases[i].n * 1000, &known);

		assert_true(e.total == (double)cases[i].n * 1000);
		assert_true(fabs(e.low / 1000 - cases[i].low) < 0.03);
		assert_true(fabs(e.high / 1000 - cases[i].high) < 0.03);
	}
	/* An interval that is known from 1025 to 1152 only. */
	struct estimate e = estimate_of(100, 115200, &assumed);

	assert_true(fabs(e.low - 81.364 * 1025) < 50);
	assert_true(fabs(e.high - 121.627 * 1152) < 50);
}

static void limits_shares(void **state)
{
	const struct lost_samples complete = { 0 };
	struct estimate none = estimate_share(0, 10, &complete),
			all = estimate_share(10, 10, &complete);

	(void)state;
	assert_true(none.total == 0 && none.low == 0 && fabs(none.high - 0.2775) < 1e-3);
	assert_true(all.total == 1 && fabs(all.high - 1) < 1e-9 && fabs(all.low - 0.7225) < 1e-3);
	assert_true(estimate_share(0, 0, &complete).high == 1);
}

/* By hand: of 1000 cycles, full counters are worth a word from 11 on. */
static void full_counters_bound_shares(void **state)
{
	static const struct {
		struct latency_amount part, whole;
		uint64_t n;
		enum cell_mark mark;
	} cases[] = {
		{ { 200, 0 }, { 1000, 0 }, 50, MARK_EXACT },
		{ { 200, 200 }, { 1000, 200 }, 50, MARK_SATURATED },
		{ { 800, 0 }, { 1000, 200 }, 50, MARK_AT_MOST },
		{ { 800, 100 }, { 1000, 200 }, 50, MARK_UNCERTAIN },
		{ { 1000, 500 }, { 1000, 500 }, 50, MARK_EXACT }, /* all of it */
		{ { 800, 10 }, { 1000, 20 }, 50, MARK_EXACT },
		{ { 800, 11 }, { 1000, 21 }, 50, MARK_SATURATED },
		{ { 800, 0 }, { 1000, 11 }, 50, MARK_AT_MOST },
		{ { 200, 200 }, { 1000, 200 }, 9, MARK_SPARSE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cell c = cell_latency_share(cases[i].part, cases[i].whole, cases[i].n);

		assert_true(c.number == (double)cases[i].part.cycles / 1000);
		if (c.mark != cases[i].mark)
			fail_msg("case %zu: %d", i, (int)c.mark);
	}
	assert_int_equal(
		cell_latency_share((struct latency_amount){ 0 }, (struct latency_amount){ 0 }, 50)
			.type,
		CELL_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_counters_bound_shares),
		cmocka_unit_test(knows_what_is_full),
		cmocka_unit_test(resolves_values),
		cmocka_unit_test(agrees_with_sorting),
		cmocka_unit_test(limits_counts),
		cmocka_unit_test(limits_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

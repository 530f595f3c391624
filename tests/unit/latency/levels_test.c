/* SPDX-License-Identifier: Apache-2.0 */
/* Plateaus of latencies by size: with noise, with slopes between them, and without any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/random.h"
#include "latency/levels.h"
#include "latency/sizes.h"

enum { MOST = 64 };

struct curve {
	double sizes[MOST], latencies[MOST];
	size_t n;
};

/* 4K … 64M, two sizes for each doubling. */
static struct curve curve_of_sizes(void)
{
	struct sizes sizes;
	struct curve c = { .n = 0 };

	sizes_between(&sizes, 4096, 64 << 20, 64);
	for (; c.n < sizes.n; c.n++)
		c.sizes[c.n] = (double)sizes.items[c.n];
	return c;
}

/* Of a machine with 64K, 1M, 16M: what does not fit comes from the next level, all of it from twice the size on. */
static double latency_at(double size)
{
	static const struct {
		double bytes, ns;
	} caches[] = { { 64 << 10, 1.4 }, { 1 << 20, 5.0 }, { 16 << 20, 36.6 }, { 1e18, 101 } };
	double latency = caches[0].ns;

	for (size_t i = 0; i + 1 < COUNT(caches); i++) {
		double beyond = size / caches[i].bytes - 1;

		if (beyond > 0)
			latency = caches[i].ns +
				  (caches[i + 1].ns - caches[i].ns) * (beyond > 1 ? 1 : beyond);
	}
	return latency;
}

static void check_four(const struct levels *l, const struct curve *c)
{
	static const double ns[] = { 1.4, 5.0, 36.6, 101 };
	static const double from[] = { 4 << 10, 128 << 10, 2 << 20, 32 << 20 };
	static const double to[] = { 64 << 10, 1 << 20, 16 << 20, 64 << 20 };

	assert_int_equal(l->n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_true(l->items[i].latency > ns[i] * 0.98 &&
			    l->items[i].latency < ns[i] * 1.05);
		assert_true(c->sizes[l->items[i].first] >= from[i] * 0.7 &&
			    c->sizes[l->items[i].first] <= from[i] * 1.01);
		assert_true(c->sizes[l->items[i].last] >= to[i] * 0.99 &&
			    c->sizes[l->items[i].last] <= to[i] * 1.5);
	}
}

static void finds_four(void **state)
{
	struct curve c = curve_of_sizes();
	struct levels l;

	(void)state;
	for (size_t i = 0; i < c.n; i++)
		c.latencies[i] = latency_at(c.sizes[i]);
	levels_find(c.sizes, c.latencies, c.n, &l);
	check_four(&l, &c);
}

/* One in five is disturbed, by up to ten times; never the last ones, behind which nothing tells. */
static void finds_them_on_a_busy_machine(void **state)
{
	struct curve c = curve_of_sizes();

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t random = seed;
		struct levels l;

		for (size_t i = 0; i < c.n; i++) {
			c.latencies[i] = latency_at(c.sizes[i]) *
					 (1 + 0.02 * (double)(random_next(&random) % 100) / 100);
			if (random_next(&random) % 5 == 0 && i + 2 < c.n && i % 4 != 0)
				c.latencies[i] *= 1 + (double)(random_next(&random) % 900) / 100;
		}
		levels_find(c.sizes, c.latencies, c.n, &l);
		assert_in_range(l.n, 3, 5);
		assert_true(l.items[0].latency > 1.37 && l.items[0].latency < 1.8);
		assert_true(l.items[l.n - 1].latency > 99 && l.items[l.n - 1].latency < 110);
		for (size_t i = 1; i < l.n; i++) {
			assert_true(l.items[i].first > l.items[i - 1].last);
			assert_true(l.items[i].latency >= l.items[i - 1].latency * 1.25);
		}
	}
}

static void has_rules_for_few_and_for_none(void **state)
{
	static const double sizes[] = { 1, 2, 4, 8, 16, 32 };
	static const double flat[] = { 3, 3, 3, 3, 3, 3 }, slope[] = { 1, 2, 4, 8, 16, 32 };
	static const double stairs[] = { 1, 1.1, 1.3, 1.35, 1.6, 1.7 };
	struct levels l;

	(void)state;
	levels_find(sizes, flat, 0, &l);
	assert_int_equal(l.n, 0);
	levels_find(sizes, flat, 1, &l);
	assert_int_equal(l.n, 0); /* no doubling */
	levels_find(sizes, flat, 2, &l);
	assert_int_equal(l.n, 1);
	levels_find(sizes, flat, COUNT(flat), &l);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.items[0].last, 5);
	levels_find(sizes, slope, COUNT(slope), &l);
	assert_int_equal(l.n, 0);
	levels_find(sizes, stairs, COUNT(stairs),
		    &l); /* less than a quarter apart: one level, and the next */
	assert_int_equal(l.n, 2);
	assert_int_equal(l.items[0].last + 1, l.items[1].first);
}

static void has_medians(void **state)
{
	double odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 100 };

	(void)state;
	assert_true(median_of(odd, 3) == 5);
	assert_true(median_of(even, 4) == 3.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_four),
		cmocka_unit_test(finds_them_on_a_busy_machine),
		cmocka_unit_test(has_rules_for_few_and_for_none),
		cmocka_unit_test(has_medians),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

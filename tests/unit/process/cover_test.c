/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "process/cover.h"

static const struct range drawn[] = { { 10, 29 }, { 40, 49 }, { 20, 44 }, { 0, UINT64_MAX } };

static const struct {
	uint32_t step;
	uint64_t address;
	struct piece expected;
} cases[] = {
	{ 0, 15, { { 10, 29 }, 0, 0, 1 } },
	{ 1, 15, { { 10, 19 }, 1, 1, 4 } },
	{ 3, 10, { { 10, 19 }, 1, 1, 4 } },
	{ 2, 20, { { 20, 29 }, 1, 1, 3 } },
	{ 3, 20, { { 20, 44 }, 3, 3, 4 } },
	{ 2, 35, { { 30, 39 }, 0, 0, 3 } },
	{ 3, 45, { { 45, 49 }, 2, 2, 4 } },
	{ 3, 50, { { 50, UINT64_MAX }, 0, 0, 4 } },
	{ 4, 45, { { 0, UINT64_MAX }, 4, 4, 5 } },
	{ 4, UINT64_MAX, { { 0, UINT64_MAX }, 4, 4, 5 } },
};

static void test_known(void **state)
{
	struct cover c;

	(void)state;
	cover_build(&c, drawn, COUNT(drawn));
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct piece p = cover_find(&c, cases[i].step, cases[i].address);

		assert_int_equal(p.range.start, cases[i].expected.range.start);
		assert_int_equal(p.range.last, cases[i].expected.range.last);
		assert_int_equal(p.item, cases[i].expected.item);
		assert_int_equal(p.from, cases[i].expected.from);
		assert_int_equal(p.to, cases[i].expected.to);
	}
	cover_release(&c);
}

static void test_empty(void **state)
{
	struct cover c = { 0 };
	struct piece p = cover_find(&c, 0, 5);

	(void)state;
	assert_int_equal(p.item, 0);
	assert_int_equal(p.range.last, UINT64_MAX);
	cover_build(&c, NULL, 0);
	assert_int_equal(cover_find(&c, 0, UINT64_MAX).item, 0);
	cover_release(&c);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static uint32_t slow_find(const struct range *ranges, uint32_t step, uint64_t address)
{
	while (step > 0 && (address < ranges[step - 1].start || address > ranges[step - 1].last))
		step--;
	return step;
}

static void random_ranges(struct range *ranges, size_t n, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t start = next_random(seed) % 64, length = next_random(seed) % 24;

		ranges[i] = (struct range){ start, start + length };
		if (next_random(seed) % 16 == 0)
			ranges[i].last = UINT64_MAX;
	}
}

static void check_all_points(const struct cover *c, const struct range *ranges, uint32_t n)
{
	for (uint32_t step = 0; step <= n; step++) {
		for (uint64_t address = 0; address < 100; address++) {
			struct piece p = cover_find(c, step, address);

			assert_int_equal(p.item, slow_find(ranges, step, address));
			assert_true(p.range.start <= address && address <= p.range.last);
			assert_true(p.from <= step && step < p.to);
			assert_int_equal(slow_find(ranges, p.from, p.range.start), p.item);
			assert_int_equal(slow_find(ranges, p.to - 1, p.range.last), p.item);
		}
	}
}

static void test_random(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (uint32_t n = 1; n < 40; n++) {
		struct range ranges[40];
		struct cover c;

		random_ranges(ranges, n, &seed);
		cover_build(&c, ranges, n);
		assert_true(c.first[n + 1] <= 3 * n + 1);
		check_all_points(&c, ranges, n);
		cover_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

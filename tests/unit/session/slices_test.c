/* SPDX-License-Identifier: Apache-2.0 */
/* Time in slices: where they begin and end, and bars for what is in them. */
#include "session/slices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "table/table.h"

static void times_have_their_slice(void **state)
{
	static const struct slices s = { .first_ns = 1000, .width_ns = 101, .n = 10 };
	static const struct {
		uint64_t time_ns;
		uint32_t slice;
	} cases[] = {
		{ 0, 0 },    { 1000, 0 }, { 1100, 0 }, { 1101, 1 },	  { 1909, 9 },
		{ 2000, 9 }, { 2010, 9 }, { 9999, 9 }, { UINT64_MAX, 9 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(slices_find(&s, cases[i].time_ns), cases[i].slice);
	assert_int_equal(slices_start_ns(&s, 0), 0);
	assert_int_equal(slices_start_ns(&s, 9), 909);
}

static void slices_are_of_the_span(void **state)
{
	static const struct {
		struct slices_span span;
		uint32_t n;
		int rc;
		uint64_t width_ns, offset_ns;
	} cases[] = {
		{ { 100, 100, 1100 }, 10, 0, 101, 0 },
		{ { 100, 600, 1100 }, 10, 0, 51, 500 },
		{ { 0, 600, 1100 }, 10, 0, 51, 0 }, /* where the capture starts is not known */
		{ { 100, 100, 1100 }, 1, 0, 1001, 0 },
		{ { 100, 100, 1100 }, SLICES_MAX, 0, 6, 0 },
		{ { 100, 100, 1100 }, SLICES_MAX + 1, -1 },
		{ { 100, 100, 1100 }, 0, -1 },
		{ { 100, 100, 100 }, 10, -1 }, /* all at once */
		{ { 100, 100, 101 }, 10, 0, 1, 0 },
		{ { 0, 0, 0 }, 10, -1 }, /* no times */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct slices_span *span = &cases[i].span;
		struct slices slices = { 0 };
		struct err err;

		print_message("%zu\n", i);
		assert_int_equal(slices_init(span, cases[i].n, &slices, &err), cases[i].rc);
		assert_int_equal(slices.n, cases[i].rc < 0 ? 0 : cases[i].n);
		assert_int_equal(slices.width_ns, cases[i].width_ns);
		assert_int_equal(slices_start_ns(&slices, 0), cases[i].offset_ns);
		if (cases[i].rc == 0)
			assert_int_equal(slices_find(&slices, span->last_ns),
					 (span->last_ns - span->first_ns) / cases[i].width_ns);
	}
}

/* Bars: 0 is nothing, 1 to 8 are eighths of the largest; neighbours share one if there are many. */
static void bars_have_their_heights(void **state)
{
	static const struct column column = { "x", NULL, "", CELL_TEXT, 0, "" };
	static const struct {
		uint64_t amounts[6];
		uint32_t n;
		const char *bars;
	} cases[] = {
		{ { 0 }, 0, "" },
		{ { 0, 0, 0 }, 3, "000" },
		{ { 1, 1 }, 2, "88" },
		{ { 0, 1, 50, 100 }, 4, "0158" },
		{ { 7, 0, 1, 3, 4 }, 5, "80245" },
	};
	struct table t;
	uint64_t many[2 * SLICES_BARS + 1];

	(void)state;
	table_init(&t, "t", NULL, &column, 1);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(slices_spark(&t, cases[i].amounts, cases[i].n), cases[i].bars);
	for (uint32_t i = 0; i < COUNT(many); i++)
		many[i] = 1;
	/* Three each: 81 of them are 27 bars. */
	assert_string_equal(slices_spark(&t, many, COUNT(many)), "888888888888888888888888888");
	table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_their_slice),
		cmocka_unit_test(slices_are_of_the_span),
		cmocka_unit_test(bars_have_their_heights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single loads: the files that have them, and what is made of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "latency/import.h"
#include "latency/report.h"

/* Three lists on the ARM1176 of the first Raspberry Pi. */
static const char three[] = "# cpu arm1176\n# size 8K\n9 1000 ####\n\n"
			    "# size 64K\n 9   49 #####\n17    1 #\n61  320 ####\n62  571 "
			    "########\n63   11 #\n64    4 #\n"
			    "65    1 #\n69    1 #\n70   27 ###\n"
			    "# size 1M\n113 4\n116 224\n117 23\n118 59\n119 129\n120 5\n121 "
			    "224\n122 185\n125 4\n130 9\n"
			    "132 7\n133 18\n135 5\n";

static void must_read(struct imported *out, const char *text)
{
	struct err err;

	if (imported_read(out, text, strlen(text), &err) < 0)
		fail_msg("%s", err.text);
}

static void reads_three_lists(void **state)
{
	static const struct {
		uint64_t size, n, mode, low, high;
	} wanted[] = { { 8 << 10, 1000, 9, 9, 9 },
		       { 64 << 10, 985, 62, 61, 62 },
		       { 1 << 20, 896, 116, 116, 122 } };
	struct imported all = { 0 };

	(void)state;
	must_read(&all, three);
	assert_string_equal(all.cpu, "arm1176");
	assert_int_equal(all.list.n, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		struct time_peak peak = times_peak(&all.list.items[i].times);

		assert_int_equal(all.list.items[i].size_bytes, wanted[i].size);
		assert_int_equal(all.list.items[i].times.n, wanted[i].n);
		assert_int_equal(peak.mode, wanted[i].mode);
		assert_int_equal(peak.low, wanted[i].low);
		assert_int_equal(peak.high, wanted[i].high);
	}
	imported_release(&all);
}

static double cell_of(const struct table *t, size_t row, const char *column)
{
	int at = table_column(t, column);

	assert_true(at >= 0);
	return table_cell(t, row, (size_t)at)->type == CELL_NUMBER
		       ? table_cell(t, row, (size_t)at)->number
		       : NAN;
}

/* 9 measured where 3 are true: 6 too many, so 62 are 56 and 122 are 116. */
static void takes_the_bias_off(void **state)
{
	const struct load_to_use known = { .cycles = 3, .is_catalog = true, .cpu = "ARM1176JZF-S" };
	const struct load_to_use unknown = { .cpu = NULL };
	struct latency_report report = { 0 };
	struct imported all = { 0 };

	(void)state;
	must_read(&all, three);
	latency_report_imported(&report, &all, &known);
	assert_true(cell_of(&report.clock, 0, "bias_cycles") == 6);
	assert_true(cell_of(&report.levels, 0, "cycles") == 3);
	assert_true(cell_of(&report.levels, 1, "cycles") == 56);
	assert_true(cell_of(&report.levels, 2, "cycles") == 116);
	latency_report_release(&report);
	report = (struct latency_report){ 0 };
	latency_report_imported(&report, &all, &unknown);
	assert_true(isnan(cell_of(&report.levels, 1, "cycles")));
	assert_true(isnan(cell_of(&report.clock, 0, "bias_cycles")));
	latency_report_release(&report);
	imported_release(&all);
}

/* One load for each line, in any order, without a size; then another file. */
static void reads_single_loads(void **state)
{
	struct imported all = { 0 };

	(void)state;
	must_read(&all, "5\r\n3\n\n5\n# a remark\n  4\n5");
	assert_int_equal(all.list.n, 1);
	assert_int_equal(all.list.items[0].size_bytes, 0);
	assert_int_equal(all.list.items[0].times.n, 5);
	assert_int_equal(all.list.items[0].times.list.n, 3);
	assert_int_equal(times_peak(&all.list.items[0].times).mode, 5);
	assert_int_equal(times_peak(&all.list.items[0].times).low, 3);
	assert_int_equal(times_quantile(&all.list.items[0].times, 0.5), 5);
	assert_int_equal(times_quantile(&all.list.items[0].times, 0.2), 3);
	must_read(&all, "7\n");
	assert_int_equal(all.list.n, 2);
	assert_int_equal(all.list.items[1].times.n, 1);
	imported_release(&all);
}

static void says_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *says;
		uint64_t at;
	} cases[] = {
		{ "", "no times in it", ERR_NOWHERE },
		{ "# size 8K\n", "no times in it", ERR_NOWHERE },
		{ "9 1\nabc\n", "found 'abc', wanted a time in cycles", 4 },
		{ "-9\n", "found '-9'", 0 },
		{ "9.5\n", "found '9.5'", 0 },
		{ "9 1.5\n", "found '9 1.5'", 0 },
		{ "9 1 2\n", "found '9 1 2'", 0 },
		{ "9 0\n", "no times in it", ERR_NOWHERE },
		{ "999999999999999999999 1\n", "found '99999", 0 },
		{ "9 999999999999999999999\n", "found '9 99999", 0 },
		{ "9 1099511627776\n9 1\n", "more loads than can be counted", 16 },
		{ "# size x\n", "wanted a size", 0 },
		{ "# size 8Kx\n", "wanted a size", 0 },
		{ "# cpu\t \n", "the name of a CPU", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct imported all = { 0 };
		struct err err;

		assert_int_equal(imported_read(&all, cases[i].text, strlen(cases[i].text), &err),
				 -1);
		if (strstr(err.text, cases[i].says) == NULL || err.at != cases[i].at)
			fail_msg("case %zu: %s (at %llu)", i, err.text, (unsigned long long)err.at);
		imported_release(&all);
	}
}

/* Cut at each byte, and with each byte damaged, it is read or refused. */
static void survives_damage(void **state)
{
	static const char bad[] = { '\0', '\n', ' ', '#', '9', '-', (char)0xff };

	(void)state;
	for (size_t n = 0; n < sizeof(three); n++) {
		struct imported all = { 0 };
		char *copy = mem_alloc(1, n + 1);
		struct err err;

		memcpy(copy, three, n);
		if (imported_read(&all, copy, n, &err) == 0)
			assert_true(all.list.n > 0);
		imported_release(&all);
		for (size_t i = 0; i < sizeof(bad) && n > 0; i++) {
			all = (struct imported){ 0 };
			copy[n / 2] = bad[i];
			(void)imported_read(&all, copy, n, &err);
			imported_release(&all);
		}
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_three_lists),  cmocka_unit_test(takes_the_bias_off),
		cmocka_unit_test(reads_single_loads), cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(survives_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

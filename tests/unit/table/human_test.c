/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "table/human.h"

static void assert_human(struct cell cell, const char *unit, bool is_share, int decimals,
			 const char *expected)
{
	char whole[64];
	struct human h;

	human_number(&cell, unit, is_share, decimals, &h);
	snprintf(whole, sizeof(whole), "%s%s%s", h.whole, h.fraction, h.suffix);
	assert_string_equal(whole, expected);
}

static void whole_numbers(void **state)
{
	static const struct {
		uint64_t value;
		const char *unit, *expected;
	} cases[] = {
		{ 0, "records", "0" },
		{ 999, "records", "999" },
		{ 1000, "records", "1 000" },
		{ 11245, "records", "11 245" },
		{ 9999999, "records", "9 999 999" },
		{ 10000000, "records", "10.0 M" },
		{ 99949999, "records", "99.9 M" },
		{ 99950000, "records", "100.0 M" },
		{ 999499999, "cycles", "999.5 M" },
		{ 999500000, "cycles", "1.00 G" },
		{ 36800000000, "cycles", "36.8 G" },
		{ 1500000000000, "cycles", "1.50 T" },
		{ UINT64_MAX, "cycles", "18.4 E" },
		/* Without a unit it is a name. */
		{ 0, "", "0" },
		{ 12345678, "", "12345678" },
		{ UINT64_MAX, "", "18446744073709551615" },
		{ 0, "ns", "0 ns" },
		{ 999, "ns", "999 ns" },
		{ 1000, "ns", "1.00 µs" },
		{ 999499, "ns", "999.5 µs" },
		{ 1240000, "ns", "1.24 ms" },
		{ 16900000000, "ns", "16.9 s" },
		{ 3600000000000, "ns", "3 600.0 s" },
		{ 0, "bytes", "0 B" },
		{ 448, "bytes", "448 B" },
		{ 4096, "bytes", "4 KiB" },
		{ 5000, "bytes", "5 000 B" },
		{ 98304, "bytes", "96 KiB" },
		{ 100000, "bytes", "97.7 KiB" },
		{ 2097152, "bytes", "2 MiB" },
		{ 100663296, "bytes", "96 MiB" },
		{ 1572864, "bytes", "1 536 KiB" },
		{ 123456789, "bytes", "117.7 MiB" },
		{ 1ull << 40, "bytes", "1 TiB" },
		{ 2800000000, "Hz", "2.80 GHz" },
		{ 25000000, "Hz", "25.0 MHz" },
		{ 100, "Hz", "100 Hz" },
		{ 9500000000, "bytes/s", "9.50 GB/s" },
		{ 25, "%", "25.0 %" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_human(cell_count(cases[i].value), cases[i].unit, false, 0,
			     cases[i].expected);
}

static void signed_numbers(void **state)
{
	static const struct {
		int64_t value;
		const char *unit, *expected;
	} cases[] = {
		{ -1, "cycles", "-1" },
		{ -11245, "cycles", "-11 245" },
		{ -36800000000, "cycles", "-36.8 G" },
		{ INT64_MIN, "cycles", "-9.22 E" },
		{ INT64_MIN, "", "-9223372036854775808" },
		{ -1240000, "ns", "-1.24 ms" },
		{ -4096, "bytes", "-4 KiB" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_human(cell_signed(cases[i].value), cases[i].unit, false, 0,
			     cases[i].expected);
}

static void fractions(void **state)
{
	static const struct {
		double value;
		const char *unit;
		bool is_share;
		int decimals;
		const char *expected;
	} cases[] = {
		{ 0.719, "", true, 0, "71.9 %" },
		{ 0, "", true, 0, "0.0 %" },
		{ 1, "", true, 0, "100.0 %" },
		{ 0.00049, "", true, 0, "<0.1 %" },
		{ 0.0005, "", true, 0, "0.1 %" },
		{ -0.0312, "", true, 0, "-3.1 %" },
		{ -0.00001, "", true, 0, "0.0 %" },
		{ 71.94, "%", false, 0, "71.9 %" },
		{ 93.9, "ns", false, 0, "93.9 ns" },
		{ 0, "ns", false, 0, "0 ns" },
		{ 0.5, "ns", false, 0, "0.50 ns" },
		{ 999.96, "ns", false, 0, "1.00 µs" },
		{ 0.22, "", false, 2, "0.22" },
		{ 106.5, "records", false, 1, "106.5" },
		{ 43810.4, "cycles", false, 0, "43 810" },
		{ 36.8e9, "cycles", false, 0, "36.8 G" },
		{ -2.5, "cycles", false, 1, "-2.5" },
		{ -0.001, "cycles", false, 1, "0.0" },
		{ 1e300, "", false, 2, "1.00e+282 E" },
		{ -1e300, "ns", false, 2, "-1.00e+291 s" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_human(cell_number(cases[i].value), cases[i].unit, cases[i].is_share,
			     cases[i].decimals, cases[i].expected);
}

static void decimals_follow_the_largest(void **state)
{
	static const struct {
		double largest;
		int decimals;
	} cases[] = {
		{ 0, 0 },    { 43810, 0 }, { 1000, 0 },	       { 999, 1 },  { 10, 1 },
		{ 9.9, 2 },  { 0.5, 2 },   { 0.1, 2 },	       { 0.05, 3 }, { 0.001, 4 },
		{ 1e-9, 6 }, { 1e300, 0 }, { (double)NAN, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(human_decimals(cases[i].largest), cases[i].decimals);
}

static void words_name_the_unit_once(void **state)
{
	const struct {
		struct cell cell;
		const char *unit, *expected;
	} cases[] = {
		{ cell_count(36800000000), "cycles", "36.8 G cycles" },
		{ cell_count(41213), "samples", "41 213 samples" },
		{ cell_count(1), "samples", "1 sample" },
		{ cell_count(0), "samples", "0 samples" },
		{ cell_number(1), "cycles", "1.00 cycles" },
		{ cell_count(5000), "", "5000" },
		{ cell_count(2 << 20), "bytes", "2 MiB" },
		{ cell_number(0.216), "", "0.22" },
		{ cell_number(1.24e6), "ns", "1.24 ms" },
		{ cell_number(1.5), "cycles", "1.50 cycles" },
		{ cell_number((double)NAN), "cycles", "-" },
		{ { .type = CELL_NONE }, "cycles", "-" },
		{ cell_hex(0x4a2080), "", "0x4a2080" },
		{ cell_bool(true), "", "yes" },
		{ cell_bool(false), "", "no" },
		{ cell_text("text"), "", "text" },
	};
	struct text words = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		text_reset(&words);
		human_words(&words, &cases[i].cell, cases[i].unit);
		text_char(&words, '\0');
		assert_string_equal(words.bytes, cases[i].expected);
	}
	text_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(fractions),
		cmocka_unit_test(decimals_follow_the_largest),
		cmocka_unit_test(words_name_the_unit_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

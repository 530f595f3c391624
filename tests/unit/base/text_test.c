/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

static void assert_text(struct text *t, const char *expected)
{
	text_char(t, '\0');
	assert_string_equal(t->bytes, expected);
	text_reset(t);
}

static void writes_unsigned(void **state)
{
	static const struct {
		uint64_t value;
		const char *decimal, *hex;
	} cases[] = {
		{ 0, "0", "0x0" },
		{ 9, "9", "0x9" },
		{ 10, "10", "0xa" },
		{ 99, "99", "0x63" },
		{ 100, "100", "0x64" },
		{ 255, "255", "0xff" },
		{ 4096, "4096", "0x1000" },
		{ 1234567, "1234567", "0x12d687" },
		{ UINT32_MAX, "4294967295", "0xffffffff" },
		{ INT64_MAX, "9223372036854775807", "0x7fffffffffffffff" },
		{ UINT64_MAX, "18446744073709551615", "0xffffffffffffffff" },
	};
	struct text t = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		text_u64(&t, cases[i].value);
		assert_text(&t, cases[i].decimal);
		text_hex(&t, cases[i].value);
		assert_text(&t, cases[i].hex);
	}
	text_release(&t);
}

/* Around each number of digits, in both systems, as the C library writes them. */
static void writes_all_lengths(void **state)
{
	struct text t = { 0 };

	(void)state;
	for (uint64_t base = 10; base <= 16; base += 6) {
		uint64_t power = 1;

		for (;; power *= base) {
			for (uint64_t value = power - 1; value != power + 2; value++) {
				char expected[64];

				snprintf(expected, sizeof(expected), "%" PRIu64 " 0x%" PRIx64,
					 value, value);
				text_u64(&t, value);
				text_char(&t, ' ');
				text_hex(&t, value);
				assert_text(&t, expected);
			}
			if (power > UINT64_MAX / base)
				break;
		}
	}
	text_release(&t);
}

static void writes_signed(void **state)
{
	static const struct {
		int64_t value;
		const char *expected;
	} cases[] = {
		{ 0, "0" },
		{ -1, "-1" },
		{ 42, "42" },
		{ INT64_MAX, "9223372036854775807" },
		{ INT64_MIN, "-9223372036854775808" },
	};
	struct text t = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		text_i64(&t, cases[i].value);
		assert_text(&t, cases[i].expected);
	}
	text_release(&t);
}

static void pads_hex(void **state)
{
	static const struct {
		uint64_t value;
		unsigned width;
		const char *expected;
	} cases[] = {
		{ 0, 0, "0" },
		{ 0, 1, "0" },
		{ 0, 16, "0000000000000000" },
		{ 10, 2, "0a" },
		{ 255, 2, "ff" },
		{ 0x1234, 2, "1234" },
		{ 1, 8, "00000001" },
		{ 0x123456789abcdef, 12, "123456789abcdef" },
		{ 0x123456789a, 12, "00123456789a" },
	};
	struct text t = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		text_hex_padded(&t, cases[i].value, cases[i].width);
		assert_text(&t, cases[i].expected);
	}
	text_release(&t);
}

static void parts_what_is_there(void **state)
{
	struct text t = { 0 };

	(void)state;
	text_part(&t);
	assert_int_equal(t.n, 0);
	text_str(&t, "one");
	text_part(&t);
	text_str(&t, "two");
	assert_text(&t, "one, two");
	text_release(&t);
}

static void writes_doubles_short(void **state)
{
	static const struct {
		double value;
		const char *expected;
	} cases[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ -1.5, "-1.5" },
		{ 0.1, "0.1" },
		{ 0.719, "0.719" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 93.9, "93.9" },
		{ 1e6 + 0.000001, "1000000.000001" },
		{ 36800000000, "36800000000" },
		{ 123456789012345, "123456789012345" },
		{ 9007199254740992, "9007199254740992" },
		{ 1e15, "1e+15" },
		{ 1e22, "1e+22" },
		{ 0.0001, "0.0001" },
		{ 0.00001, "1e-05" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ 5e-324, "5e-324" },
		{ (double)NAN, "" },
		{ (double)INFINITY, "" },
		{ -(double)INFINITY, "" },
	};
	struct text t = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		text_f64(&t, cases[i].value);
		assert_text(&t, cases[i].expected);
	}
	text_release(&t);
}

/* A fixed sequence of numbers without a pattern. */
static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed ^ *seed >> 29;
}

static void doubles_read_back(void **state)
{
	struct text t = { 0 };
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = next_random(&seed);
		double value;

		/* All bit patterns, fractions of small numbers, and short decimals in turn. */
		memcpy(&value, &bits, sizeof(value));
		if (i % 3 == 1)
			value = (double)(bits >> 40) / (double)((bits & 0xffff) + 1);
		if (i % 3 == 2)
			value = (double)(bits >> 44) / 1000;
		if (!isfinite(value))
			continue;
		text_f64(&t, value);
		text_char(&t, '\0');
		assert_true(strtod(t.bytes, NULL) == value);
		assert_true(i % 3 != 2 || t.n <= sizeof("1048576.999"));
		text_reset(&t);
	}
	text_release(&t);
}

static void grows_and_keeps_what_it_has(void **state)
{
	struct text t = { 0 };

	(void)state;
	text_add(&t, NULL, 0);
	assert_int_equal(t.n, 0);
	for (unsigned i = 0; i < 1000; i++)
		text_format(&t, "%04u;", i);
	text_repeat(&t, '=', 5000);
	assert_int_equal(t.n, 10000);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(strtoul(t.bytes + 5 * i, NULL, 10), i);
	assert_int_equal(t.bytes[9999], '=');
	text_release(&t);
	assert_null(t.bytes);
}

static void counts_things(void **state)
{
	static const struct {
		const char *many, *one;
	} cases[] = {
		{ "latency cycles", "latency cycle" },
		{ "accesses", "access" },
		{ "branch misses", "branch miss" },
		{ "branches", "branch" },
		{ "boxes", "box" },
		{ "caches of", "caches of" },
		{ "", "" },
		{ "times", "time" },
	};
	struct text t = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (uint64_t n = 0; n < 3; n++) {
			const char *expected = n == 1 ? cases[i].one : cases[i].many;

			text_reset(&t);
			text_things(&t, n, cases[i].many);
			assert_int_equal(t.n, strlen(expected));
			assert_int_equal(strncmp(t.n > 0 ? t.bytes : "", expected, t.n), 0);
		}
	}
	text_release(&t);
	assert_string_equal(plural(1), "");
	assert_string_equal(plural(0), "s");
	assert_string_equal(plural(2), "s");
}

static void quotes_for_a_shell(void **state)
{
	static const char *const words[] = { "cyclops", "-o", "a b", "", "it's", "$x", "x.data" };
	struct text t = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		text_shell_word(&t, words[i]);
	text_char(&t, '\0');
	assert_string_equal(t.bytes, "cyclops -o 'a b' '' 'it'\\''s' '$x' x.data");
	text_release(&t);
}

/* A file is replaced as a whole; a folder cannot be written. */
static void saves_to_a_file(void **state)
{
	static const char *const words[] = { "a longer text", "short", "" };
	char path[] = "/tmp/cyclops-text-XXXXXX", read[32];
	int fd = mkstemp(path);
	struct text t = { 0 };
	struct err err;

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < COUNT(words); i++) {
		text_reset(&t);
		text_str(&t, words[i]);
		assert_int_equal(text_save(&t, path, &err), 0);
		close(fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(pread(fd, read, sizeof(read), 0), strlen(words[i]));
		assert_memory_equal(read, words[i], strlen(words[i]));
	}
	assert_int_equal(text_save(&t, "/tmp", &err), -1);
	assert_non_null(strstr(err.text, "/tmp: cannot write: "));
	close(fd);
	unlink(path);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_all_lengths),
		cmocka_unit_test(writes_unsigned),
		cmocka_unit_test(writes_signed),
		cmocka_unit_test(pads_hex),
		cmocka_unit_test(parts_what_is_there),
		cmocka_unit_test(writes_doubles_short),
		cmocka_unit_test(doubles_read_back),
		cmocka_unit_test(counts_things),
		cmocka_unit_test(quotes_for_a_shell),
		cmocka_unit_test(saves_to_a_file),
		cmocka_unit_test(grows_and_keeps_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

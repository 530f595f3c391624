/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of single encodings. Examples of the format's own description are marked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "parquet/bits.h"
#include "parquet/delta.h"
#include "parquet/dictionary.h"
#include "parquet/packed.h"
#include "parquet/parquet.h"
#include "parquet/thrift.h"

static void expect_bytes(struct text *out, const uint8_t *bytes, size_t n)
{
	assert_int_equal(out->n, n);
	assert_memory_equal(out->bytes, bytes, n);
	text_release(out);
}

#define EXPECT(out, ...)                                                                           \
	expect_bytes(out, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

static void test_packs_from_the_lowest_bit(void **state)
{
	static const uint64_t values[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct text out = { 0 };

	(void)state;
	bits_pack(&out, values, 8, 3);
	EXPECT(&out, 0x88, 0xc6, 0xfa); /* the description's */
	bits_pack(&out, values, 3, 3);
	EXPECT(&out, 0x88, 0);
	bits_pack(&out, values, 8, 0);
	assert_int_equal(out.n, 0);
	bits_pack(&out, values, 2, 64);
	EXPECT(&out, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
}

/* Every width: what was packed is read bit by bit. */
static void test_packs_all_widths(void **state)
{
	enum { N = 129 };
	uint64_t values[N];
	struct text out = { 0 };

	(void)state;
	for (unsigned width = 1; width <= 64; width++) {
		uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;

		for (size_t i = 0; i < N; i++)
			values[i] = (i + 1) * 0x9e3779b97f4a7c15u & mask;
		text_reset(&out);
		bits_pack(&out, values, N, width);
		assert_int_equal(out.n, (N * width + 7) / 8);
		for (size_t bit = 0; bit < N * width; bit++)
			assert_int_equal((uint8_t)out.bytes[bit / 8] >> bit % 8 & 1,
					 values[bit / width] >> bit % width & 1);
	}
	text_release(&out);
}

static void test_runs(void **state)
{
	uint16_t values[100] = { 0 };
	struct text out = { 0 };

	(void)state;
	bits_put_runs(&out, values, 100, 1);
	EXPECT(&out, 0xc8, 1, 0);
	for (size_t i = 0; i < 9; i++)
		values[i] = i % 2;
	bits_put_runs(&out, values, 9, 1); /* two groups, filled up */
	EXPECT(&out, 2 << 1 | 1, 0xaa, 0);
	for (size_t i = 8; i < 20; i++)
		values[i] = 1;
	bits_put_runs(&out, values, 20, 1); /* a group, then equal ones */
	EXPECT(&out, 1 << 1 | 1, 0xaa, 12 << 1, 1);
	bits_put_runs(&out, values, 0, 1);
	assert_int_equal(out.n, 0);
	values[0] = 300;
	bits_put_runs(&out, values, 1, 9);
	EXPECT(&out, 3, 300 & 0xff, 300 >> 8, 0, 0, 0, 0, 0, 0, 0);
}

static struct numbers numbers_of(const uint64_t *values, size_t n)
{
	return (struct numbers){ .at = (const char *)values, .n = n, .width = sizeof(*values) };
}

static void delta_put_all(struct text *out, const uint64_t *values, size_t n, bool is_narrow)
{
	const struct numbers numbers = numbers_of(values, n);

	delta_put(out, &numbers, 0, n, is_narrow);
}

static void test_delta(void **state)
{
	static const uint64_t rising[] = { 1, 2, 3, 4, 5 }, waving[] = { 7, 5, 3, 1, 2, 3, 4, 5 };
	static const uint64_t wrapping[] = { UINT64_MAX, 0 }, narrow[] = { UINT32_MAX, 0 };
	struct text out = { 0 };

	(void)state;
	delta_put_all(&out, rising, COUNT(rising), false); /* the description's */
	EXPECT(&out, 0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0);
	delta_put_all(&out, waving, COUNT(waving),
		      false); /* the description's: least −2, of two bits */
	EXPECT(&out, 0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0);
	delta_put_all(&out, wrapping, COUNT(wrapping), false);
	EXPECT(&out, 0x80, 1, 4, 2, 1, 2, 0, 0, 0, 0);
	delta_put_all(&out, narrow, COUNT(narrow), true);
	EXPECT(&out, 0x80, 1, 4, 2, 1, 2, 0, 0, 0, 0);
	delta_put_all(&out, NULL, 0, false);
	EXPECT(&out, 0x80, 1, 4, 0, 0);
}

static void test_thrift(void **state)
{
	struct text out = { 0 };
	struct thrift t = thrift_begin(&out);

	(void)state;
	thrift_bool(&t, 1, true);
	thrift_int(&t, 3, -1);
	thrift_struct(&t, 4);
	thrift_long(&t, 1, 64);
	thrift_end(&t);
	thrift_list(&t, 5, THRIFT_BINARY, 1);
	thrift_string_element(&t, "ab");
	thrift_end(&t);
	EXPECT(&out, 0x11, 0x25, 1, 0x1c, 0x16, 0x80, 1, 0, 0x19, 0x18, 2, 'a', 'b', 0);
	t = thrift_begin(&out);
	thrift_list(&t, 1, THRIFT_I32, 200);
	EXPECT(&out, 0x19, 0xf5, 0xc8, 1);
}

static void test_dictionary_of_numbers(void **state)
{
	enum { N = 100000 };
	uint64_t *values = mem_alloc(N, sizeof(*values));
	uint16_t *ids = mem_alloc(N, sizeof(*ids));
	struct numbers numbers = numbers_of(values, N);
	struct dictionary d = { 0 };

	(void)state;
	for (size_t i = 0; i < N; i++)
		values[i] = i * 7919 % 6007 * 0x100000001;
	assert_true(dictionary_of_numbers(&d, &numbers, ids));
	assert_int_equal(dictionary_size(&d), 6007);
	assert_int_equal(ids[0], 0);
	assert_int_equal(ids[1], 1);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(d.numbers.items[ids[i]], values[i]);
	for (size_t i = 0; i < N; i++)
		values[i] = i;
	assert_false(dictionary_of_numbers(&d, &numbers, ids));
	numbers.n = 1000;
	assert_true(dictionary_of_numbers(&d, &numbers, ids));
	assert_int_equal(dictionary_size(&d), 1000);
	numbers.n = 0;
	assert_true(dictionary_of_numbers(&d, &numbers, ids));
	assert_int_equal(dictionary_size(&d), 0);
	dictionary_release(&d);
	free(values);
	free(ids);
}

static void test_dictionary_of_texts(void **state)
{
	static const char *const words[] = { "a", "", "ab", "a", "a\0b", "ab", "" };
	static const size_t sizes[] = { 1, 0, 2, 1, 3, 2, 0 };
	static const uint16_t expected[] = { 0, 1, 2, 0, 3, 2, 1 };
	struct parquet_values v = { 0 };
	struct dictionary d = { 0 };
	uint16_t ids[COUNT(words)];

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		parquet_put_text(&v, words[i], sizes[i]);
	assert_true(dictionary_of_texts(&d, v.values.bytes, COUNT(words), false, ids));
	assert_memory_equal(ids, expected, sizeof(ids));
	assert_int_equal(dictionary_size(&d), 4);
	dictionary_release(&d);
	parquet_values_release(&v);
}

/* Where the first long texts are nearly all different, the others are not hashed; one that repeats has a dictionary. */
static void test_dictionary_of_long_texts(void **state)
{
	enum { N = 2000, LONG = 300000 };
	struct dictionary d = { 0 };
	uint16_t ids[N];

	(void)state;
	for (unsigned n_kinds = 1; n_kinds <= N; n_kinds = n_kinds == 1 ? 200 : n_kinds * 10) {
		size_t size = n_kinds == 1 ? LONG : 400, n = n_kinds == 1 ? 3 : N;
		struct parquet_values v = { 0 };
		char *text = mem_zalloc(size, 1);

		for (size_t i = 0; i < n; i++) {
			text[put_u64(text, i % n_kinds)] = '.';
			parquet_put_text(&v, text, size);
		}
		if (n_kinds < N) {
			assert_true(dictionary_of_texts(&d, v.values.bytes, n, false, ids));
			assert_int_equal(dictionary_size(&d), n_kinds);
		} else {
			assert_false(dictionary_of_texts(&d, v.values.bytes, n, false, ids));
			assert_true(dictionary_size(&d) < N / 4);
		}
		free(text);
		parquet_values_release(&v);
	}
	dictionary_release(&d);
}

/* A byte that is no UTF-8 is found wherever it is. */
static void test_odd_bytes(void **state)
{
	char text[80];

	(void)state;
	for (size_t size = 1; size <= sizeof(text); size++)
		for (size_t at = 0; at <= size; at++) {
			struct parquet_values v = { 0 };

			memset(text, 'a', size);
			if (at < size)
				text[at] = (char)0xff;
			parquet_put_text(&v, text, size);
			assert_int_equal(packed_size(v.values.bytes), at < size ? size + 2 : size);
			if (at < size)
				assert_memory_equal(v.values.bytes + packed_prefix + at,
						    "\xef\xbf\xbd", 3);
			parquet_values_release(&v);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_from_the_lowest_bit),
		cmocka_unit_test(test_packs_all_widths),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_delta),
		cmocka_unit_test(test_thrift),
		cmocka_unit_test(test_dictionary_of_numbers),
		cmocka_unit_test(test_dictionary_of_texts),
		cmocka_unit_test(test_dictionary_of_long_texts),
		cmocka_unit_test(test_odd_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/cursor.h"

/* u8, u16, u32, u64 and "ok": 18 bytes. */
static const uint8_t bytes[] = {
	0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0xff, 0x0f, 0x0e,
	0x0d, 0x0c, 0x0b, 0x0a, 0x09, 0xf8, 'o',  'k',	0x00,
};

struct fields {
	uint8_t a;
	uint16_t b;
	uint32_t c;
	uint64_t d;
	const char *text;
};

static struct fields read_fields(struct cursor *c)
{
	struct fields f;

	f.a = cur_u8(c);
	f.b = cur_u16(c);
	f.c = cur_u32(c);
	f.d = cur_u64(c);
	f.text = cur_string(c);
	return f;
}

static void reads_little_endian(void **state)
{
	struct cursor c = cur_of(bytes, sizeof(bytes));
	struct fields f = read_fields(&c);

	(void)state;
	assert_true(cur_ok(&c));
	assert_int_equal(cur_left(&c), 0);
	assert_int_equal(f.a, 0x01);
	assert_int_equal(f.b, 0x0203);
	assert_int_equal(f.c, 0xff050607);
	assert_true(f.d == 0xf8090a0b0c0d0e0fu);
	assert_string_equal(f.text, "ok");
}

/* Input truncated at each byte: what is there is read, the rest is 0 and marks the cursor bad. */
static void cut_at_each_byte(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(bytes); size++) {
		struct cursor c = cur_of(bytes, size);
		struct fields f = read_fields(&c);

		assert_false(cur_ok(&c));
		assert_int_equal(cur_left(&c), 0);
		assert_int_equal(f.a, size >= 1 ? 0x01 : 0);
		assert_int_equal(f.b, size >= 3 ? 0x0203 : 0);
		assert_int_equal(f.c, size >= 7 ? 0xff050607 : 0);
		assert_true(f.d == (size >= 15 ? 0xf8090a0b0c0d0e0fu : 0));
		assert_null(f.text);
	}
}

static void bad_stays_bad(void **state)
{
	struct cursor c = cur_of(bytes, 4);

	(void)state;
	assert_int_equal(cur_u64(&c), 0);
	assert_false(cur_ok(&c));
	assert_int_equal(cur_u8(&c), 0);
	assert_null(cur_take(&c, 0));
	assert_null(cur_string(&c));
	assert_false(cur_holds(&c, 0, 1));
	assert_false(cur_ok(&c));
}

static void counts_are_checked_without_overflow(void **state)
{
	static const struct {
		uint64_t count;
		size_t size;
		bool holds;
	} cases[] = {
		{ 0, 8, true },
		{ 2, 8, true },
		{ 3, 8, false },
		{ 18, 1, true },
		{ 19, 1, false },
		{ UINT64_MAX, 8, false },
		{ UINT64_MAX / 8 + 2, 8, false }, /* the product would be 8 */
		{ 1, SIZE_MAX, false },
	};
	struct cursor c = cur_of(bytes, sizeof(bytes));

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(cur_holds(&c, cases[i].count, cases[i].size), cases[i].holds);
}

static void huge_lengths_read_nothing(void **state)
{
	struct cursor c = cur_of(bytes, sizeof(bytes));

	(void)state;
	cur_skip(&c, UINT64_MAX);
	assert_false(cur_ok(&c));
	c = cur_of(bytes, sizeof(bytes));
	assert_null(cur_take(&c, sizeof(bytes) + 1));
	assert_false(cur_ok(&c));
}

static void a_part_ends_where_it_ends(void **state)
{
	struct cursor c = cur_of(bytes, sizeof(bytes));
	struct cursor part = cur_split(&c, 3);

	(void)state;
	assert_int_equal(cur_left(&part), 3);
	assert_int_equal(cur_u32(&part), 0);
	assert_false(cur_ok(&part));
	assert_true(cur_ok(&c));
	assert_int_equal(cur_u32(&c), 0xff050607);

	part = cur_split(&c, 100);
	assert_false(cur_ok(&part));
	assert_false(cur_ok(&c));
	assert_int_equal(cur_left(&part), 0);
}

static void strings_end_inside(void **state)
{
	static const char two[] = { 'a', 0, 'b', 'c' };
	struct cursor c = cur_of(two, sizeof(two));

	(void)state;
	assert_string_equal(cur_string(&c), "a");
	assert_int_equal(cur_left(&c), 2);
	assert_null(cur_string(&c));
	assert_false(cur_ok(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_little_endian),
		cmocka_unit_test(cut_at_each_byte),
		cmocka_unit_test(bad_stays_bad),
		cmocka_unit_test(counts_are_checked_without_overflow),
		cmocka_unit_test(huge_lengths_read_nothing),
		cmocka_unit_test(a_part_ends_where_it_ends),
		cmocka_unit_test(strings_end_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Records in any order come back sorted, whether they fit into memory or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/sorter.h"

enum { N_RECORDS = 5000, N_KEYS = 300 };

static void add(struct sorter *s, const char *key, size_t key_size, uint64_t number)
{
	struct text k = { 0 }, value = { 0 };

	text_add(&k, key, key_size);
	sort_value_put(&value, number);
	sorter_add(s, &k, &value);
	text_release(&k);
	text_release(&value);
}

/* Keys of 0 to 7 bytes, many of them several times; the value is the number of the record. */
static void fill(struct sorter *s)
{
	for (uint64_t i = 0; i < N_RECORDS; i++) {
		uint64_t key = i * 2654435761u % N_KEYS;
		char bytes[8];

		for (size_t b = 0; b < sizeof(bytes); b++)
			bytes[b] = (char)(key * 37 >> b);
		add(s, bytes, key % sizeof(bytes), i);
	}
}

static void expect_sorted(const struct sorter *s)
{
	bool *seen = mem_zalloc(N_RECORDS, sizeof(*seen));
	struct sorter_record last = { 0 }, r;
	uint64_t last_number = 0, n = 0, number;

	for (uint64_t at = 0; sorter_next(s, &at, &r); last = r, last_number = number, n++) {
		size_t common = last.key_size < r.key_size ? last.key_size : r.key_size;
		int order = n == 0 ? -1 : memcmp(last.key, r.key, common);
		const uint8_t *value = r.value;

		number = sort_value_get(&value);
		assert_ptr_equal(value, r.value + r.value_size);
		assert_true(number < N_RECORDS && !seen[number]);
		seen[number] = true;
		assert_true(order <= 0);
		if (n > 0 && order == 0)
			assert_true(last.key_size < r.key_size ||
				    (sorter_keys_equal(&last, &r) && last_number < number));
	}
	assert_int_equal(n, N_RECORDS);
	free(seen);
}

static void test_limits(void **state)
{
	static const size_t limits[] = { 1, 100, 1000, 5000, 20000, 100000, 1 << 20 };

	(void)state;
	for (size_t i = 0; i < COUNT(limits); i++) {
		struct sorter s;
		struct err err;

		sorter_init(&s, limits[i]);
		fill(&s);
		assert_int_equal(sorter_finish(&s, &err), 0);
		assert_int_equal(s.sorted.bytes != NULL, limits[i] <= 100000);
		expect_sorted(&s);
		expect_sorted(&s); /* again from the start */
		sorter_release(&s);
	}
}

/* A part can be gone through again from where it begins. */
static void test_again(void **state)
{
	(void)state;
	for (size_t limit = 64; limit <= 1 << 20; limit <<= 14) {
		struct sorter s;
		struct err err;
		struct sorter_record a, b;
		uint64_t at = 0, mark, end;

		sorter_init(&s, limit);
		fill(&s);
		assert_int_equal(sorter_finish(&s, &err), 0);
		for (int i = 0; i < N_RECORDS / 2; i++)
			assert_true(sorter_next(&s, &at, &a));
		mark = at;
		assert_true(sorter_next(&s, &at, &a));
		end = at;
		while (sorter_next(&s, &at, &b))
			;
		at = mark;
		assert_true(sorter_next(&s, &at, &b));
		assert_int_equal(at, end);
		assert_ptr_equal(a.key, b.key);
		sorter_release(&s);
	}
}

static void test_empty(void **state)
{
	struct sorter s;
	struct err err;
	struct sorter_record r;
	uint64_t at = 0;

	(void)state;
	sorter_init(&s, 100);
	assert_int_equal(sorter_finish(&s, &err), 0);
	assert_false(sorter_next(&s, &at, &r));
	sorter_release(&s);
}

/* Without a folder for temporary files the error says so, and nothing is lost unseen. */
static void test_no_folder(void **state)
{
	struct sorter s;
	struct err err;

	(void)state;
	setenv("TMPDIR", "/nonexistent/folder", 1);
	sorter_init(&s, 100);
	fill(&s);
	assert_int_equal(sorter_finish(&s, &err), -1);
	assert_non_null(strstr(err.text, "TMPDIR"));
	sorter_release(&s);
	unsetenv("TMPDIR");
}

static void test_numbers(void **state)
{
	static const uint64_t numbers[] = { 0, 1, 0x7f, 0x80, 0xffffffff, 0x100000000, UINT64_MAX };
	struct text value = { 0 }, key = { 0 };
	const uint8_t *at;

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		sort_value_put(&value, numbers[i]);
		text_reset(&key);
		sort_key_u64(&key, numbers[i]);
		assert_int_equal(sort_key_get_u64((const uint8_t *)key.bytes), numbers[i]);
		assert_int_equal(sort_key_get_u32((const uint8_t *)key.bytes + 4),
				 (uint32_t)numbers[i]);
	}
	at = (const uint8_t *)value.bytes;
	for (size_t i = 0; i < COUNT(numbers); i++)
		assert_int_equal(sort_value_get(&at), numbers[i]);
	text_release(&value);
	text_release(&key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),	cmocka_unit_test(test_again),
		cmocka_unit_test(test_empty),	cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

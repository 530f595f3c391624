/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/address_filter.h"

enum { PIECE = 64, N = 1000 };

static uint64_t address_of(uint64_t i)
{
	return i * 0x10037 * PIECE + (i % 2 << 63);
}

static void test_all_are_in(void **state)
{
	struct address_filter f;

	(void)state;
	address_filter_init(&f, PIECE, N);
	for (uint64_t i = 0; i < N; i++)
		address_filter_add(&f, address_of(i) + i % PIECE);
	for (uint64_t i = 0; i < N; i++) {
		assert_true(address_filter_may_have(&f, address_of(i)));
		assert_true(address_filter_may_have(&f, address_of(i) + PIECE - 1));
	}
	address_filter_release(&f);
}

/* It would be useless if it had most of what was not added. */
static void test_few_others_are_in(void **state)
{
	struct address_filter f;
	unsigned n = 0;

	(void)state;
	address_filter_init(&f, PIECE, N);
	for (uint64_t i = 0; i < N; i++)
		address_filter_add(&f, address_of(i));
	for (uint64_t i = 0; i < N; i++)
		n += address_filter_may_have(&f, address_of(i + N));
	assert_true(n < N / 10);
	address_filter_release(&f);
}

static void test_empty_has_nothing(void **state)
{
	struct address_filter f;

	(void)state;
	address_filter_init(&f, PIECE, 0);
	for (uint64_t i = 0; i < N; i++)
		assert_false(address_filter_may_have(&f, address_of(i)));
	address_filter_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_in),
		cmocka_unit_test(test_few_others_are_in),
		cmocka_unit_test(test_empty_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

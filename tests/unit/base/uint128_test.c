/* SPDX-License-Identifier: Apache-2.0 */
#include "base/uint128.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"

static const uint64_t numbers[] = {
	0,
	1,
	2,
	0xffffffff,
	0x100000000,
	0x8000000000000000,
	0x7fffffffffffffff,
	UINT64_MAX,
	UINT64_MAX - 1,
	0x9e3779b97f4a7c15,
	0xd6e8feb86659fd93,
	0x20000000000001,
	0x3fffffffffffff,
};

static void products_of_halves_are_the_product(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++)
		for (size_t k = 0; k < COUNT(numbers); k++)
			assert_int_equal(
				uint128_compare(uint128_product(numbers[i], numbers[k]),
						uint128_product_of_halves(numbers[i], numbers[k])),
				0);
	assert_int_equal(uint128_product_of_halves(UINT64_MAX, UINT64_MAX).high, UINT64_MAX - 1);
	assert_int_equal(uint128_product_of_halves(UINT64_MAX, UINT64_MAX).low, 1);
}

static void sums_carry_and_say_when_they_wrap(void **state)
{
	struct uint128 sum = { .low = UINT64_MAX };

	(void)state;
	assert_false(uint128_add(&sum, (struct uint128){ .low = 1 }));
	assert_int_equal(sum.low, 0);
	assert_int_equal(sum.high, 1);
	sum = (struct uint128){ UINT64_MAX, UINT64_MAX };
	assert_true(uint128_add(&sum, (struct uint128){ .low = 1 })); /* by the carry */
	assert_int_equal(sum.low | sum.high, 0);
	sum = (struct uint128){ .high = UINT64_MAX };
	assert_true(uint128_add(&sum, (struct uint128){ .high = 2 }));
	assert_int_equal(sum.high, 1);
	assert_int_equal(uint128_compare((struct uint128){ 1, 0 }, (struct uint128){ 0, 1 }), -1);
	assert_int_equal(uint128_compare((struct uint128){ 2, 1 }, (struct uint128){ 1, 1 }), 1);
}

static void numbers_are_rounded_once(void **state)
{
	static const struct {
		struct uint128 number;
		double wanted;
	} cases[] = {
		{ { 0, 0 }, 0 },
		{ { 3, 0 }, 3 },
		{ { 0, 1 }, 0x1p64 },
		{ { UINT64_MAX, UINT64_MAX }, 0x1p128 },
		/* halfway between two doubles: to the even one; above it by one bit: up */
		{ { 0, 0x20000000000001 }, 0x1.0p117 },
		{ { 1, 0x20000000000001 }, 0x1.0000000000001p117 },
		{ { 0, 0x20000000000003 }, 0x1.0000000000002p117 },
		{ { 1, 1 }, 0x1p64 },
		{ { 0x800, 1 }, 0x1p64 },
		{ { 0x801, 1 }, 0x1.0000000000001p64 },
		{ { 0x1801, 1 }, 0x1.0000000000002p64 },
		{ { 0x1000, 1 }, 0x1.0000000000001p64 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		double found = uint128_to_double(cases[i].number);

		assert_true(found <= cases[i].wanted && found >= cases[i].wanted);
	}
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct uint128 product = uint128_product(numbers[i], 0xd6e8feb86659fd93);
		double found = uint128_signed_to_double(
			uint128_negative((struct uint128){ product.low, product.high >> 1 }));
		double wanted =
			-uint128_to_double((struct uint128){ product.low, product.high >> 1 });

		assert_true(found <= wanted && found >= wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_of_halves_are_the_product),
		cmocka_unit_test(sums_carry_and_say_when_they_wrap),
		cmocka_unit_test(numbers_are_rounded_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

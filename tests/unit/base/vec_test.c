/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/vec.h"

struct item {
	uint32_t a;
	uint64_t b;
};

static void items_stay_and_new_ones_are_zero(void **state)
{
	VEC_OF(struct item) items = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		struct item *item = vec_add(&items);

		assert_int_equal(item->a, 0);
		assert_int_equal(item->b, 0);
		*item = (struct item){ .a = i, .b = ~(uint64_t)i };
	}
	assert_int_equal(items.n, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(items.items[i].a, i);
		assert_true(items.items[i].b == ~(uint64_t)i);
	}
	vec_release(&items);
	assert_null(items.items);
	assert_int_equal(items.n, 0);
	assert_int_equal(items.cap, 0);
	vec_release(&items);
}

/* Memory of removed items is zeroed when it is used again. */
static void used_memory_is_zeroed(void **state)
{
	VEC_OF(struct item) items = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		vec_add(&items)->a = 7;
	items.n = 0;
	for (int i = 0; i < 10; i++)
		assert_int_equal(vec_add(&items)->a, 0);
	vec_release(&items);
}

static void reserve_makes_room_and_adds_nothing(void **state)
{
	VEC_OF(uint16_t) items = { 0 };
	const uint16_t *at;

	(void)state;
	*vec_add(&items) = 1;
	vec_reserve(&items, 500);
	assert_int_equal(items.n, 1);
	assert_true(items.cap >= 501);
	at = items.items;
	for (int i = 0; i < 500; i++)
		assert_int_equal(*vec_add(&items), 0);
	assert_ptr_equal(items.items, at);
	assert_int_equal(items.items[0], 1);
	vec_release(&items);
}

static void fitting_keeps_items_and_lets_more_come(void **state)
{
	VEC_OF(int) items = { 0 };

	(void)state;
	vec_fit(&items);
	assert_int_equal(items.cap, 0);
	for (int i = 0; i < 100; i++)
		*vec_add(&items) = i;
	items.n = 60;
	vec_fit(&items);
	assert_int_equal(items.cap, 60);
	*vec_add(&items) = 60;
	for (int i = 0; i <= 60; i++)
		assert_int_equal(items.items[i], i);
	vec_release(&items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_stay_and_new_ones_are_zero),
		cmocka_unit_test(used_memory_is_zeroed),
		cmocka_unit_test(reserve_makes_room_and_adds_nothing),
		cmocka_unit_test(fitting_keeps_items_and_lets_more_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

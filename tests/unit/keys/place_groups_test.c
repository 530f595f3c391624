/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "keys/place_groups.h"

enum { N_PLACES = 50, N_RESTS = 30 };

/* Every place has another number of groups, up to more than a list holds. */
static void test_add_and_find(void **state)
{
	struct place_groups g;
	uint32_t n = 0;

	(void)state;
	place_groups_init(&g);
	for (uint32_t rest = 0; rest < N_RESTS; rest++)
		for (uint32_t place = N_PLACES; place-- > rest;) {
			assert_int_equal(place_groups_find(&g, place, rest), PLACE_GROUPS_NONE);
			assert_int_equal(place_groups_add(&g, place, rest), n);
			n++;
		}
	assert_int_equal(g.list.n, n);
	for (uint32_t place = 0; place < N_PLACES; place++)
		for (uint32_t rest = 0; rest < N_RESTS; rest++) {
			uint32_t group = place_groups_find(&g, place, rest);

			if (rest > place) {
				assert_int_equal(group, PLACE_GROUPS_NONE);
				continue;
			}
			assert_in_range(group, 0, n - 1);
			assert_int_equal(g.list.items[group].place, place);
			assert_int_equal(g.list.items[group].rest, rest);
			assert_int_equal(place_groups_add(&g, place, rest), group);
		}
	assert_int_equal(g.list.n, n);
	assert_int_equal(place_groups_find(&g, N_PLACES + 1000, 0), PLACE_GROUPS_NONE);
	place_groups_release(&g);
}

/* To fetch is no more than a hint: it adds nothing, and places may be new. */
static void test_fetch(void **state)
{
	const uint32_t places[] = { 3, 100000, 0 };
	struct place_groups g;

	(void)state;
	place_groups_init(&g);
	place_groups_fetch(&g, places, 3);
	assert_int_equal(g.list.n, 0);
	assert_int_equal(place_groups_find(&g, 3, 0), PLACE_GROUPS_NONE);
	assert_int_equal(place_groups_add(&g, 100000, 7), 0);
	place_groups_fetch(&g, places, 3);
	assert_int_equal(place_groups_find(&g, 100000, 7), 0);
	place_groups_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_and_find),
		cmocka_unit_test(test_fetch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

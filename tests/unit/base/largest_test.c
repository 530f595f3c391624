/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/largest.h"

enum { MOST = 4 };

static const struct {
	const char *name;
	uint64_t numbers[8];
	size_t n, top;
	uint64_t largest[MOST];
} cases[] = {
	{ "none", { 0 }, 0, 2, { 0, 0 } },
	{ "fewer than wanted", { 5 }, 1, 3, { 5, 0, 0 } },
	{ "ascending", { 1, 2, 3, 4, 5 }, 5, 3, { 5, 4, 3 } },
	{ "descending", { 5, 4, 3, 2, 1 }, 5, 3, { 5, 4, 3 } },
	{ "equal ones count", { 7, 7, 1, 7 }, 4, 3, { 7, 7, 7 } },
	{ "the largest alone", { 3, 9, UINT64_MAX, 9 }, 4, 1, { UINT64_MAX } },
	{ "zero is one of them", { 0, 0, 2 }, 3, 4, { 2, 0, 0, 0 } },
};

static void the_largest_are_kept_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t largest[MOST] = { 0 };

		print_message("%s\n", cases[i].name);
		for (size_t k = 0; k < cases[i].n; k++)
			largest_enter(largest, cases[i].top, cases[i].numbers[k]);
		for (size_t k = 0; k < MOST; k++)
			assert_int_equal(largest[k], cases[i].largest[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_are_kept_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search finds what a search from the start finds. */
#include "base/bisect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_first_is_found(void **state)
{
	static const unsigned items[] = { 1, 3, 3, 3, 5, 8, 8, 13 };
	enum { N = sizeof(items) / sizeof(items[0]) };

	(void)state;
	for (size_t from = 0; from <= N; from++)
		for (size_t to = from; to <= N; to++)
			for (unsigned wanted = 0; wanted < 15; wanted++) {
				size_t first = from, behind = from;

				while (first < to && items[first] < wanted)
					first++;
				while (behind < to && items[behind] <= wanted)
					behind++;
				assert_int_equal(bisect(from, to, i, items[i] < wanted), first);
				assert_int_equal(bisect(from, to, k, items[k] <= wanted), behind);
				assert_int_equal(bisect_near(from, to, i, items[i] < wanted),
						 first);
			}
}

/* It asks for each index at most once, and for few of many. */
static void few_are_asked(void **state)
{
	const size_t many = SIZE_MAX - 1, wanted = many / 3;
	unsigned n_asked = 0;

	(void)state;
	assert_int_equal(bisect(0, many, i, (n_asked++, i < wanted)), wanted);
	assert_in_range(n_asked, 1, 64);
	n_asked = 0;
	assert_int_equal(bisect_near(0, many, i, (n_asked++, i < wanted)), wanted);
	assert_in_range(n_asked, 1, 127);
	n_asked = 0;
	assert_int_equal(bisect_near(wanted - 2, many, i, (n_asked++, i < wanted)), wanted);
	assert_in_range(n_asked, 1, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_found),
		cmocka_unit_test(few_are_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

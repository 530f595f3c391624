/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "process/marks.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static size_t slow_before(const bool *set, size_t number)
{
	for (size_t i = number + 1; i-- > 0;)
		if (set[i])
			return i;
	return MARKS_NONE;
}

static size_t slow_after(const bool *set, size_t limit, size_t number)
{
	for (size_t i = number + 1; i < limit; i++)
		if (set[i])
			return i;
	return MARKS_NONE;
}

static void check_limit(size_t limit, uint64_t *seed)
{
	bool *set = mem_zalloc(limit, sizeof(*set));
	struct marks m;

	marks_init(&m, limit);
	for (unsigned step = 0; step < 300; step++) {
		size_t number = next_random(seed) % limit, probe = next_random(seed) % limit;

		/* Mostly cleared again, so that there are wide gaps to jump over. */
		set[number] = step % 3 == 0;
		if (set[number])
			marks_set(&m, number);
		else
			marks_clear(&m, number);
		for (unsigned i = 0; i < 3; i++) {
			size_t at = i == 0 ? probe : i == 1 ? 0 : limit - 1;

			assert_int_equal(marks_at_or_before(&m, at), slow_before(set, at));
			assert_int_equal(marks_after(&m, at), slow_after(set, limit, at));
		}
	}
	marks_release(&m);
	free(set);
}

static void test_against_array(void **state)
{
	const size_t limits[] = { 1, 2, 63, 64, 65, 128, 4095, 4096, 4097, 8191, 300000 };
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < COUNT(limits); i++)
		check_limit(limits[i], &seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

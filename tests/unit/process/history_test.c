/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "process/history.h"

static const struct change changes[] = {
	{ 100, 1, 11 },
	{ 50, 2, 21 },
	{ 60, 2, 22 },
	{ 60, 2, 23 },	/* same time: the last counts */
	{ 40, 1, 10 },	/* late */
	{ 200, 1, 11 }, /* nothing new */
	{ 300, 1, HISTORY_NONE },
	{ 0, 4, 40 },
};

static const struct {
	uint32_t key;
	uint64_t time_ns;
	struct span expected;
} cases[] = {
	{ 0, 100, { 0, UINT64_MAX, HISTORY_NONE } },
	{ 1, 0, { 0, 40, HISTORY_NONE } },
	{ 1, 39, { 0, 40, HISTORY_NONE } },
	{ 1, 40, { 40, 100, 10 } },
	{ 1, 99, { 40, 100, 10 } },
	{ 1, 100, { 100, 300, 11 } },
	{ 1, 250, { 100, 300, 11 } },
	{ 1, 300, { 300, UINT64_MAX, HISTORY_NONE } },
	{ 1, UINT64_MAX, { 300, UINT64_MAX, HISTORY_NONE } },
	{ 2, 59, { 50, 60, 21 } },
	{ 2, 60, { 60, UINT64_MAX, 23 } },
	{ 3, 60, { 0, UINT64_MAX, HISTORY_NONE } },
	{ 4, 0, { 0, UINT64_MAX, 40 } },
	{ 5, 0, { 0, UINT64_MAX, HISTORY_NONE } },
	{ UINT32_MAX, 0, { 0, UINT64_MAX, HISTORY_NONE } },
};

static void test_known(void **state)
{
	struct history h = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(changes); i++)
		history_add(&h, changes[i].key, changes[i].from_ns, changes[i].value);
	history_freeze(&h, 5);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct span span = history_find(&h, cases[i].key, cases[i].time_ns);

		assert_int_equal(span.value, cases[i].expected.value);
		assert_int_equal(span.from_ns, cases[i].expected.from_ns);
		assert_int_equal(span.to_ns, cases[i].expected.to_ns);
	}
	history_release(&h);
}

static void test_empty(void **state)
{
	struct history h = { 0 };

	(void)state;
	history_freeze(&h, 0);
	assert_int_equal(history_find(&h, 0, 5).value, HISTORY_NONE);
	history_release(&h);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* The last change at or before the time, of those the one added last. */
static uint32_t slow_find(const struct change *list, size_t n, uint32_t key, uint64_t time_ns)
{
	const struct change *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (list[i].key == key && list[i].from_ns <= time_ns &&
		    (best == NULL || list[i].from_ns >= best->from_ns))
			best = &list[i];
	return best == NULL ? HISTORY_NONE : best->value;
}

static void check_window(const struct history *h, uint32_t key, struct span span)
{
	assert_int_equal(history_find(h, key, span.from_ns).value, span.value);
	assert_int_equal(history_find(h, key, span.to_ns - 1).value, span.value);
	if (span.to_ns != UINT64_MAX)
		assert_int_not_equal(history_find(h, key, span.to_ns).value, span.value);
}

static void test_random(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct change list[60];
		struct history h = { 0 };

		for (size_t i = 0; i < COUNT(list); i++) {
			list[i].key = (uint32_t)next_random(&seed) % 4;
			list[i].from_ns = next_random(&seed) % 40;
			list[i].value = (uint32_t)next_random(&seed) % 5;
			history_add(&h, list[i].key, list[i].from_ns, list[i].value);
		}
		history_freeze(&h, 4);
		for (uint32_t key = 0; key < 4; key++) {
			for (uint64_t time_ns = 0; time_ns < 42; time_ns++) {
				struct span span = history_find(&h, key, time_ns);

				assert_int_equal(span.value,
						 slow_find(list, COUNT(list), key, time_ns));
				assert_true(span.from_ns <= time_ns && time_ns < span.to_ns);
				check_window(&h, key, span);
			}
		}
		history_release(&h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

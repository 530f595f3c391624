/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/radix.h"

enum { N_KEYS = 1000 };

/* Keys that differ in many digits, in one, in none, and at both ends of a word. */
static const struct {
	uint64_t multiplier;
	unsigned shift;
} cases[] = {
	{ 0x9e3779b97f4a7c15, 0 },
	{ 0x9e3779b97f4a7c15, 40 },
	{ 0x9e3779b97f4a7c15, 60 },
	{ (uint64_t)1 << 57, 0 },
	{ 1, 0 },
	{ 0, 0 },
	{ UINT64_MAX, 0 },
	{ 0x10001, 0 },
};

static void indexes_follow_keys(void **state)
{
	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		uint64_t keys[N_KEYS];
		uint32_t order[N_KEYS];

		for (uint32_t i = 0; i < N_KEYS; i++) {
			keys[i] = i * cases[c].multiplier >> cases[c].shift;
			order[i] = i;
		}
		for (size_t n = 0; n <= N_KEYS; n = 2 * n + 1) {
			radix_sort(order, n, keys);
			for (size_t i = 1; i < n; i++) {
				uint64_t before = keys[order[i - 1]], key = keys[order[i]];

				assert_true(before < key ||
					    (before == key && order[i - 1] < order[i]));
			}
			for (uint32_t i = 0; i < N_KEYS; i++)
				order[i] = i;
		}
	}
}

/* The key sorted by last counts most, and the order of the one before stays within it. */
static void sorts_by_several_keys(void **state)
{
	uint64_t minor[N_KEYS], major[N_KEYS];
	uint32_t order[N_KEYS];

	(void)state;
	for (uint32_t i = 0; i < N_KEYS; i++) {
		minor[i] = (uint64_t)i * 7919 % 1009;
		major[i] = i % 5;
		order[i] = i;
	}
	radix_sort(order, N_KEYS, minor);
	radix_sort(order, N_KEYS, major);
	for (size_t i = 1; i < N_KEYS; i++) {
		uint32_t a = order[i - 1], b = order[i];

		assert_true(major[a] < major[b] || (major[a] == major[b] && minor[a] < minor[b]));
	}
}

static struct radix_pair pair_of(const void *pairs, size_t i)
{
	return ((const struct radix_pair *)pairs)[i];
}

/* Pairs in any order, in order already, and equal ones, which stay as they were. */
static void pairs_have_an_order(void **state)
{
	static const struct {
		struct radix_pair keys[4];
		size_t n;
		uint32_t order[4];
	} pairs[] = {
		{ .n = 0 },
		{ { { 7, 7 } }, 1, { 0 } },
		{ { { 1, 2 }, { 1, 3 }, { 2, 0 } }, 3, { 0, 1, 2 } },
		{ { { 2, 0 }, { 1, 3 }, { 1, 2 } }, 3, { 2, 1, 0 } },
		{ { { 2, 1 }, { 1, 9 }, { 2, 1 }, { 2, 0 } }, 4, { 1, 3, 0, 2 } },
		{ { { UINT64_MAX, 0 }, { 0, UINT64_MAX } }, 2, { 1, 0 } },
		{ { { 3, 5 }, { 3, 4 } }, 2, { 1, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		uint32_t *order = radix_order(pairs[i].keys, pairs[i].n, pair_of);

		for (size_t k = 0; k < pairs[i].n; k++)
			assert_int_equal(order[k], pairs[i].order[k]);
		free(order);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indexes_follow_keys),
		cmocka_unit_test(sorts_by_several_keys),
		cmocka_unit_test(pairs_have_an_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

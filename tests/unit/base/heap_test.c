/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/heap.h"
#include "base/random.h"

enum { MOST = 100 };

struct item {
	uint32_t key, number;
};

/* Makes a heap of the items, and takes them from its root: they come in order, each once. */
static void expect_order(struct item *items, size_t n)
{
	uint64_t seen[2] = { 0 };
	uint32_t before = 0;

	for (size_t i = n; i-- > 0;)
		heap_sink(items, n, i, a, b, a->key < b->key);
	while (n > 0) {
		struct item first = items[0];

		assert_true(first.key >= before);
		assert_false(seen[first.number / 64] >> first.number % 64 & 1);
		seen[first.number / 64] |= UINT64_C(1) << first.number % 64;
		before = first.key;
		items[0] = items[--n];
		if (n > 0)
			heap_sink(items, n, 0, a, b, a->key < b->key);
	}
}

static void items_come_in_order(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (size_t n = 1; n <= MOST; n++)
		for (uint32_t n_keys = 1; n_keys <= 2 * MOST; n_keys *= 3) {
			struct item items[MOST];

			for (uint32_t i = 0; i < n; i++)
				items[i] =
					(struct item){ (uint32_t)random_below(&random, n_keys), i };
			expect_order(items, n);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pointer_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"

/* Each number once; blocks stay together. */
static void orders_have_each_number(void **state)
{
	static const size_t blocks[] = { 0, 1, 7, 64, 1000, 5000 };
	enum { N = 1000 };

	(void)state;
	for (size_t b = 0; b < COUNT(blocks); b++) {
		size_t block = blocks[b] == 0 || blocks[b] > N ? N : blocks[b];
		uint64_t *order = random_order(N, blocks[b], b);
		unsigned seen[N] = { 0 }, changes = 1;

		for (size_t i = 0; i < N; i++) {
			assert_true(order[i] < N);
			assert_int_equal(seen[order[i]]++, 0);
			changes += i > 0 && order[i] / block != order[i - 1] / block;
		}
		assert_int_equal(changes, (N + block - 1) / block);
		free(order);
	}
	free(random_order(0, 0, 1));
	free(random_order(0, 3, 1));
}

/* Of the six orders of three numbers each comes as often; a seed always gives the same. */
static void orders_are_equally_likely(void **state)
{
	unsigned n[27] = { 0 }, n_orders = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 6000; seed++) {
		uint64_t *order = random_order(3, 0, seed), *again = random_order(3, 0, seed);

		assert_memory_equal(order, again, 3 * sizeof(*order));
		n[order[0] * 9 + order[1] * 3 + order[2]]++;
		free(order);
		free(again);
	}
	for (size_t i = 0; i < COUNT(n); i++) {
		n_orders += n[i] != 0;
		if (n[i] != 0)
			assert_in_range(n[i], 850, 1150); /* 1000, 5 standard deviations */
	}
	assert_int_equal(n_orders, 6);
}

/* A ring goes through all places in their order, and is back after as many steps. */
static void rings_go_through_all(void **state)
{
	enum { P = sizeof(void *) };
	static const uint64_t orders[][4] = { { 0, P, 2 * P, 3 * P },
					      { 3 * P, 0, 2 * P, P },
					      { P, 3 * P, 0, 2 * P } };
	void *places[4];

	(void)state;
	for (size_t i = 0; i < COUNT(orders); i++)
		for (size_t n = 1; n <= 4; n++) {
			void **first = pointer_ring_link(places, orders[i], n), **at = first;

			for (size_t k = 0; k < n; k++, at = *at)
				assert_ptr_equal(at, (char *)places + orders[i][k]);
			assert_ptr_equal(at, first);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_have_each_number),
		cmocka_unit_test(orders_are_equally_likely),
		cmocka_unit_test(rings_go_through_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

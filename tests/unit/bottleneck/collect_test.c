/* SPDX-License-Identifier: Apache-2.0 */
/* What records of a batch say together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"

enum { ROWS = 24, STEP = 64 };

/* Rows of a load: of one CPU, or thread, after the other, `n_each` of each, which go upwards from its own address. */
static void fill_batch(struct batch *b, uint32_t place, size_t n_each, bool by_thread)
{
	batch_reset(b, BATCH_SPE);
	for (size_t row = 0; row < ROWS; row++) {
		uint32_t number = (uint32_t)(row / n_each);

		b->has[row] = HAS_OP | HAS_VA | HAS_TID | HAS_PLACE | (by_thread ? 0 : HAS_CPU);
		b->op_class[row] = SPE_OP_LDST;
		b->op[row] = 0;
		b->cpu[row] = by_thread ? UINT32_MAX : number;
		b->tid[row] = by_thread ? ALPHA + number : ALPHA;
		b->place[row] = place;
		b->va[row] = 0x1000000 / (number + 1) + row * STEP;
	}
	b->n = ROWS;
}

/* What an instruction accesses next is known of a buffer, though several ones have records in a batch. */
static void addresses_of_a_buffer_follow_each_other(void **state)
{
	static const struct function_case load = { { 0xf9400000, 0xd65f03c0 }, { 10, 10 } };
	static const size_t n_each[] = { ROWS, 6, 3, 1 };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(n_each); i++) {
		size_t n = n_each[i / 2];
		struct bottleneck_fixture f;
		struct batch *b = batch_new();
		const struct addr_pattern *p;

		open_function(&load, &f);
		f.all->n_places = place_numbers_n(f.session.places);
		f.all->slot_of_place = mem_alloc(f.all->n_places, sizeof(uint32_t));
		for (uint32_t place = 0; place < f.all->n_places; place++)
			f.all->slot_of_place[place] = NO_SLOT;
		f.all->slot_of_place[f.all->slots.items[0].place] = 0;
		fill_batch(b, f.all->slots.items[0].place, n, i % 2);
		bottleneck_class.consume(f.sums, b);
		bottleneck_class.consume(f.sums, b); /* another batch */
		p = &f.sums->slots[0].addresses;
		assert_int_equal(p->n, 2 * ROWS);
		assert_int_equal(p->n_pairs, 2 * (ROWS - ROWS / n));
		assert_int_equal(p->n_up, p->n_pairs);
		batch_free(b);
		close_function(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_a_buffer_follow_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

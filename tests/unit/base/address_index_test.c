/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a part are found again by their addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/address_index.h"
#include "base/alloc.h"

enum { PIECE = 64, N = 20000, N_PARTS = 3, FIRST = 1 << 20, AT_ONCE = 1000 };

static uint64_t address_of(uint64_t i)
{
	return i * 0x10037 * PIECE + i % PIECE;
}

/* Near to each other, farther away, and beyond what a word can say. */
static uint64_t position_of(uint64_t i)
{
	return FIRST + i * 64 + i / 10 * 1000 + i / 100 * 4094 + i / 1000 * ((uint64_t)1 << 36);
}

/* Records between have no address. */
static void add_records(struct address_list *list, const struct address_index *x, uint64_t from,
			uint64_t to)
{
	uint64_t positions[2 * AT_ONCE] = { 0 }, addresses[2 * AT_ONCE] = { 0 };
	uint16_t numbers[AT_ONCE];
	size_t n = 0;

	for (uint64_t i = from; i < to; i++, n++) {
		numbers[n] = (uint16_t)(2 * n + 1);
		positions[2 * n + 1] = position_of(i);
		addresses[2 * n + 1] = address_of(i);
	}
	address_list_add(list, x, positions, addresses, numbers, n);
}

static void fill(struct address_index *x, size_t part)
{
	struct address_list list = { 0 };

	for (uint64_t i = 0; i < N; i += AT_ONCE)
		add_records(&list, x, i, i + AT_ONCE);
	address_index_keep(x, part, &list);
	assert_int_equal(list.words.n, 0);
	address_list_release(&list);
}

/* The next position; UINT64_MAX: there is none. */
static uint64_t next_of(struct address_cursor *c)
{
	if (c->next == c->n && !address_cursor_refill(c))
		return UINT64_MAX;
	return c->positions[c->next++];
}

/* All of those that were added, in order, and few others. `n`: room of the filter. */
static void check_found(struct address_index *x, size_t n, uint64_t every)
{
	struct address_filter f;
	struct address_cursor c;
	size_t n_others = 0;

	address_filter_init(&f, PIECE, n);
	for (uint64_t i = 0; i < N; i += every)
		address_filter_add(&f, address_of(i) - i % PIECE);
	assert_true(address_cursor_start(&c, x, 1, &f));
	for (uint64_t i = 0; i < N; i += every) {
		uint64_t at;

		while ((at = next_of(&c)) < position_of(i))
			n_others++;
		assert_int_equal(at, position_of(i));
	}
	while (next_of(&c) != UINT64_MAX)
		n_others++;
	assert_true(n_others < N / 4);
	address_filter_release(&f);
}

static void test_found(void **state)
{
	struct address_index *x = address_index_new(N_PARTS, PIECE, SIZE_MAX);

	(void)state;
	fill(x, 1);
	check_found(x, 1 << 14, 1); /* as many bits as are kept of a hash, … */
	check_found(x, N / 1000, 1000);
	fill(x, 1); /* again */
	check_found(x, N / 10, 10);
	address_index_free(x);
}

static void test_nothing_wanted(void **state)
{
	struct address_index *x = address_index_new(N_PARTS, PIECE, SIZE_MAX);
	struct address_list list = { 0 };
	struct address_filter none;
	struct address_cursor c;

	(void)state;
	address_filter_init(&none, PIECE, 1);
	fill(x, 0);
	assert_true(address_cursor_start(&c, x, 0, &none));
	assert_true(next_of(&c) == UINT64_MAX);
	assert_true(next_of(&c) == UINT64_MAX);
	address_list_add(&list, x, NULL, NULL, NULL, 0);
	address_index_keep(x, 2, &list); /* a part without records */
	assert_true(address_cursor_start(&c, x, 2, &none));
	assert_true(next_of(&c) == UINT64_MAX);
	address_filter_release(&none);
	address_index_free(x);
}

/* Then all of the part is to be looked at. */
static void test_not_indexed(void **state)
{
	const uint64_t positions[] = { 10, 9 }, addresses[2] = { 0 };
	const uint16_t numbers[] = { 0, 1 };
	struct address_index *x = address_index_new(N_PARTS, PIECE, 7 * N);
	struct address_list list = { 0 };
	struct address_filter f, larger, of_other;
	struct address_cursor c;

	(void)state;
	address_filter_init(&f, PIECE, 1);
	address_filter_init(&larger, PIECE, (1 << 14) + 1);
	address_filter_init(&of_other, 2 * PIECE, 1);
	assert_false(address_cursor_start(&c, x, 0, &f));
	address_list_add(&list, x, positions, addresses, numbers, 2); /* out of order */
	address_index_keep(x, 0, &list);
	assert_false(address_cursor_start(&c, x, 0, &f));
	address_list_add(&list, x, positions, addresses, numbers, 1);
	address_index_keep(x, 0, &list);
	assert_true(address_cursor_start(&c, x, 0, &f));
	assert_false(address_cursor_start(&c, x, 0, &larger));
	assert_false(address_cursor_start(&c, x, 0, &of_other));
	fill(x, 1);
	fill(x, 2); /* beyond what it keeps */
	assert_true(address_cursor_start(&c, x, 1, &f));
	assert_false(address_cursor_start(&c, x, 2, &f));
	fill(x, 1); /* what it had makes room */
	assert_true(address_cursor_start(&c, x, 1, &f));
	address_index_give_up(x);
	address_index_give_up(x);
	fill(x, 2);
	for (size_t i = 0; i < N_PARTS; i++)
		assert_false(address_cursor_start(&c, x, i, &f));
	address_list_release(&list);
	address_filter_release(&f);
	address_filter_release(&larger);
	address_filter_release(&of_other);
	address_index_free(x);
	address_index_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_nothing_wanted),
		cmocka_unit_test(test_not_indexed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

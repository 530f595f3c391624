/* SPDX-License-Identifier: Apache-2.0 */
/* Names come back as they were set, and equal ones take room once. */
#include "data/shared_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"

static void equal_names_take_room_once(void **state)
{
	enum { N = 10000 };
	const struct data_name names[] = {
		{ .kind = DATA_ANONYMOUS, .module = { 3 } },
		{ .kind = DATA_STATIC, .module = { 3 }, .object = { 7 }, .object_size = 8 },
		{ 0 },
	};
	struct shared_names shared;

	(void)state;
	shared_names_init(&shared, N);
	for (size_t i = 0; i < N; i++)
		shared_names_set(&shared, i, &names[i % COUNT(names)]);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(shared_names_get(&shared, i)->kind, names[i % COUNT(names)].kind);
		assert_int_equal(shared_names_get(&shared, i)->object.v,
				 names[i % COUNT(names)].object.v);
	}
	assert_int_equal(shared.list.n, COUNT(names));
	for (int kind = 0; kind < DATA_N_KINDS; kind++) {
		bool is_there = false;

		for (size_t i = 0; i < COUNT(names); i++)
			is_there |= names[i].kind == (enum data_kind)kind;
		assert_int_equal(shared_names_have(&shared, (enum data_kind)kind), is_there);
	}
	shared_names_release(&shared);
}

/* What differs in one field is another name, also where it is looked for at the same place. */
static void different_names_stay_apart(void **state)
{
	const struct data_name names[] = {
		{ .kind = DATA_HEAP },
		{ .kind = DATA_HEAP, .module = { 1 } },
		{ .kind = DATA_HEAP, .file_address = 1 },
		{ .kind = DATA_HEAP, .object = { 1 } },
		{ .kind = DATA_HEAP, .is_by_type = true },
		{ .kind = DATA_HEAP, .is_by_code = true },
		{ .kind = DATA_HEAP, .is_managed = true },
		{ .kind = DATA_HEAP, .tid = 1 },
		{ .kind = DATA_HEAP, .function = { 1 } },
		{ .kind = DATA_HEAP, .object_address = 1 },
		{ .kind = DATA_HEAP, .object_size = 1 },
		{ .kind = DATA_HEAP, .type = { 1 } },
		{ .kind = DATA_HEAP, .path = { 1 } },
		{ .kind = DATA_HEAP, .n_elements = 1 },
		{ .kind = DATA_HEAP, .file = { 1 } },
		{ .kind = DATA_HEAP, .line = 1 },
		{ .kind = DATA_HEAP, .leaf = { .offset = 1 } },
		{ .kind = DATA_HEAP, .leaf = { .size = 1 } },
		{ .kind = DATA_HEAP, .leaf = { .type = { 1 } } },
		{ .kind = DATA_HEAP, .leaf = { .bit_offset = 1 } },
		{ .kind = DATA_HEAP, .leaf = { .bit_size = 1 } },
	};
	struct shared_names shared;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		for (size_t k = 0; k < COUNT(names); k++) {
			shared_names_init(&shared, 2);
			shared_names_set(&shared, 0, &names[i]);
			shared_names_set(&shared, 1, &names[k]);
			assert_int_equal(shared_names_get(&shared, 0) ==
						 shared_names_get(&shared, 1),
					 i == k);
			shared_names_release(&shared);
		}
}

/* More names than are looked for, each at its number; the names of others stay when one changes. */
static void many_names_keep_their_numbers(void **state)
{
	enum { N = 20000 };
	struct shared_names shared;

	(void)state;
	shared_names_init(&shared, N);
	for (size_t i = 0; i < N; i++)
		shared_names_set(&shared, i, &(struct data_name){ .object_address = i / 2 });
	shared_names_set(&shared, 1, &(struct data_name){ .object_address = N });
	assert_int_equal(shared_names_get(&shared, 0)->object_address, 0);
	assert_int_equal(shared_names_get(&shared, 1)->object_address, N);
	for (size_t i = 2; i < N; i++)
		assert_int_equal(shared_names_get(&shared, i)->object_address, i / 2);
	shared_names_release(&shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_names_take_room_once),
		cmocka_unit_test(different_names_stay_apart),
		cmocka_unit_test(many_names_keep_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Replacement in set-associative tables, and the directory against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/assoc.h"
#include "model/directory.h"
#include "model/tags.h"

/* Two sets of two ways: even keys meet in one set, odd ones in the other. */
static void throws_out_what_was_used_longest_ago(void **state)
{
	static const struct {
		uint64_t key;
		uint64_t lost; /* what leaves when the key is added; 0: it was there */
	} steps[] = {
		{ 2, ASSOC_NONE }, { 4, ASSOC_NONE }, { 2, 0 }, { 6, 4 }, { 3, ASSOC_NONE },
		{ 2, 0 },	   { 4, 6 },	      { 6, 2 }, { 3, 0 }, { 5, ASSOC_NONE },
		{ 7, 3 },	   { 5, 0 },	      { 9, 7 },
	};
	struct assoc a;

	(void)state;
	assoc_init(&a, 2, 2);
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct entry *entry = assoc_find(&a, steps[i].key), lost_entry;
		uint64_t lost = 0;

		if (entry == NULL) {
			entry = assoc_add(&a, steps[i].key, &lost, &lost_entry);
			assert_int_equal(entry->value, 0);
			entry->value = (100 + steps[i].key) & ENTRY_VALUE;
			if (lost != ASSOC_NONE)
				assert_int_equal(lost_entry.value, 100 + lost);
		}
		assert_int_equal(lost, steps[i].lost);
		assert_int_equal(entry->value, 100 + steps[i].key);
	}
	assoc_release(&a);
}

static void removes_and_peeks(void **state)
{
	struct entry lost_entry;
	struct assoc a;
	uint64_t lost;

	(void)state;
	assoc_init(&a, 1, 3);
	for (uint64_t key = 1; key <= 3; key++)
		assoc_add(&a, key, &lost, &lost_entry)->value = key & ENTRY_VALUE;
	assert_int_equal(assoc_peek(&a, 1)->value, 1); /* a peek is no use: 1 stays the oldest */
	assoc_remove(&a, 2);
	assoc_remove(&a, 2);
	assert_null(assoc_peek(&a, 2));
	assoc_add(&a, 4, &lost, &lost_entry);
	assert_int_equal(lost, ASSOC_NONE); /* the place of 2 was free */
	assoc_add(&a, 5, &lost, &lost_entry);
	assert_int_equal(lost, 1);
	assoc_reset(&a);
	assert_null(assoc_find(&a, 5));
	assoc_release(&a);
}

static void lines_alone(void **state)
{
	const uint64_t high = (uint64_t)1 << 62;
	struct tags t;

	(void)state;
	tags_init(&t, 2, 2); /* sets of odd and of even lines */
	assert_false(tags_use(&t, 2));
	tags_put(&t, 2);
	tags_put(&t, 4);
	tags_put(&t, 3);
	assert_true(tags_use(&t, 2)); /* now 4 is the older one */
	tags_put(&t, 6);
	assert_true(tags_use(&t, 2));
	assert_false(tags_use(&t, 4));
	assert_true(tags_use(&t, 3));
	assert_true(tags_use(&t, 6));
	assert_false(tags_use(&t, high | 6)); /* page tables lie there */
	tags_put(&t, high | 6);
	assert_true(tags_use(&t, 6));
	assert_true(tags_use(&t, high | 6));
	assert_false(tags_use(&t, 2));
	assert_false(tags_use(&t, high | (uint64_t)1 << 50 | 6));
	tags_release(&t);
}

enum { N_LINES = 4000, N_CPUS = 3 };

/* Lines that come and go at random, many of them in the same places of the table. */
static void directory_knows_the_holders(void **state)
{
	uint64_t wanted[N_LINES] = { 0 };
	struct directory d;
	uint32_t random = 1;

	(void)state;
	directory_init(&d);
	for (int i = 0; i < 100000; i++) {
		uint64_t line;
		unsigned cpu;

		random = random * 1664525 + 1013904223;
		line = (random >> 8) % N_LINES;
		cpu = (random >> 28) % N_CPUS;
		assert_int_equal(directory_holders(&d, line), wanted[line]);
		if (wanted[line] >> cpu & 1)
			directory_remove(&d, line, cpu);
		else
			directory_add(&d, line, cpu);
		wanted[line] ^= (uint64_t)1 << cpu;
	}
	for (uint64_t line = 0; line < N_LINES; line++)
		assert_int_equal(directory_holders(&d, line), wanted[line]);
	directory_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(throws_out_what_was_used_longest_ago),
		cmocka_unit_test(removes_and_peeks),
		cmocka_unit_test(lines_alone),
		cmocka_unit_test(directory_knows_the_holders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

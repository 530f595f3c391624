/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/tuples.h"

enum { N_TUPLES = 5000 };

static void numbers_follow_first_appearance(void **state)
{
	struct tuples t;

	(void)state;
	tuples_init(&t, 2);
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < N_TUPLES; i++)
			assert_int_equal(tuples_add(&t, (uint64_t[]){ i << 12, i / 2 }), i);
	assert_int_equal(t.n, N_TUPLES);
	for (uint64_t i = 0; i < N_TUPLES; i++) {
		const uint64_t *words = tuples_get(&t, (uint32_t)i);

		assert_true(words[0] == i << 12 && words[1] == i / 2);
		assert_int_equal(tuples_find(&t, words), i);
	}
	tuples_release(&t);
}

/* Each word counts: a tuple that differs in one alone is another. */
static void all_words_are_compared(void **state)
{
	static const uint64_t first[3] = { 1, 2, 3 };
	struct tuples t;

	(void)state;
	tuples_init(&t, 3);
	tuples_add(&t, first);
	for (int word = 0; word < 3; word++) {
		uint64_t other[3] = { 1, 2, 3 };

		other[word] ^= (uint64_t)1 << 63;
		assert_true(tuples_find(&t, other) == TUPLES_NONE);
		assert_int_equal(tuples_add(&t, other), word + 1);
	}
	tuples_release(&t);
}

/* Tuples that come again at once, tables that grow meanwhile, and numbers of all remainders. */
static void all_at_once_is_one_by_one(void **state)
{
	static uint64_t tuples[N_TUPLES][2];
	static uint32_t numbers[N_TUPLES], in_runs[N_TUPLES];
	struct tuples single, all, runs;

	(void)state;
	for (uint64_t i = 0; i < N_TUPLES; i++) {
		tuples[i][0] = i * i % 1009;
		tuples[i][1] = i / 3 % 2;
		if (i % 7 > 2) /* like the one before */
			memcpy(tuples[i], tuples[i - 1], sizeof(tuples[i]));
	}
	for (size_t n = 0; n <= N_TUPLES; n += 1 + n / 2) {
		tuples_init(&single, 2);
		tuples_init(&all, 2);
		tuples_init(&runs, 2);
		tuples_add_all(&all, tuples[0], n, numbers);
		tuples_add_runs(&runs, tuples[0], n, in_runs);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(numbers[i], tuples_add(&single, tuples[i]));
			assert_int_equal(in_runs[i], numbers[i]);
		}
		assert_int_equal(all.n, single.n);
		assert_int_equal(runs.n, single.n);
		tuples_release(&single);
		tuples_release(&all);
		tuples_release(&runs);
	}
}

/* Whatever number is given as the last one, the answer is that of tuples_add(). */
static void add_again_is_add(void **state)
{
	struct tuples single, again;
	uint32_t last = 0;

	(void)state;
	tuples_init(&single, 1);
	tuples_init(&again, 1);
	for (uint64_t i = 0; i < N_TUPLES; i++) {
		const uint64_t tuple = i / 3 % 7;

		last = tuples_add_again(&again, &tuple, i % 2 == 0 ? last : (uint32_t)i);
		assert_int_equal(last, tuples_add(&single, &tuple));
	}
	assert_int_equal(again.n, 7);
	tuples_release(&single);
	tuples_release(&again);
}

static void reset_forgets(void **state)
{
	struct tuples t;

	(void)state;
	tuples_init(&t, 1);
	for (uint64_t i = 0; i < N_TUPLES; i++)
		tuples_add(&t, &i);
	tuples_reset(&t);
	assert_int_equal(t.n, 0);
	for (uint64_t i = 0; i < N_TUPLES; i++)
		assert_true(tuples_find(&t, &i) == TUPLES_NONE);
	assert_int_equal(tuples_add(&t, (uint64_t[]){ 77 }), 0);
	tuples_release(&t);
}

static void reordered_tuples_are_found(void **state)
{
	uint32_t order[N_TUPLES];
	struct tuples t;

	(void)state;
	tuples_init(&t, 2);
	for (uint64_t i = 0; i < N_TUPLES; i++) {
		tuples_add(&t, (uint64_t[]){ i, ~i });
		order[i] = (uint32_t)(i * 7 % N_TUPLES); /* 7 does not divide it: each once */
	}
	tuples_reorder(&t, order);
	assert_int_equal(t.n, N_TUPLES);
	for (uint32_t i = 0; i < N_TUPLES; i++) {
		const uint64_t tuple[] = { order[i], ~(uint64_t)order[i] };

		assert_int_equal(tuples_get(&t, i)[0], order[i]);
		assert_int_equal(tuples_find(&t, tuple), i);
	}
	assert_int_equal(tuples_add(&t, (uint64_t[]){ 1, 1 }), N_TUPLES);
	tuples_release(&t);
}

/* Each is added, however often it comes, and growing loses none. */
static void appended_tuples_have_numbers_of_their_own(void **state)
{
	enum { AT_ONCE = 3 };
	uint32_t first;
	struct tuples t;

	(void)state;
	tuples_init(&t, 2);
	for (uint32_t i = 0; i < N_TUPLES; i += AT_ONCE) {
		uint64_t *words = tuples_append(&t, AT_ONCE, &first);

		assert_int_equal(first, i);
		for (uint32_t k = 0; k < AT_ONCE; k++) {
			words[2 * k] = (i + k) / 2;
			words[2 * k + 1] = 7;
		}
	}
	for (uint64_t i = 0; i < N_TUPLES; i++)
		assert_int_equal(tuples_get(&t, (uint32_t)i)[0], i / 2);
	tuples_reset(&t);
	assert_int_equal(tuples_add(&t, (uint64_t[]){ 3, 7 }), 0);
	assert_int_equal(tuples_add(&t, (uint64_t[]){ 3, 7 }), 0);
	tuples_release(&t);
}

/* What was there and what is appended is got by number. */
static void without_an_index_tuples_are_appended(void **state)
{
	uint32_t first;
	struct tuples t;

	(void)state;
	tuples_init(&t, 2);
	for (uint64_t i = 0; i < N_TUPLES; i++)
		tuples_add(&t, (uint64_t[]){ i, ~i });
	tuples_forget_index(&t);
	for (uint32_t n = 0; n < 3; n++) {
		uint64_t *words = tuples_append(&t, N_TUPLES, &first);

		assert_int_equal(first, (n + 1) * N_TUPLES);
		for (uint64_t i = 0; i < N_TUPLES; i++) {
			words[2 * i] = i;
			words[2 * i + 1] = ~i;
		}
	}
	for (uint32_t i = 0; i < t.n; i++) {
		assert_int_equal(tuples_get(&t, i)[0], i % N_TUPLES);
		assert_int_equal(tuples_get(&t, i)[1], ~(uint64_t)(i % N_TUPLES));
	}
	tuples_release(&t);
}

/* Those that were appended meanwhile are found, too, and none is added again. */
static void an_index_can_be_made_again(void **state)
{
	uint32_t first;
	struct tuples t;

	(void)state;
	tuples_init(&t, 1);
	tuples_forget_index(&t);
	tuples_reset(&t);
	for (uint32_t i = 0; i < N_TUPLES; i++) {
		*tuples_append(&t, 1, &first) = 3 * (uint64_t)i;
		assert_int_equal(first, i);
	}
	for (int again = 0; again < 2; again++) {
		tuples_index(&t);
		for (uint64_t i = 0; i < N_TUPLES; i++) {
			assert_int_equal(tuples_find(&t, (uint64_t[]){ 3 * i }), i);
			assert_int_equal(tuples_add(&t, (uint64_t[]){ 3 * i }), i);
		}
	}
	assert_int_equal(tuples_find(&t, (uint64_t[]){ 1 }), TUPLES_NONE);
	assert_int_equal(tuples_add(&t, (uint64_t[]){ 1 }), N_TUPLES);
	tuples_release(&t);
}

static void release_accepts_zeroed(void **state)
{
	struct tuples t = { 0 };

	(void)state;
	tuples_release(&t);
	assert_null(t.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_follow_first_appearance),
		cmocka_unit_test(all_words_are_compared),
		cmocka_unit_test(all_at_once_is_one_by_one),
		cmocka_unit_test(add_again_is_add),
		cmocka_unit_test(reset_forgets),
		cmocka_unit_test(reordered_tuples_are_found),
		cmocka_unit_test(appended_tuples_have_numbers_of_their_own),
		cmocka_unit_test(without_an_index_tuples_are_appended),
		cmocka_unit_test(an_index_can_be_made_again),
		cmocka_unit_test(release_accepts_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

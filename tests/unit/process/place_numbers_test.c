/* SPDX-License-Identifier: Apache-2.0 */
#include "process/place_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/pool.h"

enum {
	N_WORKERS = 4,
	N_JOBS = 8,
	N_PAGES = 5000, /* more than have arrays of numbers, of instructions or of callers */
	N_IN_PAGE = 9,
	N = N_PAGES * N_IN_PAGE,
	N_IN_DENSE_PAGE = 300, /* 13 bytes apart */
};

static bool are_dense; /* so many places in a page that it is looked through */

/* Places 0 … N - 1, all different: of several modules, on instructions of four bytes or not. */
static struct place place_at(uint32_t i)
{
	static const uint64_t in_page[N_IN_PAGE] = { 0, 4, 0x7fc, 0xffc, 1, 2, 0x801, 0xfff, 8 };
	uint32_t page = are_dense ? i / N_IN_DENSE_PAGE : i / N_IN_PAGE;

	if (are_dense)
		return (struct place){
			{ page % 3 }, (uint64_t)(page + 1) * PLACE_PAGE + i % N_IN_DENSE_PAGE * 13
		};
	return (struct place){ { page % 3 },
			       (uint64_t)(page + 1) * PLACE_PAGE + in_page[i % N_IN_PAGE] };
}

struct shared {
	struct place_numbers *places;
	uint32_t *numbers[N_JOBS];
};

/* Places that are to be added at once. */
struct some_places {
	struct kept_place list[KEPT_AT_ONCE];
	uint32_t at[KEPT_AT_ONCE];
	size_t n;
};

static void add_some(struct place_numbers *p, struct some_places *some, uint32_t *numbers)
{
	place_numbers_add_kept(p, some->list, some->n);
	for (size_t i = 0; i < some->n; i++)
		numbers[some->at[i]] = some->list[i].number;
	some->n = 0;
}

/* Adds a place twice, if a page has its number. */
static void add_kept(struct place_numbers *p, struct some_places *some, uint32_t at,
		     uint32_t *numbers)
{
	const struct place place = place_at(at);
	struct place_page *page = place_numbers_page(p, place.module, place.offset);
	_Atomic uint32_t *kept = place_numbers_kept(page, place.offset);

	if (kept == NULL) {
		numbers[at] = place_numbers_add(p, place);
		return;
	}
	for (int i = 0; i < 2; i++) {
		some->list[some->n] = (struct kept_place){ .kept = kept, .place = place };
		some->at[some->n++] = at;
	}
	if (some->n == KEPT_AT_ONCE)
		add_some(p, some, numbers);
}

/* Each job begins elsewhere, so that all are first somewhere. Every second one adds many at once. */
static void add_job(void *context, size_t job, unsigned worker)
{
	struct shared *s = context;
	struct some_places some = { .n = 0 };

	(void)worker;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t at = (uint32_t)((i + job * N / N_JOBS) % N);

		if (job % 2 == 0)
			s->numbers[job][at] = place_numbers_add(s->places, place_at(at));
		else
			add_kept(s->places, &some, at, s->numbers[job]);
	}
	add_some(s->places, &some, s->numbers[job]);
}

static void check_order(const struct place_numbers *p, struct pool *pool)
{
	uint32_t *numbers = mem_alloc(N + 1, sizeof(*numbers));
	struct place *places = mem_alloc(N + 1, sizeof(*places));

	place_numbers_sorted(p, pool, numbers, places);
	for (uint32_t i = 0; i < N + 1; i++) {
		const struct place *a = &places[i], *b = &places[i + 1];

		assert_int_equal(place_numbers_find(p, *a), numbers[i]);
		assert_true(i == N || a->module.v < b->module.v ||
			    (a->module.v == b->module.v && a->offset < b->offset));
	}
	free(places);
	free(numbers);
}

static void check(const struct shared *s, struct pool *pool)
{
	bool *is_used = mem_zalloc(N + 1, sizeof(*is_used));

	assert_int_equal(place_numbers_n(s->places), N + 1);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t number = s->numbers[0][i];
		struct place place = place_numbers_get(s->places, number);

		assert_in_range(number, 1, N);
		assert_false(is_used[number]);
		is_used[number] = true;
		assert_int_equal(place.module.v, place_at(i).module.v);
		assert_int_equal(place.offset, place_at(i).offset);
		assert_int_equal(place_numbers_find(s->places, place), number);
	}
	check_order(s->places, pool);
	for (size_t job = 1; job < N_JOBS; job++)
		assert_memory_equal(s->numbers[job], s->numbers[0], N * sizeof(*s->numbers[0]));
	free(is_used);
}

/* Whoever adds a place, and however many do at once: it has one number, and all are used. */
static void check_shared(void)
{
	struct shared s = { .places = place_numbers_new() };
	struct pool *pool = pool_new(N_WORKERS);

	for (size_t job = 0; job < N_JOBS; job++)
		s.numbers[job] = mem_alloc(N, sizeof(*s.numbers[job]));
	pool_run(pool, N_JOBS, add_job, &s);
	check(&s, pool);
	place_numbers_forget_index(s.places);
	assert_int_equal(place_numbers_n(s.places), N + 1);
	place_numbers_restore_index(s.places);
	check(&s, pool);
	place_numbers_restore_index(s.places); /* it is there */
	check(&s, pool);
	for (size_t job = 0; job < N_JOBS; job++)
		free(s.numbers[job]);
	place_numbers_free(s.places);
	pool_free(pool);
}

static void test_shared(void **state)
{
	(void)state;
	are_dense = false;
	check_shared();
	are_dense = true;
	check_shared();
}

static void test_nothing(void **state)
{
	struct place_numbers *p = place_numbers_new();

	(void)state;
	assert_int_equal(place_numbers_n(p), 1);
	assert_int_equal(place_numbers_get(p, 0).module.v, 0);
	assert_int_equal(place_numbers_get(p, 0).offset, 0);
	assert_int_equal(place_numbers_add(p, (struct place){ 0 }), 0);
	assert_int_equal(place_numbers_find(p, (struct place){ { 1 }, 4 }), PLACE_NONE);
	assert_int_equal(place_numbers_find(p, (struct place){ { 1 }, 5 }), PLACE_NONE);
	assert_int_equal(place_numbers_n(p), 1);
	place_numbers_free(p);
	place_numbers_free(NULL);
}

/* What is kept by page is what is found by place. */
static void test_pages(void **state)
{
	struct place_numbers *p = place_numbers_new();
	const struct place place = { { 5 }, 3 * PLACE_PAGE + 0x10 };
	struct place_page *page = place_numbers_page(p, place.module, 3 * PLACE_PAGE);
	_Atomic uint32_t *kept = place_numbers_kept(page, place.offset);
	struct kept_place its = { .kept = kept, .place = place };

	(void)state;
	assert_ptr_equal(place_numbers_page(p, place.module, 3 * PLACE_PAGE), page);
	assert_true(place_is_none(place_numbers_look(kept)));
	assert_int_equal(place_numbers_find(p, place), PLACE_NONE);
	atomic_store(kept, PLACE_BEING_ADDED); /* by another thread */
	assert_true(place_is_none(place_numbers_look(kept)));
	assert_int_equal(place_numbers_find(p, place), PLACE_NONE);
	atomic_store(kept, 0);
	place_numbers_add_kept(p, &its, 1);
	assert_int_equal(its.number, 1);
	assert_int_equal(place_numbers_look(kept), 1);
	assert_ptr_equal(place_numbers_page(p, place.module, place.offset), page); /* keeps it */
	assert_int_equal(place_numbers_add(p, place), 1);
	assert_int_equal(place_numbers_find(p, place), 1);
	assert_null(place_numbers_kept(page, place.offset + 1));
	assert_null(place_numbers_kept(page, place.offset + 2));
	assert_null(place_numbers_kept(NULL, place.offset));
	place_numbers_free(p);
}

/* A caller is one before the address that it returns to: its page has a number for it beside that of its instruction. */
static void test_callers(void **state)
{
	struct place_numbers *p = place_numbers_new();
	const struct place instruction = { { 5 }, 3 * PLACE_PAGE + 0x10 };
	const struct place caller = { { 5 }, 3 * PLACE_PAGE + 0x13 };
	struct place_page *page = place_numbers_page(p, caller.module, 3 * PLACE_PAGE);
	const struct place next = { { 5 }, 3 * PLACE_PAGE + 0x17 };

	(void)state;
	assert_null(place_numbers_kept(page, caller.offset)); /* no room until there is one */
	assert_int_equal(place_numbers_find(p, caller), PLACE_NONE);
	assert_int_equal(place_numbers_add(p, caller), 1);
	assert_int_equal(place_numbers_look(place_numbers_kept(page, caller.offset)), 1);
	assert_int_equal(place_numbers_find(p, caller), 1);
	assert_int_equal(place_numbers_find(p, instruction), PLACE_NONE);
	assert_int_equal(place_numbers_add(p, instruction), 2);
	assert_int_equal(place_numbers_add(p, caller), 1);
	place_numbers_add_kept(
		p, &(struct kept_place){ place_numbers_kept(page, next.offset), next, 0 }, 1);
	assert_int_equal(place_numbers_find(p, next), 3);
	place_numbers_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

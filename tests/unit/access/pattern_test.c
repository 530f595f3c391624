/* SPDX-License-Identifier: Apache-2.0 */
/* Access patterns of known sequences. */
#include "access/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { BASE = 0x10000, MOST = 64 };

/* Addresses in order, by number. */
static uint64_t constant(unsigned i)
{
	(void)i;
	return BASE;
}

static uint64_t up_64(unsigned i)
{
	return BASE + 64 * (uint64_t)i;
}

static uint64_t down_24(unsigned i)
{
	return BASE + 24 * (uint64_t)(MOST - i);
}

/* A step back at every eighth, as at the start of a loop. */
static uint64_t sawtooth(unsigned i)
{
	return BASE + 128 * (uint64_t)(i % 8);
}

/* A quarter are steps back: no stride any more, but all within a page. */
static uint64_t short_sawtooth(unsigned i)
{
	return BASE + 128 * (uint64_t)(i % 4);
}

/* Alternates between the halves of a large array. */
static uint64_t far_and_back(unsigned i)
{
	return BASE + (i % 2) * UINT64_C(0x100000) + 8 * (uint64_t)((i * 7) % 32);
}

/* Mostly up, over many pages. */
static uint64_t two_up_one_down(unsigned i)
{
	return BASE + 4096 * (uint64_t)(i / 3 + 2 * (i % 3));
}

static const struct {
	const char *name;
	uint64_t (*address)(unsigned i);
	unsigned n, batch; /* after so many the address before is forgotten */
	bool is_chase;
	enum addr_walk walk;
	uint64_t divisor, span, n_pairs, n_up, n_down, n_same;
} cases[] = {
	{ "constant", constant, 16, 64, false, ADDR_WALK_CONSTANT, 0, 0, 15, 0, 0, 15 },
	{ "constant, few", constant, 15, 64, false, ADDR_WALK_UNKNOWN, 0, 0, 14, 0, 0, 14 },
	{ "up", up_64, 32, 64, false, ADDR_WALK_STRIDE, 64, 31 * 64, 31, 31, 0, 0 },
	{ "up, few", up_64, 15, 64, false, ADDR_WALK_UNKNOWN, 64, 14 * 64, 14, 14, 0, 0 },
	{ "up, a batch for each", up_64, 32, 1, false, ADDR_WALK_UNKNOWN, 64, 31 * 64, 0, 0, 0, 0 },
	{ "up, eight pairs", up_64, 16, 2, false, ADDR_WALK_STRIDE, 64, 15 * 64, 8, 8, 0, 0 },
	{ "down", down_24, 32, 64, false, ADDR_WALK_STRIDE, 24, 31 * 24, 31, 0, 31, 0 },
	{ "loops", sawtooth, 64, 64, false, ADDR_WALK_STRIDE, 128, 7 * 128, 63, 56, 7, 0 },
	{ "short loops", short_sawtooth, 64, 64, false, ADDR_WALK_LOCAL, 128, 3 * 128, 63, 48, 15,
	  0 },
	{ "far and back", far_and_back, 64, 64, false, ADDR_WALK_SCATTERED, 8, 0x100000 + 31 * 8,
	  63, 32, 31, 0 },
	{ "mostly up", two_up_one_down, 48, 64, false, ADDR_WALK_MIXED, 4096, 19 * 4096, 47, 32, 15,
	  0 },
	{ "chase", far_and_back, 64, 64, true, ADDR_WALK_CHASE, 8, 0x100000 + 31 * 8, 63, 32, 31,
	  0 },
	{ "no chase of one address", constant, 64, 64, true, ADDR_WALK_CONSTANT, 0, 0, 63, 0, 0,
	  63 },
};

static struct addr_pattern pattern_of(size_t i, unsigned from, unsigned to)
{
	struct addr_pattern p = { 0 };

	for (unsigned at = from; at < to; at++) {
		addr_pattern_add(&p, cases[i].address(at));
		if (at % cases[i].batch != 0 && at > from)
			addr_pattern_add_pair(&p, cases[i].address(at - 1), cases[i].address(at));
	}
	return p;
}

static void expect(const struct addr_pattern *p, size_t i)
{
	assert_int_equal(p->n, cases[i].n);
	assert_int_equal(p->divisor, cases[i].divisor);
	assert_int_equal(p->most - p->any, cases[i].span);
	assert_int_equal(p->n_pairs, cases[i].n_pairs);
	assert_int_equal(p->n_up, cases[i].n_up);
	assert_int_equal(p->n_down, cases[i].n_down);
	assert_int_equal(p->n_same, cases[i].n_same);
	assert_int_equal(addr_pattern_walk(p, cases[i].is_chase), cases[i].walk);
}

static void walks_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct addr_pattern p = pattern_of(i, 0, cases[i].n);

		print_message("%s\n", cases[i].name);
		expect(&p, i);
	}
}

/*
 * Partial sums of workers add up to the whole, in either order, except for the pair between them.
 */
static void parts_make_the_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned half = cases[i].n / 2;
		struct addr_pattern whole = pattern_of(i, 0, cases[i].n);
		struct addr_pattern parts[2] = { pattern_of(i, 0, half),
						 pattern_of(i, half, cases[i].n) };

		for (int first = 0; first < 2; first++) {
			struct addr_pattern joined = { 0 };

			addr_pattern_merge(&joined, &parts[first]);
			addr_pattern_merge(&joined, &(struct addr_pattern){ 0 });
			addr_pattern_merge(&joined, &parts[1 - first]);
			assert_int_equal(joined.n, whole.n);
			assert_int_equal(joined.divisor, whole.divisor);
			assert_int_equal(joined.any, whole.any);
			assert_int_equal(joined.most, whole.most);
		}
	}
}

/* Threads have memory of their own: the distance between them is no multiple of the stride. */
static void threads_keep_their_places(void **state)
{
	struct addr_pattern a = { 0 }, b = { 0 };

	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		addr_pattern_add(&a, up_64(i));
		if (i % 2 == 0) /* half as far */
			addr_pattern_add(&b, up_64(i / 2) + 4096 * 1000 + 4);
		if (i > 0)
			addr_pattern_add_pair(&a, up_64(i - 1), up_64(i));
		if (i > 0)
			addr_pattern_add_pair(&b, up_64(i - 1), up_64(i));
	}
	for (int first = 0; first < 2; first++) {
		struct addr_pattern both = { 0 };

		addr_pattern_merge_other(&both, first == 0 ? &a : &b);
		addr_pattern_merge_other(&both, first == 0 ? &b : &a);
		assert_int_equal(both.n, 48);
		assert_int_equal(both.divisor, 64);
		assert_int_equal(both.most - both.any, 31 * 64);
		assert_int_equal(both.n_up, 62);
		assert_int_equal(addr_pattern_walk(&both, false), ADDR_WALK_STRIDE);
	}
}

static void the_last_address_is_of_its_group(void **state)
{
	struct addr_last *last = addr_last_new();
	uint64_t before = 0;

	(void)state;
	assert_false(addr_last_put(last, 7, 100, &before));
	assert_false(addr_last_put(last, 9, 200, &before));
	assert_true(addr_last_put(last, 7, 101, &before));
	assert_int_equal(before, 100);
	assert_true(addr_last_put(last, 9, 201, &before));
	assert_int_equal(before, 200);
	addr_last_reset(last);
	assert_false(addr_last_put(last, 7, 102, &before));
	addr_last_free(last);
	addr_last_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_are_told),
		cmocka_unit_test(parts_make_the_whole),
		cmocka_unit_test(threads_keep_their_places),
		cmocka_unit_test(the_last_address_is_of_its_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by place are exact, whether they fit in what is narrow or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "hot/sums/place_costs.h"

/* Places from FIRST on: the first one is in the first block, those behind are in the second. */
enum { FIRST = PLACE_COSTS_BLOCK - 1, N_PLACES = 6, N_PARTS = 3 };

static void check_place(const struct place_costs *p, uint32_t i, const struct hot_cost *wanted)
{
	uint32_t place = FIRST + i;
	const struct hot_cost cost = place_costs_get(p, place);

	assert_memory_equal(&cost, wanted, sizeof(cost));
	assert_int_equal(place_costs_is_empty(p, place), wanted->n == 0);
}

/* A record with a latency, which does all that can be counted. */
static struct hot_cost record_of(uint64_t total)
{
	return (struct hot_cost){ .n = 1,
				  .n_cycles = 1,
				  .cycles = total,
				  .squares = total * total,
				  .n_saturated = 1,
				  .full = total,
				  .n_walks = 1,
				  .xlat_cycles = total,
				  .n_branches = 1,
				  .n_mispredicted = 1 };
}

/* What is too wide is marked: upper bits are set. */
static struct narrow_cost narrowed(const struct hot_cost *c)
{
	const struct narrow_cost narrow = { .squares = (uint32_t)c->squares,
					    .cycles = (uint16_t)c->cycles,
					    .xlat_cycles = (uint16_t)c->xlat_cycles,
					    .full = (uint16_t)c->full,
					    .n = (uint8_t)c->n,
					    .n_cycles = (uint8_t)c->n_cycles,
					    .n_saturated = (uint8_t)c->n_saturated,
					    .n_walks = (uint8_t)c->n_walks,
					    .n_branches = (uint8_t)c->n_branches,
					    .n_mispredicted = (uint8_t)c->n_mispredicted };
	bool is_wide = c->squares >> 30 | (c->cycles | c->xlat_cycles | c->full) >> 15 | c->n >> 7;

	return is_wide ? narrow_upper : narrow;
}

static void add_to(struct place_costs *p, struct hot_cost *wanted, uint32_t i,
		   const struct hot_cost *c)
{
	const struct narrow_cost narrow = narrowed(c);

	if (!narrow_cost_add(place_costs_narrow(p, FIRST + i), &narrow))
		place_costs_widen(p, FIRST + i, c);
	hot_cost_add(&wanted[i], c);
	check_place(p, i, &wanted[i]);
}

/* Each number goes over what is narrow alone, and all at once; zero latencies, and the largest that there is. */
static void fill(struct place_costs *p, struct hot_cost *wanted)
{
	static const uint64_t totals[] = { 0,	  1,	 4095, 0x7fff, 0x8000,
					   65535, 65536, 1,    0,      UINT32_MAX };

	place_costs_reach(p, FIRST + N_PLACES);
	for (uint32_t i = 0; i < 70000; i++) {
		const struct hot_cost one = { .n = 1 }, c = record_of(totals[i % COUNT(totals)]);

		add_to(p, wanted, 0, &c);
		add_to(p, wanted, 1, &one);
		add_to(p, wanted, 2, &c);
	}
	for (uint32_t i = 0; i < 300; i++) {
		const struct hot_cost walk = { .n = 1, .n_walks = 1, .xlat_cycles = 200 },
				      squares = { .n = 1, .squares = 0x3fffffff },
				      cycles = { .n = 1, .n_cycles = 1, .cycles = 0x7fff };

		add_to(p, wanted, 3, i % 3 == 0 ? &walk : i % 3 == 1 ? &squares : &cycles);
	}
	add_to(p, wanted, 4, &(const struct hot_cost){ .n = 1, .full = 0x8000 });
}

/* Sums that are in small pages of memory stay when there is room for more. */
static void test_growth(void **state)
{
	const struct hot_cost c = record_of(7);
	const struct narrow_cost narrow = narrowed(&c);
	struct place_costs p;
	uint32_t n = 1;

	(void)state;
	place_costs_init(&p);
	for (; n < 3 * PLACE_COSTS_BLOCK; n += n / 2 + 1) {
		place_costs_reach(&p, n);
		assert_int_equal(place_costs_n(&p), n);
		assert_true(place_costs_is_empty(&p, n - 1));
		assert_true(narrow_cost_add(place_costs_narrow(&p, n - 1), &narrow));
	}
	for (uint32_t k = 1; k < n; k += k / 2 + 1)
		assert_int_equal(place_costs_cycles(&p, k - 1), 7);
	place_costs_release(&p);
}

static void test_exact(void **state)
{
	struct hot_cost wanted[N_PLACES] = { 0 }, all = { 0 }, total;
	struct place_costs p;

	(void)state;
	place_costs_init(&p);
	fill(&p, wanted);
	assert_int_equal(p.wide.n, 5); /* the last place has nothing */
	total = place_costs_total(&p);
	for (uint32_t i = 0; i < N_PLACES; i++)
		hot_cost_add(&all, &wanted[i]);
	assert_memory_equal(&total, &all, sizeof(all));
	for (uint32_t i = 0; i < N_PLACES; i++)
		check_place(&p, i, &wanted[i]);
	place_costs_release(&p);
}

/* What fits stays narrow: that is what the memory is saved by. */
static void test_narrow(void **state)
{
	struct hot_cost wanted[2] = { 0 };
	struct place_costs p;

	(void)state;
	assert_int_equal(sizeof(struct narrow_cost), 16);
	place_costs_init(&p);
	place_costs_reach(&p, FIRST + 2);
	place_costs_reach(&p, 1); /* there is room */
	assert_int_equal(place_costs_n(&p), FIRST + 2);
	for (int i = 0; i < 128; i++)
		add_to(&p, wanted, 1, &(const struct hot_cost){ .n = 1, .cycles = 100 });
	assert_int_equal(p.wide.n, 0);
	add_to(&p, wanted, 1, &(const struct hot_cost){ .n = 1, .cycles = 100 });
	assert_int_equal(p.wide.n, 1);
	place_costs_release(&p);
}

static void test_merge(void **state)
{
	struct hot_cost wanted[N_PLACES] = { 0 };
	struct place_costs into, from;

	(void)state;
	place_costs_init(&into);
	place_costs_init(&from);
	fill(&into, wanted);
	fill(&from, (struct hot_cost[N_PLACES]){ 0 });
	place_costs_reach(&into, FIRST + N_PLACES + 2);
	for (size_t part = 0; part < N_PARTS; part++)
		place_costs_merge_part(&into, &from, part, N_PARTS);
	for (uint32_t i = 0; i < N_PLACES; i++) {
		const struct hot_cost half = wanted[i];

		hot_cost_add(&wanted[i], &half);
		check_place(&into, i, &wanted[i]);
	}
	place_costs_release(&from);
	place_costs_release(&into);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

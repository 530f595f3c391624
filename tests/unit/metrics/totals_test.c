/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of an event over CPUs, threads and intervals, put together; how far to believe them. */
#include "metrics/totals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { MAX_COUNTS = 5 };

static const struct {
	const char *name;
	struct count counts[MAX_COUNTS]; /* end without an event */
	size_t n_totals;
	struct stat_total cycles; /* what stat_totals_find() gives */
	double coverage;
	enum cell_mark mark; /* with half of the time wanted */
} cases[] = {
	{ "one",
	  { { .event = "CYCLES", .value = 7, .cpu = 1 } },
	  1,
	  { .value = 7 },
	  1,
	  MARK_EXACT },
	{ "of two cpus",
	  { { .event = "CYCLES", .value = 7, .cpu = 1 },
	    { .event = "CYCLES", .value = 5, .cpu = 2 } },
	  1,
	  { .value = 12 },
	  1,
	  MARK_EXACT },
	{ "of two intervals and two threads",
	  { { .event = "CYCLES", .value = 1, .interval = 0, .tid = 4 },
	    { .event = "CYCLES", .value = 2, .interval = 1, .tid = 4 },
	    { .event = "CYCLES", .value = 4, .interval = 0, .tid = 5 } },
	  1,
	  { .value = 7 },
	  1,
	  MARK_EXACT },
	{ "twice on the same cpu",
	  { { .event = "CYCLES", .value = 7, .cpu = 1 },
	    { .event = "CYCLES", .value = 5, .cpu = 1 } },
	  2,
	  { .value = 7 },
	  1,
	  MARK_EXACT },
	{ "… the one that was counted longer",
	  { { .event = "CYCLES", .value = 7, .enabled_ns = 100, .running_ns = 60 },
	    { .event = "CYCLES", .value = 5, .enabled_ns = 100, .running_ns = 80 } },
	  2,
	  { .value = 5, .occurrence = 1 },
	  0.8,
	  MARK_SCALED },
	{ "three groups in turns",
	  { { .event = "CYCLES", .value = 90, .enabled_ns = 100, .running_ns = 20, .group = 1 },
	    { .event = "CYCLES", .value = 110, .enabled_ns = 100, .running_ns = 30, .group = 2 },
	    { .event = "CYCLES", .value = 98, .enabled_ns = 100, .running_ns = 50, .group = 3 } },
	  3,
	  { .value = 100, .occurrence = 3 },
	  1,
	  MARK_EXACT },
	{ "turns beside one that was counted all of the time",
	  { { .event = "CYCLES", .value = 90, .enabled_ns = 100, .running_ns = 20, .group = 1 },
	    { .event = "CYCLES", .value = 99, .enabled_ns = 100, .running_ns = 100, .group = 2 } },
	  2,
	  { .value = 99, .occurrence = 1 },
	  1,
	  MARK_EXACT },
	{ "half of the time on one, all on the other",
	  { { .event = "CYCLES", .value = 7, .cpu = 1, .enabled_ns = 100, .running_ns = 50 },
	    { .event = "CYCLES", .value = 5, .cpu = 2, .enabled_ns = 100, .running_ns = 100 } },
	  1,
	  { .value = 12 },
	  0.75,
	  MARK_SCALED },
	{ "too little of it",
	  { { .event = "CYCLES", .value = 7, .enabled_ns = 100, .running_ns = 49 } },
	  1,
	  { .value = 7 },
	  0.49,
	  MARK_SPARSE },
	{ "rounded times",
	  { { .event = "CYCLES", .value = 7, .enabled_ns = 10000, .running_ns = 9995 } },
	  1,
	  { .value = 7 },
	  0.9995,
	  MARK_EXACT },
	{ "a full counter",
	  { { .event = "CYCLES",
	      .value = 7,
	      .raw = UINT32_MAX,
	      .enabled_ns = 9,
	      .running_ns = 1 } },
	  1,
	  { .value = 7, .is_full = true },
	  1. / 9,
	  MARK_SATURATED },
	{ "not counted on a cpu where another event was",
	  { { .event = "CYCLES", .value = 7, .cpu = 1 },
	    { .event = "CYCLES", .cpu = 2, .state = COUNT_NOT_COUNTED },
	    { .event = "INSTRUCTIONS", .value = 1, .cpu = 2 } },
	  2,
	  { .value = 7, .is_partial = true },
	  1,
	  MARK_SCALED },
	{ "not counted on a cpu where nothing was",
	  { { .event = "CYCLES", .value = 7, .cpu = 1 },
	    { .event = "CYCLES", .cpu = 2, .state = COUNT_NOT_COUNTED } },
	  1,
	  { .value = 7 },
	  1,
	  MARK_EXACT },
	{ "counted the second time",
	  { { .event = "CYCLES", .cpu = 1, .state = COUNT_NOT_COUNTED },
	    { .event = "CYCLES", .cpu = 1, .value = 3, .enabled_ns = 10, .running_ns = 6 } },
	  2,
	  { .value = 3, .occurrence = 1 },
	  0.6,
	  MARK_SCALED },
	{ "whatever its case",
	  { { .event = "INSTRUCTIONS", .value = 9 }, { .event = "cycles", .value = 4 } },
	  2,
	  { .value = 4 },
	  1,
	  MARK_EXACT },
};

static void counts_are_summed_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct stat_totals totals;
		const struct stat_total *t;
		size_t n = 0;

		print_message("%s\n", cases[i].name);
		while (n < MAX_COUNTS && cases[i].counts[n].event != NULL)
			n++;
		stat_totals_init(&totals, cases[i].counts, n);
		assert_int_equal(totals.list.n, cases[i].n_totals);
		t = stat_totals_find(&totals, "Cycles");
		assert_non_null(t);
		assert_true(t->value == cases[i].cycles.value);
		assert_int_equal(t->occurrence, cases[i].cycles.occurrence);
		assert_int_equal(t->is_full, cases[i].cycles.is_full);
		assert_int_equal(t->is_partial, cases[i].cycles.is_partial);
		assert_int_equal(t->state, COUNT_COUNTED);
		assert_true(stat_total_coverage(t) == cases[i].coverage);
		assert_int_equal(stat_total_mark(t, 0.5), cases[i].mark);
		assert_null(stat_totals_find(&totals, "CYCLE"));
		stat_totals_release(&totals);
	}
}

static void groups_have_their_own(void **state)
{
	static const struct count counts[] = {
		{ .event = "CYCLES", .value = 7, .group = 1 },
		{ .event = "CYCLES", .value = 5, .group = 2 },
		{ .event = "INSTRUCTIONS", .value = 3, .group = 2 },
	};
	struct stat_totals totals;

	(void)state;
	stat_totals_init(&totals, counts, COUNT(counts));
	assert_true(stat_totals_find_in(&totals, "CYCLES", 1)->value == 7);
	assert_true(stat_totals_find_in(&totals, "cycles", 2)->value == 5);
	assert_null(stat_totals_find_in(&totals, "INSTRUCTIONS", 1));
	assert_null(stat_totals_find_in(&totals, "CYCLES", 3));
	stat_totals_release(&totals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_summed_up),
		cmocka_unit_test(groups_have_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Regions as a program measures them, with the kernel's own events: those that any machine has. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "handle.h"
#include "measure/inside.h"

enum { DEEP = 40 };

static void test_fresh_pages(void **state)
{
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "touch");
	struct cyclops_count faults;

	(void)state;
	assert_true(region > 0);
	assert_int_equal(cyclops_begin(c, region), 0);
	touch_pages(1000);
	assert_int_equal(cyclops_end(c, region), 0);
	faults = count_of(c, region, EVENT_FAULTS);
	assert_int_equal(faults.calls, 1);
	assert_in_range(faults.raw, 1000, 1002 + 1000 * SANITIZER_PAGES);
	assert_true(faults.coverage == 1 && faults.count == (double)faults.raw);
	assert_int_equal(faults.min, faults.raw);
	assert_int_equal(faults.max, faults.raw);
	assert_int_equal(cyclops_close(c), 0);
}

static void test_naps_are_switches(void **state)
{
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "naps");
	struct cyclops_count switches, time;

	(void)state;
	cyclops_begin(c, region);
	take_naps(20);
	cyclops_end(c, region);
	switches = count_of(c, region, EVENT_SWITCHES);
	time = count_of(c, region, EVENT_TIME);
	assert_true(switches.raw >= 20);
	assert_true(time.raw >= 20 * 100000);
	/* away from a CPU the counters are not enabled */
	assert_true(switches.enabled_ns < time.raw);
	cyclops_close(c);
}

static void test_inner_and_exclusive_are_outer(void **state)
{
	struct cyclops *c = open_or_skip(NULL);
	int outer = cyclops_region(c, "outer"), inner = cyclops_region(c, "inner"),
	    last = cyclops_region(c, "last");

	(void)state;
	for (int i = 0; i < 3; i++) {
		cyclops_begin(c, outer);
		touch_pages(100);
		cyclops_begin(c, inner);
		touch_pages(200);
		cyclops_begin(c, last);
		touch_pages(300);
		cyclops_end(c, last);
		cyclops_end(c, inner);
		cyclops_begin(c, last);
		cyclops_end(c, last);
		cyclops_end(c, outer);
	}
	for (int event = 0; cyclops_event(c, event) != NULL; event++) {
		struct cyclops_count o = count_of(c, outer, event), i = count_of(c, inner, event),
				     l = count_of(c, last, event);

		assert_true(i.exclusive_raw + o.exclusive_raw + l.raw == o.raw);
		assert_true(l.exclusive_raw == l.raw);
		assert_true(o.calls == 3 || event == EVENT_CYCLES);
	}
	assert_true(count_of(c, inner, EVENT_FAULTS).exclusive_raw >= 600);
	assert_int_equal(count_of(c, last, EVENT_FAULTS).calls, 6);
	cyclops_close(c);
}

/* An event that ran half of the time: on cores of one type it took turns, on mixed ones nobody knows. */
static void test_mixed_cores_are_not_scaled(void **state)
{
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "region");
	struct path_set *set = &c->threads[0]->paths[0].sets[0];
	struct cyclops_count whole, half, mixed;

	(void)state;
	cyclops_begin(c, region);
	touch_pages(50);
	cyclops_end(c, region);
	whole = count_of(c, region, EVENT_FAULTS);
	assert_true(whole.raw >= 50 && whole.coverage == 1 && whole.count == (double)whole.raw);
	set->enabled_ns = 2 * set->running_ns;
	half = count_of(c, region, EVENT_FAULTS);
	assert_true(half.coverage == 0.5 && half.count == 2 * (double)whole.raw);
	assert_true(half.exclusive == half.count);
	c->pmu.is_mixed = true;
	mixed = count_of(c, region, EVENT_FAULTS);
	assert_true(mixed.coverage == 0.5 && mixed.count == (double)whole.raw);
	assert_true(mixed.exclusive == mixed.count);
	cyclops_close(c);
}

static void test_recursion_counts_once(void **state)
{
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "recursive"), between = cyclops_region(c, "between");
	struct cyclops_count faults;

	(void)state;
	for (int i = 0; i < DEEP / 2; i++) {
		assert_int_equal(cyclops_begin(c, region), 0);
		assert_int_equal(cyclops_begin(c, between), 0);
		touch_pages(10);
	}
	for (int i = 0; i < DEEP / 2; i++) {
		assert_int_equal(cyclops_end(c, between), 0);
		assert_int_equal(cyclops_end(c, region), 0);
	}
	faults = count_of(c, region, EVENT_FAULTS);
	assert_int_equal(faults.calls, DEEP / 2);
	assert_true(faults.raw >= DEEP / 2 * 10 &&
		    faults.raw < (2 + SANITIZER_PAGES) * DEEP / 2 * 10);
	assert_int_equal(faults.counted_calls, 1);
	assert_true(faults.exclusive_raw + count_of(c, between, EVENT_FAULTS).exclusive_raw ==
		    faults.raw);
	cyclops_close(c);
}

static void test_nesting(void **state)
{
	struct cyclops *c =
		open_or_skip(&(struct cyclops_options){ .max_depth = DEEP, .max_paths = DEEP });
	int regions[DEEP + 1], extra;
	char name[16];

	(void)state;
	for (int i = 0; i <= DEEP; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		regions[i] = cyclops_region(c, name);
		assert_int_equal(regions[i], i + 1);
		assert_int_equal(cyclops_region(c, name), i + 1);
	}
	for (int i = 0; i < DEEP; i++)
		assert_int_equal(cyclops_begin(c, regions[i]), 0);
	assert_int_equal(cyclops_begin(c, regions[DEEP]), -EOVERFLOW);
	assert_int_equal(cyclops_end(c, regions[DEEP]), -EOVERFLOW);
	for (int i = DEEP - 1; i >= 0; i--)
		assert_int_equal(cyclops_end(c, regions[i]), 0);
	/* no room for another pair of regions; what is inside is measured */
	extra = regions[DEEP];
	assert_int_equal(cyclops_begin(c, extra), -ENOSPC);
	assert_int_equal(cyclops_begin(c, regions[0]), -ENOSPC);
	assert_int_equal(cyclops_end(c, regions[0]), -ENOSPC);
	assert_int_equal(cyclops_end(c, extra), -ENOSPC);
	assert_int_equal(cyclops_begin(c, regions[0]), 0);
	assert_int_equal(cyclops_end(c, regions[0]), 0);
	assert_int_equal(count_of(c, regions[0], EVENT_TIME).calls, 2);
	assert_int_equal(count_of(c, extra, EVENT_TIME).calls, 0);
	cyclops_close(c);
}

static void test_wrong_calls(void **state)
{
	struct cyclops *c = open_or_skip(&(struct cyclops_options){ .max_regions = 2 });
	int a = cyclops_region(c, "a"), b = cyclops_region(c, "b");

	(void)state;
	assert_int_equal(cyclops_end(c, a), -EINVAL);
	assert_int_equal(cyclops_begin(c, a), 0);
	assert_int_equal(cyclops_end(c, b), -EINVAL);
	assert_int_equal(cyclops_begin(c, b), 0);
	assert_int_equal(cyclops_end(c, a), -EINVAL);
	assert_int_equal(cyclops_switch(c), -EBUSY);
	assert_int_equal(cyclops_end(c, b), 0);
	assert_int_equal(cyclops_end(c, a), 0);
	assert_int_equal(count_of(c, a, EVENT_TIME).calls, 1);
	assert_int_equal(cyclops_begin(c, 0), -EINVAL);
	assert_int_equal(cyclops_begin(c, 3), -EINVAL);
	assert_int_equal(cyclops_begin(c, -1), -EINVAL);
	assert_int_equal(cyclops_begin(NULL, a), -EINVAL);
	assert_int_equal(cyclops_region(c, ""), -EINVAL);
	assert_int_equal(cyclops_region(c, "\xff"), -EINVAL);
	assert_int_equal(cyclops_region(c, "c"), -ENOSPC);
	assert_non_null(strstr(cyclops_why(c), "room for 2"));
	assert_int_equal(cyclops_write(c, "/dev/null", "xml"), -EINVAL);
	assert_int_equal(cyclops_write(c, "/dev/null/x", NULL), -ENOTDIR);
	assert_int_equal(cyclops_open(NULL, NULL), -EINVAL);
	assert_int_equal(cyclops_close(NULL), -EINVAL);
	cyclops_close(c);
}

static void test_reset(void **state)
{
	struct cyclops *c = open_or_skip(NULL);
	int outer = cyclops_region(c, "outer"), inner = cyclops_region(c, "inner");

	(void)state;
	cyclops_begin(c, outer);
	cyclops_begin(c, inner);
	cyclops_end(c, inner);
	assert_int_equal(cyclops_reset(c), 0);
	assert_int_equal(count_of(c, inner, EVENT_TIME).calls, 0);
	cyclops_end(c, outer);
	/* it was open */
	assert_int_equal(count_of(c, outer, EVENT_TIME).calls, 0);
	cyclops_begin(c, inner);
	touch_pages(50);
	cyclops_end(c, inner);
	assert_int_equal(count_of(c, inner, EVENT_TIME).calls, 1);
	assert_int_equal(count_of(c, inner, EVENT_FAULTS).counted_calls, 1);
	cyclops_close(c);
}

static void test_sets(void **state)
{
	struct cyclops *c = open_or_skip(
		&(struct cyclops_options){ .events = "{page-faults},{context-switches}" });
	int region = cyclops_region(c, "both");
	enum { FAULTS = 2, SWITCHES = 4 };

	(void)state;
	assert_string_equal(cyclops_event(c, FAULTS), "page-faults");
	assert_string_equal(cyclops_event(c, SWITCHES), "context-switches");
	assert_null(cyclops_event(c, SWITCHES + 1));
	for (int i = 0; i < 4; i++) {
		cyclops_begin(c, region);
		touch_pages(10);
		take_naps(2);
		cyclops_end(c, region);
		assert_int_equal(cyclops_switch(c), (i + 1) % 2);
	}
	assert_int_equal(count_of(c, region, FAULTS).calls, 2);
	assert_int_equal(count_of(c, region, SWITCHES).calls, 2);
	assert_int_equal(count_of(c, region, EVENT_TIME).calls, 4);
	assert_true(count_of(c, region, FAULTS).raw >= 20);
	assert_true(count_of(c, region, SWITCHES).raw >= 4);
	cyclops_close(c);
}

static void test_all_sets_at_once(void **state)
{
	struct cyclops *c = open_or_skip(&(struct cyclops_options){
		.events = "{page-faults},{context-switches}", .all_sets = 1 });
	int region = cyclops_region(c, "both");
	uint64_t values[8] = { 0 };

	(void)state;
	assert_int_equal(cyclops_switch(c), 0);
	cyclops_begin(c, region);
	touch_pages(10);
	take_naps(2);
	cyclops_end(c, region);
	assert_true(count_of(c, region, 2).raw >= 10);
	assert_true(count_of(c, region, 4).raw >= 2);
	assert_int_equal(cyclops_read(c, values, 8), 5);
	assert_true(values[2] >= 10 && values[4] >= 2);
	cyclops_close(c);
}

static void test_millions_take_no_memory(void **state)
{
	enum { N = 200000 };
	struct cyclops *c = open_or_skip(NULL);
	int outer = cyclops_region(c, "outer"), inner = cyclops_region(c, "inner");
	const char *asked = getenv("CYCLOPS_MEASURE_CALLS");
	long n = asked != NULL ? atol(asked) : N;
	struct rusage before, after;

	(void)state;
	for (long i = 0; i < 2 * n; i++) {
		if (i == n)
			getrusage(RUSAGE_SELF, &before);
		cyclops_begin(c, i % 100 == 0 ? outer : inner);
		cyclops_end(c, i % 100 == 0 ? outer : inner);
	}
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(count_of(c, inner, EVENT_FAULTS).calls, 2 * n - (2 * n + 99) / 100);
	/* buckets that were not used before: a histogram has 22 KiB */
	assert_true(after.ru_maxrss - before.ru_maxrss <= 256);
	cyclops_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fresh_pages),
		cmocka_unit_test(test_naps_are_switches),
		cmocka_unit_test(test_inner_and_exclusive_are_outer),
		cmocka_unit_test(test_mixed_cores_are_not_scaled),
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_wrong_calls),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_all_sets_at_once),
		cmocka_unit_test(test_millions_take_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

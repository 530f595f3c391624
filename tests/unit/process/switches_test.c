/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "fixture.h"

enum { UNKNOWN = -1 };

static const struct {
	uint32_t cpu;
	uint64_t time_ns;
	int64_t tid;
} cases[] = {
	/* cpu 0: cpu-wide records */
	{ 0, 0, 100 }, /* the first to leave was there before */
	{ 0, 9, 100 },
	{ 0, 10, 200 }, /* 100 leaves to 200 */
	{ 0, 12, 200 }, /* 200 comes from 100: nothing new */
	{ 0, 20, 0 },	/* idle is a thread, too */
	{ 0, 30, 300 }, /* the record of 0 leaving was lost */
	{ 0, 99, 300 },
	/* cpu 1: a thread's own records */
	{ 1, 4, UNKNOWN },
	{ 1, 5, 100 },
	{ 1, 14, 100 },
	{ 1, 15, UNKNOWN },
	{ 1, 25, 101 },
	/* cpu 2: only the start of tracing */
	{ 2, 39, UNKNOWN },
	{ 2, 40, 100 },
	{ 2, 99, 100 },
	/* cpu 3: comes first */
	{ 3, 0, 500 },
	{ 3, 50, 501 },
	/* cpu 4: records out of order */
	{ 4, 60, 601 },
	{ 4, 65, 602 },
	{ 4, 75, 603 },
	/* never heard of */
	{ 5, 50, UNKNOWN },
	{ UINT32_MAX, 50, UNKNOWN },
};

static void feed_all(struct fixture *f)
{
	feed_switch_wide(f, 10, 0, true, 100, 100, 200, 200);
	feed_switch_wide(f, 12, 0, false, 200, 200, 100, 100);
	feed_switch_wide(f, 20, 0, true, 200, 200, 0, 0);
	feed_switch_wide(f, 21, 0, false, 0, 0, 200, 200);
	feed_switch_wide(f, 30, 0, false, 300, 300, 0, 0);
	feed_switch(f, 5, 1, false, 100, 100);
	feed_switch(f, 15, 1, true, 100, 100);
	feed_switch(f, 25, 1, false, 100, 101);
	feed_itrace_start(f, 40, 2, 100, 100);
	feed_switch_wide(f, 50, 3, false, 501, 501, 500, 500);
	feed_switch_wide(f, 70, 4, true, 602, 602, 603, 603);
	feed_switch_wide(f, 60, 4, true, 600, 600, 601, 601);
	feed_switch_wide(f, 61, 4, true, 601, 601, 602, 602);
}

static void test_who_ran(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	feed_all(&f);
	fixture_freeze(&f);
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t tid = 12345;
		bool is_known =
			timeline_tid_on_cpu(f.timeline, cases[i].cpu, cases[i].time_ns, &tid);

		assert_int_equal(is_known, cases[i].tid != UNKNOWN);
		assert_int_equal(tid, is_known ? cases[i].tid : 12345);
	}
	fixture_release(&f);
}

/* A record that does not say when or where says nothing. */
static void test_incomplete(void **state)
{
	const struct sample_id ids[] = {
		{ .has = HAS_PID | HAS_TID | HAS_TIME, .pid = 7, .tid = 7, .time_ns = 5 },
		{ .has = HAS_PID | HAS_TID | HAS_CPU, .pid = 7, .tid = 7 },
		{ .has = 0 },
	};
	const uint32_t other[2] = { 8, 8 };
	struct fixture f;
	uint32_t tid;

	(void)state;
	fixture_init(&f);
	for (size_t i = 0; i < COUNT(ids); i++) {
		feed_bytes(&f, RECORD_SWITCH_CPU_WIDE, 0, other, sizeof(other), &ids[i]);
		feed_bytes(&f, RECORD_ITRACE_START, 0, other, sizeof(other), &ids[i]);
	}
	fixture_freeze(&f);
	assert_false(timeline_tid_on_cpu(f.timeline, 0, 10, &tid));
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_ran),
		cmocka_unit_test(test_incomplete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

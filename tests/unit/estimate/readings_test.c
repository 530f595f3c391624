/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of counters at the ends of threads and of perf stat record. Those in samples: cycles/cycles_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "capture/writer/writer.h"
#include "estimate/readings.h"
#include "../session/fixture.h"

enum { ALL = UINT32_MAX };

/* Ids of the fixture's events. */
enum { CYCLES_ID = EVENT_CYCLES + 1, MISSES_ID = EVENT_MISSES + 1, STRANGE_ID = 77 };

static void write_words(struct writer *w, uint32_t type, const uint64_t *words, size_t n)
{
	writer_record(w, type, 0, words, n * sizeof(*words));
}

/* A counter's id, its CPU and thread number, then value, enabled and running time. */
static void write_stat(struct writer *w, uint64_t id, uint32_t cpu, uint32_t thread, uint64_t value,
		       uint64_t enabled_ns, uint64_t running_ns)
{
	write_words(w, RECORD_STAT,
		    (const uint64_t[]){ id, (uint64_t)thread << 32 | cpu, value, enabled_ns,
					running_ns },
		    5);
}

static void write_round(struct writer *w, uint64_t end_ns)
{
	write_words(w, RECORD_STAT_ROUND, (const uint64_t[]){ 0, end_ns }, 2);
}

/* Two threads, of which the second is number 1; then "all". */
static void write_stat_records(struct writer *w)
{
	write_words(w, RECORD_THREAD_MAP,
		    (const uint64_t[]){ 3, ALPHA, 0, 0, ALPHA_THREAD, 0, 0, UINT64_MAX, 0, 0 }, 10);
	write_stat(w, CYCLES_ID, ALL, 1, 1000, 100, 50);
	write_stat(w, MISSES_ID, 3, 2, 7, 100, 100);
	write_stat(w, STRANGE_ID, 0, 0, 5, 5, 5);
	write_round(w, 500);
	write_stat(w, CYCLES_ID, ALL, 1, 1600, 300, 150);
	write_stat(w, MISSES_ID, 3, 9, 7, 200, 100);
	write_round(w, 900);
	write_stat(w, CYCLES_ID, ALL, 1, 40, 10,
		   10); /* it began anew; no interval ends behind it */
	write_words(w, RECORD_STAT, (const uint64_t[]){ CYCLES_ID, 0, 1, 2 }, 4); /* cut short */
}

/* Two ends of threads: the events have no read format, so each has a value alone. */
static void write_thread_ends(struct writer *w)
{
	for (uint64_t tid = ALPHA; tid <= ALPHA_THREAD; tid++) {
		const uint64_t words[] = { tid << 32 | ALPHA, 10 * tid, /* value */
					   tid << 32 | ALPHA, 5000 + tid, 1, CYCLES_ID };

		write_words(w, RECORD_READ, words, COUNT(words));
	}
}

struct seen {
	VEC_OF(struct reading) list;
};

static void keep(void *context, const struct reading *r)
{
	struct seen *seen = context;

	*vec_add(&seen->list) = *r;
}

static void expect_readings(void (*write)(struct writer *), const struct reading *expected,
			    size_t n)
{
	const struct contents contents = { .write_more = write };
	struct seen seen = { 0 };
	struct session session;

	open_fixture(&contents, 1, &session);
	assert_true(readings_are_there(session.capture));
	readings_walk(session.capture, keep, &seen);
	assert_int_equal(seen.list.n, n);
	for (size_t i = 0; i < n; i++) {
		const struct reading *found = &seen.list.items[i], *wanted = &expected[i];

		assert_int_equal(found->kind, wanted->kind);
		assert_int_equal(found->event, wanted->event);
		assert_int_equal(found->cpu, wanted->cpu);
		assert_int_equal(found->pid, wanted->pid);
		assert_int_equal(found->tid, wanted->tid);
		assert_int_equal(found->time_ns, wanted->time_ns);
		assert_int_equal(found->end_ns, wanted->end_ns);
		assert_int_equal(found->value, wanted->value);
		assert_int_equal(found->counted, wanted->counted);
		assert_int_equal(found->enabled_ns, wanted->enabled_ns);
		assert_int_equal(found->running_ns, wanted->running_ns);
		assert_int_equal(found->has_times, wanted->has_times);
		assert_int_equal(found->is_first, wanted->is_first);
	}
	vec_release(&seen.list);
	close_fixture(&session);
}

static struct reading stat_of(uint32_t event, uint32_t cpu, uint32_t tid, uint64_t value,
			      uint64_t counted, uint64_t enabled_ns, uint64_t running_ns,
			      uint64_t end_ns, bool is_first)
{
	return (struct reading){
		.kind = READING_STAT,
		.event = event,
		.cpu = cpu,
		.pid = ALL,
		.tid = tid,
		.value = value,
		.counted = counted,
		.enabled_ns = enabled_ns,
		.running_ns = running_ns,
		.end_ns = end_ns,
		.has_times = true,
		.is_first = is_first,
	};
}

static void test_stat(void **state)
{
	const struct reading expected[] = {
		stat_of(EVENT_CYCLES, ALL, ALPHA_THREAD, 1000, 1000, 100, 50, 500, true),
		stat_of(EVENT_MISSES, 3, ALL, 7, 7, 100, 100, 500, true),
		stat_of(EVENT_CYCLES, ALL, ALPHA_THREAD, 1600, 600, 200, 100, 900, false),
		/* a thread without a number in the map */
		stat_of(EVENT_MISSES, 3, ALL, 7, 0, 100, 0, 900, false),
		stat_of(EVENT_CYCLES, ALL, ALPHA_THREAD, 40, 40, 10, 10, 0, true),
	};

	(void)state;
	expect_readings(write_stat_records, expected, COUNT(expected));
}

static void test_thread_ends(void **state)
{
	struct reading expected[2];

	(void)state;
	for (uint32_t i = 0; i < COUNT(expected); i++)
		expected[i] = (struct reading){
			.kind = READING_THREAD,
			.event = EVENT_CYCLES,
			.cpu = 1,
			.pid = ALPHA,
			.tid = ALPHA + i,
			.time_ns = 5000 + ALPHA + i,
			.value = 10 * (ALPHA + i),
			/* one counter: the second end has what it counted since the first */
			.counted = i == 0 ? 10 * ALPHA : 10,
			.is_first = i == 0,
		};
	expect_readings(write_thread_ends, expected, COUNT(expected));
}

static void test_none(void **state)
{
	const struct contents contents = { 0 };
	struct session session;

	(void)state;
	open_fixture(&contents, 1, &session);
	assert_false(readings_are_there(session.capture));
	close_fixture(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_thread_ends),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How the kernel converts its clock, out of the mapped page; with a fake kernel. */
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording_world.h"

static void the_clock_is_described(void **state)
{
	struct record_time_conv t = { 0 };
	struct perf_event_mmap_page *page;
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	assert_false(recording_time_conv(&w.recording, &t));
	assert_int_equal(world_open(&w, 0, &err), 0);
	assert_false(recording_time_conv(&w.recording, &t));
	page = w.kernel.events[0].page;
	page->time_shift = 21;
	page->time_mult = 0x1800000;
	page->time_zero = 5;
	page->time_cycles = 6;
	page->time_mask = 7;
	page->lock = 2;
	page->cap_user_time_zero = 1;
	assert_true(recording_time_conv(&w.recording, &t));
	assert_int_equal(t.shift, 21);
	assert_int_equal(t.mult, 0x1800000);
	assert_int_equal(t.zero, 5);
	assert_int_equal(t.cycles, 6);
	assert_int_equal(t.mask, 7);
	assert_false(t.has_short);
	page->cap_user_time_short = 1;
	assert_true(recording_time_conv(&w.recording, &t));
	assert_true(t.has_short);
	world_release(&w);
}

static void *end_writing(void *page)
{
	struct perf_event_mmap_page *p = page;

	sched_yield();
	p->time_zero = 9;
	__atomic_store_n(&p->lock, 2, __ATOMIC_RELEASE);
	return NULL;
}

/* The sequence number is odd while the kernel writes. */
static void a_half_written_clock_is_waited_for(void **state)
{
	struct record_time_conv t = { 0 };
	struct perf_event_mmap_page *page;
	pthread_t kernel;
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	assert_int_equal(world_open(&w, 0, &err), 0);
	page = w.kernel.events[0].page;
	page->cap_user_time_zero = 1;
	page->lock = 1;
	assert_int_equal(pthread_create(&kernel, NULL, end_writing, page), 0);
	assert_true(recording_time_conv(&w.recording, &t));
	pthread_join(kernel, NULL);
	assert_int_equal(t.zero, 9);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_is_described),
		cmocka_unit_test(a_half_written_clock_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

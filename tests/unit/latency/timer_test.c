/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of this machine, and steps of clocks of any machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "latency/sweep.h"
#include "latency/timer.h"

static void tells_steps(void **state)
{
	static const struct {
		uint64_t differences[6], step;
	} cases[] = {
		{ { 31, 33, 40, 37, 52, 64 }, 1 },    /* counts each cycle; a reading takes 31 */
		{ { 52, 78, 104, 52, 26, 52 }, 26 },  /* TSC that moves in steps */
		{ { 52, 78, 104, 52, 130, 52 }, 26 }, /* a reading takes longer than a step */
		{ { 62, 63, 62, 63, 125, 62 }, 62 },  /* 62.5 ticks, rounded */
		{ { 1, 1, 2, 1, 1, 1 }, 1 },	      { { 40, 40, 40, 40, 40, 40 }, 40 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(timer_step_of(cases[i].differences, 6), cases[i].step);
	assert_int_equal(timer_step_of(NULL, 0), 0);
}

/* Time goes on, in both units, and a load is timed that reads what is there. No limit: machines are busy. */
static void opens_one(void **state)
{
	void *word = &word, *read = NULL;
	struct timer_start start;
	struct elapsed e;
	struct timer t;
	uint64_t ticks;

	(void)state;
	timer_open(&t);
	assert_true(t.step > 0);
	assert_true(t.ns_per_tick > 0 || t.kind == TIMER_PMU);
	assert_non_null(timer_name(t.kind));
	start = timer_start(&t);
	timer_spin(1000000);
	e = timer_stop(&t, &start);
	assert_true(e.ns > 1000); /* a million cycles at less than 1000 GHz */
	assert_true(e.cycles == 0 || t.kind == TIMER_PMU);
	assert_true(timer_core_ghz(&t) > 0.001);
	if (timer_time_load(&t, &word, &ticks, &read))
		assert_ptr_equal(read, word);
	timer_close(&t);
	timer_close(&t);
}

/* A sweep of few sizes has all its parts. */
static void sweeps(void **state)
{
	static const uint64_t sizes[] = { 4096, 8192, 1 << 20 };
	struct sweep_request request = { .sizes = sizes, .n_sizes = COUNT(sizes), .n_samples = 20 };
	struct ring_memory memory;
	struct sweep sweep;
	struct timer timer;
	struct err err;

	(void)state;
	assert_int_equal(ring_memory_init(&memory, sizes[COUNT(sizes) - 1], false, "test", &err),
			 0);
	timer_open(&timer);
	sweep_run(&request, &memory, &timer, &sweep);
	assert_int_equal(sweep.points.n, COUNT(sizes));
	for (size_t i = 0; i < sweep.points.n; i++) {
		const struct sweep_point *p = &sweep.points.items[i];

		assert_int_equal(p->size_bytes, sizes[i]);
		assert_true(p->least_ns > 0 && p->least_ns <= p->ns && p->ns <= p->most_ns);
		assert_true(p->cycles > 0 && p->core_ghz > 0);
		assert_true(p->times.n <= 20 && (sweep.times_single_loads || p->times.n == 0));
	}
	/* 8, 12, 16, 24 … 256 pages */
	assert_int_equal(sweep.pages.n, memory.page == 4096 ? 11 : sweep.pages.n);
	for (size_t i = 0; i < sweep.pages.n; i++)
		assert_true(sweep.pages.items[i].ns > 0 && sweep.pages.items[i].packed_ns > 0);
	sweep_release(&sweep);
	timer_close(&timer);
	ring_memory_release(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_steps),
		cmocka_unit_test(opens_one),
		cmocka_unit_test(sweeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

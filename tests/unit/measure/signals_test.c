/* SPDX-License-Identifier: Apache-2.0 */
/* Signal handlers that measure, and that interrupt what measures. */
#include <errno.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "handle.h"
#include "measure/inside.h"

/* For the handler: what it measures, and what came of it. Below 0: begin and end did not agree, or said what they should not. */
static struct cyclops *handled;
static int handled_region, n_handled;
static bool may_be_closed; /* the thread */

static void measure_in_handler(int number)
{
	int error = cyclops_begin(handled, handled_region);
	int end = cyclops_end(handled, handled_region);

	(void)number;
	/* Both, or neither: it interrupted begin or end, or it did not. */
	if (error == end && (error == 0 || error == -EBUSY || (may_be_closed && error == -ESRCH)))
		n_handled++;
	else
		n_handled -= 1000000;
}

/* A signal each 20 µs. */
struct signals {
	struct sigaction old;
	timer_t timer;
};

static void signals_start(struct signals *s, struct cyclops *c, bool closes_thread)
{
	struct sigaction action = { .sa_handler = measure_in_handler };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec often = { { 0, 20000 }, { 0, 20000 } };

	handled = c;
	handled_region = cyclops_region(c, "handler");
	n_handled = 0;
	may_be_closed = closes_thread;
	sigaction(SIGUSR1, &action, &s->old);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &s->timer), 0);
	timer_settime(s->timer, 0, &often, NULL);
}

static void signals_stop(const struct signals *s)
{
	timer_delete(s->timer);
	sigaction(SIGUSR1, &s->old, NULL);
}

static void test_signals(void **state)
{
	enum { N = 20000 };
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "interrupted");
	uint64_t in_handler, outside;
	struct signals signals;

	(void)state;
	signals_start(&signals, c, false);
	for (int i = 0; i < N || (n_handled >= 0 && n_handled < 20); i++) {
		assert_int_equal(cyclops_begin(c, region), 0);
		assert_int_equal(cyclops_end(c, region), 0);
	}
	signals_stop(&signals);
	assert_true(n_handled >= 20);
	in_handler = count_of(c, handled_region, EVENT_TIME).calls;
	outside = count_of(c, region, EVENT_TIME).calls;
	assert_true(outside >= N);
	assert_true(in_handler <= (uint64_t)n_handled);
	for (int i = 0; cyclops_event(c, i) != NULL; i++) {
		struct cyclops_count count = count_of(c, region, i);

		assert_true(count.exclusive_raw <= count.raw);
	}
	cyclops_close(c);
}

/* Handlers find a thread that opens, closes and switches sets either ready or not there. */
static void test_signals_at_other_calls(void **state)
{
	struct cyclops *c = open_or_skip(
		&(struct cyclops_options){ .events = "{page-faults},{context-switches}" });
	struct signals signals;

	(void)state;
	signals_start(&signals, c, true);
	for (int i = 0; i < 200 || (n_handled >= 0 && n_handled < 50); i++) {
		assert_true(cyclops_switch(c) >= 0);
		assert_int_equal(cyclops_thread_close(c), 0);
		assert_int_equal(cyclops_thread_open(c), 0);
	}
	signals_stop(&signals);
	assert_true(n_handled >= 50);
	cyclops_close(c);
}

/* As if a handler that ends the program had interrupted cyclops_end(): nobody goes on with it. */
static void test_output_inside_of_end(void **state)
{
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "interrupted");

	(void)state;
	cyclops_begin(c, region);
	cyclops_end(c, region);
	c->threads[0]->paths[0].seq++;
	assert_int_equal(count_of(c, region, EVENT_TIME).calls, 1);
	assert_int_equal(cyclops_write(c, "/dev/null", "csv"), 0);
	cyclops_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_signals_at_other_calls),
		cmocka_unit_test(test_output_inside_of_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

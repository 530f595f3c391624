/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a program that measure: each its own counts, and threads that end, are cancelled or have no room. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "handle.h"
#include "measure/inside.h"

enum { N_TASKS = 16 };

struct task {
	struct cyclops *c;
	int region;
	size_t n_pages;
	pthread_barrier_t *together;
};

static void *touch_in_thread(void *argument)
{
	const struct task *task = argument;

	assert_int_equal(cyclops_begin(task->c, task->region), -ESRCH);
	assert_int_equal(cyclops_thread_open(task->c), 0);
	pthread_barrier_wait(task->together);
	cyclops_begin(task->c, task->region);
	touch_pages(task->n_pages);
	cyclops_end(task->c, task->region);
	assert_int_equal(cyclops_thread_close(task->c), 0);
	assert_int_equal(cyclops_begin(task->c, task->region), -ESRCH);
	return NULL;
}

static void test_threads_are_separate(void **state)
{
	static const size_t n_pages[] = { 1000, 2000, 3000 };
	struct cyclops *c = open_or_skip(NULL);
	char path[] = "/tmp/measure-test-XXXXXX";
	pthread_barrier_t together;
	pthread_t threads[3];
	struct task tasks[3];
	uint64_t faults[4];
	int fd = mkstemp(path);

	(void)state;
	pthread_barrier_init(&together, NULL, 3);
	for (int i = 0; i < 3; i++) {
		tasks[i] = (struct task){ c, cyclops_region(c, "touch"), n_pages[i], &together };
		pthread_create(&threads[i], NULL, touch_in_thread, &tasks[i]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(cyclops_write(c, path, "csv"), 0);
	assert_int_equal(read_faults(path, faults, 4), 3);
	for (int i = 0; i < 3; i++) {
		int found = 0;

		for (int k = 0; k < 3; k++)
			found += faults[k] >= n_pages[i] && faults[k] <= n_pages[i] + 50;
		assert_true(found == 1 || SANITIZER_PAGES > 0);
	}
	assert_true(count_of(c, tasks[0].region, EVENT_FAULTS).raw ==
		    faults[0] + faults[1] + faults[2]);
	close(fd);
	unlink(path);
	cyclops_close(c);
}

static void *measure_much(void *argument)
{
	const struct task *task = argument;
	char name[16];

	assert_int_equal(cyclops_thread_open(task->c), 0);
	snprintf(name, sizeof(name), "own %zu", task->n_pages);
	for (int i = 0; i < 200; i++) {
		int own = cyclops_region(task->c, name);

		assert_int_equal(cyclops_begin(task->c, task->region), 0);
		assert_int_equal(cyclops_begin(task->c, own), 0);
		assert_int_equal(cyclops_end(task->c, own), 0);
		assert_int_equal(cyclops_end(task->c, task->region), 0);
	}
	return NULL; /* ends open */
}

/* While threads measure, another one asks and writes. */
static void test_many_threads(void **state)
{
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "all");
	pthread_t threads[N_TASKS];
	struct task tasks[N_TASKS];
	uint64_t before = 0;

	(void)state;
	for (size_t i = 0; i < N_TASKS; i++) {
		tasks[i] = (struct task){ .c = c, .region = region, .n_pages = i };
		pthread_create(&threads[i], NULL, measure_much, &tasks[i]);
	}
	for (int i = 0; i < 20; i++) {
		struct cyclops_count faults = count_of(c, region, EVENT_FAULTS);

		assert_true(faults.calls >= before);
		before = faults.calls;
		assert_int_equal(cyclops_write(c, "/dev/null", "json"), 0);
	}
	for (size_t i = 0; i < N_TASKS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count_of(c, region, EVENT_FAULTS).calls, N_TASKS * 200);
	assert_int_equal(count_of(c, region, EVENT_TIME).counted_calls, N_TASKS * 200);
	cyclops_close(c);
}

struct unjoined {
	struct cyclops *c;
	unsigned n_done;
};

static void *open_and_tell(void *argument)
{
	struct unjoined *u = argument;

	assert_int_equal(cyclops_thread_open(u->c), 0);
	__atomic_add_fetch(&u->n_done, 1, __ATOMIC_RELEASE);
	return NULL; /* ends open */
}

/* A new handle's thread may be where one of the old handle's was. */
static void assert_memory_is_not_taken_for_older(void)
{
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "touch");

	sched_yield();
	assert_int_equal(cyclops_begin(c, region), 0);
	touch_pages(1);
	assert_int_equal(cyclops_end(c, region), 0);
	assert_true(count_of(c, region, EVENT_FAULTS).raw >= 1);
	cyclops_close(c);
}

/* The handle is closed while threads that it knows are ending: their work is over, no more is known. */
static void test_close_while_threads_end(void **state)
{
	enum { ROUNDS = 200, N = 4 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct unjoined u = { .c = open_or_skip(NULL) };
		pthread_t threads[N];

		for (size_t i = 0; i < N; i++)
			pthread_create(&threads[i], NULL, open_and_tell, &u);
		while (__atomic_load_n(&u.n_done, __ATOMIC_ACQUIRE) < N)
			sched_yield();
		assert_int_equal(cyclops_close(u.c), 0);
		assert_memory_is_not_taken_for_older();
		for (size_t i = 0; i < N; i++)
			pthread_join(threads[i], NULL);
	}
}

/* What is cancelled: both may wait for the kernel, one with the handle's lock. */
static void *write_for_ever(void *argument)
{
	struct cyclops *c = argument;
	int region = cyclops_region(c, "cancelled");

	cyclops_thread_open(c);
	for (;;) {
		cyclops_begin(c, region);
		cyclops_end(c, region);
		cyclops_write(c, "/dev/null", "csv");
		pthread_testcancel();
	}
	return NULL;
}

/* A thread that is cancelled takes neither the lock with it nor leaves a region half-way. */
static void test_cancelled_threads(void **state)
{
	enum { ROUNDS = 50 };
	struct cyclops *c = open_or_skip(NULL);

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		pthread_t thread;

		pthread_create(&thread, NULL, write_for_ever, c);
		take_naps(1);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		assert_true(cyclops_region(c, "still works") > 0);
	}
	for (unsigned i = 1; i < c->n_threads; i++)
		assert_false(c->threads[i]->is_busy || c->threads[i]->is_open);
	cyclops_close(c);
}

static void *open_thread(void *c)
{
	return (void *)(intptr_t)cyclops_thread_open(c);
}

static void test_no_room_for_threads(void **state)
{
	struct cyclops *c = open_or_skip(&(struct cyclops_options){ .max_threads = 1 });
	pthread_t thread;
	void *result;

	(void)state;
	/* closed and opened again is the same thread */
	assert_int_equal(cyclops_thread_close(c), 0);
	assert_int_equal(cyclops_thread_close(c), -ESRCH);
	assert_int_equal(cyclops_thread_open(c), 0);
	assert_int_equal(cyclops_thread_open(c), 0);
	pthread_create(&thread, NULL, open_thread, c);
	pthread_join(thread, &result);
	assert_int_equal((intptr_t)result, -ENOSPC);
	assert_non_null(strstr(cyclops_why(c), "room for 1 (max_threads)"));
	cyclops_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_are_separate),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_close_while_threads_end),
		cmocka_unit_test(test_cancelled_threads),
		cmocka_unit_test(test_no_room_for_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

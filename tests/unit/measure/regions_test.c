/* SPDX-License-Identifier: Apache-2.0 */
/* The library as a program uses it, with the kernel's own events: those that any machine has. */
#include "cyclops/measure.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/inside.h"

enum { PAGE = 4096, DEEP = 40, N_TASKS = 16 };

/* Pages that a sanitizer touches for its own use. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZER_PAGES 8
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZER_PAGES 8
#endif
#ifndef SANITIZER_PAGES
#define SANITIZER_PAGES 0
#endif

/* Event 0 is the elapsed time and 1 cycles, which are added. */
enum { EVENT_TIME, EVENT_CYCLES, EVENT_FAULTS, EVENT_SWITCHES };

static struct cyclops *open_or_skip(const struct cyclops_options *asked)
{
	struct cyclops_options o = asked != NULL ? *asked : (struct cyclops_options){ 0 };
	struct cyclops *c;
	int error;

	o.sz = sizeof(o);
	if (o.events == NULL)
		o.events = "page-faults,context-switches";
	error = cyclops_open(&c, &o);
	if (error != 0) {
		print_message("skipped: %s\n", cyclops_why(c));
		cyclops_close(c);
		skip();
	}
	return c;
}

/* Ends the test where this process may not count. */
static void need_counting(void)
{
	cyclops_close(open_or_skip(NULL));
}

static struct cyclops_count count_of(struct cyclops *c, int region, int event)
{
	struct cyclops_count count = { .sz = sizeof(count) };

	assert_int_equal(cyclops_count_of(c, region, event, &count), 0);
	return count;
}

/* Touches pages that the process has not seen: a fault each. */
static void touch_pages(size_t n)
{
	volatile char *pages =
		mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	madvise((void *)(uintptr_t)pages, n * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		pages[i * PAGE] = 1;
}

static void take_naps(unsigned n)
{
	static const struct timespec nap = { .tv_nsec = 100000 };

	for (unsigned i = 0; i < n; i++)
		nanosleep(&nap, NULL);
}

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

/* The faults of each row of csv for the region, in the order of the rows. */
static size_t read_faults(const char *path, uint64_t *out, size_t max)
{
	FILE *file = fopen(path, "r");
	char line[1024];
	size_t n = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		const char *event = strstr(line, ",page-faults,");

		if (event == NULL || strncmp(line, "touch,", 6) != 0 ||
		    strstr(line, ",counted,") == NULL)
			continue;
		assert_true(n < max);
		out[n++] = strtoull(event + strlen(",page-faults,"), NULL, 10);
	}
	fclose(file);
	return n;
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

/* The kernel does not give pages of counters to a child: what it has in their place is its own. */
static bool close_keeps_own_memory(struct cyclops *c)
{
	void *page = (void *)(uintptr_t)c->threads[0]->groups[0].pages[0];
	unsigned char is_there;

	if (page == NULL || mmap(page, PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != page)
		return false;
	cyclops_close(c);
	return mincore(page, PAGE, &is_there) == 0;
}

/* What the child returns: its number of what is not as it should be. */
static int child_checks(struct cyclops *c, int region, const char *path)
{
	struct cyclops_count count = { .sz = sizeof(count) };

	if (cyclops_begin(c, region) != -ECHILD || cyclops_end(c, region) != -ECHILD)
		return 1;
	if (strstr(cyclops_why(c), "forked") == NULL)
		return 2;
	if (cyclops_write(c, path, "csv") != -ECHILD ||
	    cyclops_count_of(c, region, 0, &count) != -ECHILD)
		return 3;
	if (cyclops_thread_open(c) != -ECHILD || cyclops_region(c, "x") != -ECHILD)
		return 4;
	return close_keeps_own_memory(c) ? 0 : 5;
}

static void test_forked_child(void **state)
{
	char path[] = "/tmp/measure-test-XXXXXX";
	int fd = mkstemp(path);
	struct cyclops *c = open_or_skip(&(struct cyclops_options){ .out = path });
	int region = cyclops_region(c, "touch");
	uint64_t faults[4];
	int status;
	pid_t pid;

	(void)state;
	cyclops_begin(c, region);
	pid = fork();
	if (pid == 0)
		exit(child_checks(c, region, path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	pid = fork();
	if (pid == 0)
		exit(0); /* does not write either */
	waitpid(pid, &status, 0);
	cyclops_end(c, region);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_int_equal(cyclops_write(c, path, "csv"), 0);
	assert_int_equal(read_faults(path, faults, 4), 1);
	close(fd);
	cyclops_close(c);
	unlink(path);
}

/* For the handler. */
static struct cyclops *handled;
static int handled_region, n_handled;

static void measure_in_handler(int number)
{
	int error = cyclops_begin(handled, handled_region);
	int end = cyclops_end(handled, handled_region);

	(void)number;
	/* Both, or neither: it interrupted begin or end, or it did not. */
	if (error == end && (error == 0 || error == -EBUSY))
		n_handled++;
	else
		n_handled -= 1000000;
}

static void test_signals(void **state)
{
	enum { N = 20000 };
	struct cyclops *c = open_or_skip(NULL);
	int region = cyclops_region(c, "interrupted");
	struct sigaction action = { .sa_handler = measure_in_handler }, old;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec often = { { 0, 20000 }, { 0, 20000 } };
	uint64_t in_handler, outside;
	timer_t timer;

	(void)state;
	handled = c;
	handled_region = cyclops_region(c, "handler");
	n_handled = 0;
	sigaction(SIGUSR1, &action, &old);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	timer_settime(timer, 0, &often, NULL);
	for (int i = 0; i < N || n_handled < 20; i++) {
		assert_int_equal(cyclops_begin(c, region), 0);
		assert_int_equal(cyclops_end(c, region), 0);
	}
	timer_delete(timer);
	sigaction(SIGUSR1, &old, NULL);
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

static void measure_if_open(int number)
{
	int error = cyclops_begin(handled, handled_region);
	int end = cyclops_end(handled, handled_region);

	(void)number;
	if (error == end && (error == 0 || error == -EBUSY || error == -ESRCH))
		n_handled++;
	else
		n_handled -= 1000000;
}

/* Handlers find a thread that opens, closes and switches sets either ready or not there. */
static void test_signals_at_other_calls(void **state)
{
	struct cyclops *c = open_or_skip(
		&(struct cyclops_options){ .events = "{page-faults},{context-switches}" });
	struct sigaction action = { .sa_handler = measure_if_open }, old;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec often = { { 0, 20000 }, { 0, 20000 } };
	timer_t timer;

	(void)state;
	handled = c;
	handled_region = cyclops_region(c, "handler");
	n_handled = 0;
	sigaction(SIGUSR1, &action, &old);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	timer_settime(timer, 0, &often, NULL);
	for (int i = 0; i < 200 || (n_handled >= 0 && n_handled < 50); i++) {
		assert_true(cyclops_switch(c) >= 0);
		assert_int_equal(cyclops_thread_close(c), 0);
		assert_int_equal(cyclops_thread_open(c), 0);
	}
	timer_delete(timer);
	sigaction(SIGUSR1, &old, NULL);
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

static void test_reasons(void **state)
{
	static const struct {
		const char *events;
		int mode, error;
		const char *why;
	} cases[] = {
		{ "page-faults,nonsense", 0, -EOPNOTSUPP, "no event 'nonsense'" },
		{ "page-faults,,", 0, -EINVAL, "a name is missing" },
		{ "page-faults", 7, -EINVAL, "mode is 7" },
		{ "page-faults", CYCLOPS_MODE_USER, -EOPNOTSUPP, "is the kernel's" },
	};

	(void)state;
	need_counting();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cyclops_options o = { .sz = sizeof(o),
					     .events = cases[i].events,
					     .mode = cases[i].mode };
		struct cyclops *c;
		int region;

		assert_int_equal(cyclops_open(&c, &o), cases[i].error);
		if (strstr(cyclops_why(c), cases[i].why) == NULL)
			fail_msg("'%s': %s", cases[i].events, cyclops_why(c));
		/* time is measured all the same */
		region = cyclops_region(c, "r");
		assert_int_equal(cyclops_begin(c, region), 0);
		assert_int_equal(cyclops_end(c, region), 0);
		assert_int_equal(count_of(c, region, EVENT_TIME).calls, 1);
		cyclops_close(c);
	}
}

static void test_environment(void **state)
{
	char path[] = "/tmp/measure-test-XXXXXX";
	int fd = mkstemp(path);
	uint64_t faults[4];
	struct cyclops *c;
	char out[64];
	int region;

	(void)state;
	need_counting();
	setenv("CYCLOPS_EVENTS", "minor-faults,page-faults", 1);
	setenv("CYCLOPS_MODE", "read", 1);
	snprintf(out, sizeof(out), "%s-%%p.csv", path);
	setenv("CYCLOPS_OUT", out, 1);
	cyclops_open(&c, NULL);
	unsetenv("CYCLOPS_EVENTS");
	unsetenv("CYCLOPS_MODE");
	unsetenv("CYCLOPS_OUT");
	assert_non_null(c);
	assert_string_equal(cyclops_event(c, 2), "minor-faults");
	region = cyclops_region(c, "touch");
	cyclops_begin(c, region);
	touch_pages(10);
	cyclops_end(c, region);
	assert_int_equal(cyclops_close(c), 0);
	snprintf(out, sizeof(out), "%s-%d.csv", path, (int)getpid());
	assert_int_equal(read_faults(out, faults, 4), 1);
	assert_true(faults[0] >= 10);
	unlink(out);
	unlink(path);
	close(fd);
	setenv("CYCLOPS_MODE", "often", 1);
	assert_int_equal(cyclops_open(&c, NULL), -EINVAL);
	unsetenv("CYCLOPS_MODE");
	assert_non_null(strstr(cyclops_why(c), "it is auto, read or user"));
	cyclops_close(c);
}

/* A program that ends without closing its handle has its output, too. */
static void test_end_of_program(void **state)
{
	char path[] = "/tmp/measure-test-XXXXXX";
	int fd = mkstemp(path), status, region;
	uint64_t faults[4];
	struct cyclops *c;
	pid_t pid;

	(void)state;
	need_counting();
	pid = fork();
	if (pid == 0) {
		c = open_or_skip(&(struct cyclops_options){ .out = path });
		region = cyclops_region(c, "touch");
		cyclops_begin(c, region);
		touch_pages(10);
		cyclops_end(c, region);
		assert_int_equal(cyclops_write(c, path, "csv"), 0);
		assert_int_equal(read_faults(path, faults, 4), 1);
		assert_int_equal(ftruncate(fd, 0), 0);
		cyclops_begin(c, region); /* never ends */
		exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_true(lseek(fd, 0, SEEK_END) > 0);
	close(fd);
	unlink(path);
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
		cmocka_unit_test(test_threads_are_separate),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_close_while_threads_end),
		cmocka_unit_test(test_cancelled_threads),
		cmocka_unit_test(test_no_room_for_threads),
		cmocka_unit_test(test_forked_child),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_signals_at_other_calls),
		cmocka_unit_test(test_output_inside_of_end),
		cmocka_unit_test(test_millions_take_no_memory),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_end_of_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

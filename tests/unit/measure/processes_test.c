/* SPDX-License-Identifier: Apache-2.0 */
/* What a process gives the library, and what it gets at its end and in its children: reasons, environment, output. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "handle.h"
#include "measure/inside.h"

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
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_forked_child),
		cmocka_unit_test(test_end_of_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

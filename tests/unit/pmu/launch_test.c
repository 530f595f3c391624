/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/launch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"

/* Runs a shell command to its end. */
static int run(const char *command)
{
	const char *argv[] = { "sh", "-c", command, NULL };
	struct launch l;
	struct err err;
	int status;

	assert_int_equal(launch_init(&l, (char *const *)(uintptr_t)argv, &err), 0);
	assert_int_equal(launch_go(&l, &err), 0);
	while (!launch_is_over(&l))
		assert_int_equal(launch_wait(&l, LAUNCH_FOREVER, &err), 0);
	assert_true(l.end_ns >= l.start_ns);
	status = launch_status(&l);
	launch_release(&l);
	return status;
}

static void statuses_are_those_of_shells(void **state)
{
	(void)state;
	assert_int_equal(run("exit 0"), 0);
	assert_int_equal(run("exit 7"), 7);
	assert_int_equal(run("kill -KILL $$"), 128 + SIGKILL);
	assert_int_equal(run("kill -TERM $$"), 128 + SIGTERM);
	assert_int_equal(run("(exit 3) & wait $!"), 3);
}

static void missing_programs_are_reported(void **state)
{
	static const struct {
		const char *program;
		int status;
		const char *message;
	} cases[] = {
		{ "no-such-program", 127, "cannot run 'no-such-program': No such file" },
		{ "./sleep 5", 127, "leave out the quotes" },
		{ "/etc/passwd", 126, "Permission denied" },
		{ "/", 126, "Permission denied" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *argv[] = { cases[i].program, NULL };
		struct launch l;
		struct err err;

		assert_int_equal(launch_init(&l, (char *const *)(uintptr_t)argv, &err), 0);
		assert_int_equal(launch_go(&l, &err), -1);
		assert_non_null(strstr(err.text, cases[i].message));
		assert_int_equal(launch_status(&l), cases[i].status);
		assert_true(launch_is_over(&l));
		launch_release(&l);
	}
}

/* Nothing of the program may run before launch_go(), or without it. */
static void the_program_waits_for_the_word(void **state)
{
	char path[] = "/tmp/cyclops-launch-XXXXXX";
	int fd = mkstemp(path);
	const char *argv[] = { "rm", path, NULL };
	struct launch l;
	struct err err;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(launch_init(&l, (char *const *)(uintptr_t)argv, &err), 0);
	assert_true(l.pid > 0);
	assert_int_equal(kill(l.pid, 0), 0);
	launch_release(&l);
	assert_int_equal(kill(l.pid, 0), -1);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(unlink(path), 0);
}

static void signals_are_passed_on(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const char *argv[] = { "sleep", "100", NULL };

	(void)state;
	for (size_t i = 0; i < COUNT(signals); i++) {
		struct launch l;
		struct err err;

		/*
		 * nohup and shells ignore some signals of background jobs, and sleep would inherit
		 * that
		 */
		signal(signals[i], SIG_DFL);
		assert_int_equal(launch_init(&l, (char *const *)(uintptr_t)argv, &err), 0);
		assert_int_equal(launch_go(&l, &err), 0);
		kill(getpid(), signals[i]);
		while (!launch_is_over(&l))
			assert_int_equal(launch_wait(&l, LAUNCH_FOREVER, &err), 0);
		assert_true(l.is_interrupted);
		assert_int_equal(launch_status(&l), 128 + signals[i]);
		launch_release(&l);
	}
}

static void a_child_killed_early_is_not_waited_for_in_vain(void **state)
{
	const char *argv[] = { "sleep", "100", NULL };
	struct launch l;
	struct err err;

	(void)state;
	assert_int_equal(launch_init(&l, (char *const *)(uintptr_t)argv, &err), 0);
	kill(l.pid, SIGKILL);
	launch_go(&l, &err);
	while (!launch_is_over(&l))
		assert_int_equal(launch_wait(&l, LAUNCH_FOREVER, &err), 0);
	assert_int_equal(launch_status(&l), 128 + SIGKILL);
	launch_release(&l);
}

static void without_a_program_signals_end_it(void **state)
{
	struct launch l;
	struct err err;

	(void)state;
	assert_int_equal(launch_init(&l, NULL, &err), 0);
	assert_int_equal(launch_go(&l, &err), 0);
	assert_int_equal(launch_wait(&l, 0, &err), 0);
	assert_false(launch_is_over(&l));
	kill(getpid(), SIGINT);
	assert_int_equal(launch_wait(&l, LAUNCH_FOREVER, &err), 0);
	assert_true(launch_is_over(&l));
	assert_int_equal(launch_status(&l), 0);
	launch_release(&l);
}

static void what_was_set_for_signals_is_restored(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before, now;
	sigset_t mask;

	(void)state;
	sigaction(SIGCHLD, &ignore, &before);
	assert_int_equal(run("exit 5"), 5);
	sigaction(SIGCHLD, &before, &now);
	assert_ptr_equal(now.sa_handler, SIG_IGN);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	assert_false(sigismember(&mask, SIGINT));
	assert_false(sigismember(&mask, SIGCHLD));
}

static void what_the_program_used_is_known(void **state)
{
	const char *argv[] = { "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done",
			       NULL };
	struct launch l;
	struct err err;

	(void)state;
	assert_int_equal(launch_init(&l, (char *const *)(uintptr_t)argv, &err), 0);
	assert_int_equal(launch_go(&l, &err), 0);
	while (!launch_is_over(&l))
		assert_int_equal(launch_wait(&l, LAUNCH_FOREVER, &err), 0);
	/* user and system time are sampled at ticks, so only their sum is reliable */
	assert_true(l.usage.ru_utime.tv_sec + l.usage.ru_utime.tv_usec + l.usage.ru_stime.tv_sec +
			    l.usage.ru_stime.tv_usec >
		    0);
	assert_true(l.usage.ru_maxrss > 0);
	launch_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses_are_those_of_shells),
		cmocka_unit_test(missing_programs_are_reported),
		cmocka_unit_test(the_program_waits_for_the_word),
		cmocka_unit_test(signals_are_passed_on),
		cmocka_unit_test(a_child_killed_early_is_not_waited_for_in_vain),
		cmocka_unit_test(without_a_program_signals_end_it),
		cmocka_unit_test(what_was_set_for_signals_is_restored),
		cmocka_unit_test(what_the_program_used_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

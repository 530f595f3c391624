/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tree.h"

#define NOBODY "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0"
#define PERFMON "CapInh:\t0\nCapEff:\t0000004000000000\nSeccomp:\t0"
#define ROOT "CapEff:\t000001ffffffffff\nSeccomp:\t0"
#define CONFINED "CapEff:\t00000000a80425fb\nSeccomp:\t2"

static void rights_are_read(void **state)
{
	static const struct {
		const char *paranoid, *status;
		struct event_rights rights;
		bool kernel, cpus;
	} cases[] = {
		{ "2", NOBODY, { 2, false, false }, false, false },
		{ "1", NOBODY, { 1, false, false }, true, false },
		{ "0", NOBODY, { 0, false, false }, true, true },
		{ "-1", NOBODY, { -1, false, false }, true, true },
		{ "4", PERFMON, { 4, true, false }, true, true },
		{ "4", ROOT, { 4, true, false }, true, true },
		{ "2", CONFINED, { 2, false, true }, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tree tree;
		struct event_rights rights;

		tree_make(&tree, NULL);
		tree_add(&tree, "/proc/sys/kernel/perf_event_paranoid", cases[i].paranoid);
		tree_add(&tree, "/proc/self/status", cases[i].status);
		event_rights_read(&rights, tree.root);
		assert_int_equal(rights.paranoid, cases[i].rights.paranoid);
		assert_int_equal(rights.is_perfmon, cases[i].rights.is_perfmon);
		assert_int_equal(rights.is_confined, cases[i].rights.is_confined);
		assert_int_equal(event_rights_kernel(&rights), cases[i].kernel);
		assert_int_equal(event_rights_cpus(&rights), cases[i].cpus);
		tree_remove(&tree);
	}
}

static void refusals_are_explained(void **state)
{
	static const struct attr cycles = { .type = ATTR_TYPE_HARDWARE },
				 user = { .flags = 1 << ATTR_EXCLUDE_KERNEL },
				 faults = { .type = ATTR_TYPE_SOFTWARE, .config = 2 },
				 tracepoint = { .type = ATTR_TYPE_TRACEPOINT };
	static const struct event_request task = { &cycles, "e", 1, -1, -1, false },
					  user_task = { &user, "e", 1, -1, -1, false },
					  cpu = { &cycles, "e", -1, 0, -1, false },
					  trace = { &tracepoint, "e", 1, -1, -1, false },
					  cgroup = { &user, "e", 3, 0, -1, true },
					  software = { &faults, "e", 1, -1, -1, false };
	static const struct {
		const struct event_request *request;
		int error;
		const char *paranoid, *status, *message;
		enum err_code code;
	} cases[] = {
		{ &task, EACCES, "2", NOBODY,
		  "not allowed in the kernel (:u counts user code only): perf_event_paranoid is 2, "
		  "1 is needed; sudo sysctl kernel.perf_event_paranoid=1",
		  ERR_IO },
		{ &user_task, EACCES, "4", NOBODY, "perf_event_paranoid is 4, 2 is needed",
		  ERR_IO },
		{ &cpu, EACCES, "1", NOBODY,
		  "not allowed on whole CPUs: perf_event_paranoid is 1, 0 is needed", ERR_IO },
		{ &cgroup, EACCES, "1", NOBODY, "on whole CPUs", ERR_IO },
		{ &trace, EACCES, "0", NOBODY, "(a tracepoint): perf_event_paranoid is 0, -1 is",
		  ERR_IO },
		{ &task, EACCES, "4", ROOT, "a security module refuses", ERR_IO },
		{ &task, EPERM, "2", CONFINED, "the container's seccomp filter blocks", ERR_IO },
		{ &task, EPERM, "2", NOBODY, "kernel lockdown", ERR_IO },
		{ &task, ENOENT, "2", ROOT, "there is no PMU", ERR_UNSUPPORTED },
		{ &software, ENOENT, "2", ROOT, "this kernel does not have it", ERR_UNSUPPORTED },
		{ &task, EINVAL, "2", ROOT, "takes it as invalid", ERR_UNSUPPORTED },
		{ &task, EMFILE, "2", ROOT, "ulimit -n", ERR_LIMIT },
		{ &task, ESRCH, "2", ROOT, "has ended", ERR_IO },
		{ &task, EOPNOTSUPP, "2", ROOT, "no interrupt to sample with", ERR_UNSUPPORTED },
		{ &task, ENOSYS, "2", ROOT, "an emulator or a sandbox", ERR_UNSUPPORTED },
		{ &task, ENOSYS, "2", CONFINED, "the container's seccomp filter blocks", ERR_IO },
		{ &task, ENOSYS, NULL, CONFINED, "without perf events", ERR_UNSUPPORTED },
		{ &task, EACCES, "1", CONFINED, "or the container's seccomp filter", ERR_IO },
		{ &task, EIO, "2", ROOT, "cannot be opened: Input/output error", ERR_IO },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tree tree;
		struct err err;

		tree_make(&tree, NULL);
		if (cases[i].paranoid != NULL)
			tree_add(&tree, "/proc/sys/kernel/perf_event_paranoid", cases[i].paranoid);
		tree_add(&tree, "/proc/self/status", cases[i].status);
		assert_int_equal(event_explain(cases[i].request, cases[i].error, tree.root, &err),
				 -1);
		if (strstr(err.text, cases[i].message) == NULL)
			fail_msg("case %zu: %s", i, err.text);
		assert_int_equal(err.code, cases[i].code);
		assert_memory_equal(err.text, "event 'e': ", 11);
		tree_remove(&tree);
	}
}

/* The software clock needs neither hardware nor rights. */
static void the_kernel_opens_events(void **state)
{
	struct attr clock = { .type = ATTR_TYPE_SOFTWARE,
			      .config = SOFTWARE_TASK_CLOCK,
			      .flags = 1 << ATTR_EXCLUDE_KERNEL };
	const struct event_request request = { &clock, "task-clock", 0, -1, -1, false };
	int fd = event_open(&request);
	uint64_t value;

	(void)state;
	if (fd == -EACCES || fd == -EPERM || fd == -ENOSYS)
		skip();
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(read(fd, &value, sizeof(value)), sizeof(value));
	close(fd);

	clock.config = 1000;
	assert_int_equal(event_open(&request), -ENOENT);
	clock.config = SOFTWARE_TASK_CLOCK;
	clock.config4 = 1; /* no kernel of today takes this */
	fd = event_open(&request);
	assert_true(fd < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_are_read),
		cmocka_unit_test(refusals_are_explained),
		cmocka_unit_test(the_kernel_opens_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

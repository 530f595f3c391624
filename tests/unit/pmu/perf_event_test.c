/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/perf_event.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
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
/* Size of an attr as an older kernel knows it; 0: this machine's kernel answers. */
static uint32_t known_size;
static uint32_t refused_size; /* of an attr, whatever is in it */

enum { OLD_DESCRIPTOR = 1000 };

/* perf_event_open() as older kernels do it: what is behind their attr must be 0, else E2BIG, and they say the size. */
static long open_as_old(uint8_t *attr)
{
	uint32_t size;

	memcpy(&size, attr + 4, sizeof(size));
	for (uint32_t i = known_size; i < size; i++)
		if (attr[i] != 0 || size == refused_size) {
			memcpy(attr + 4, &known_size, sizeof(known_size));
			errno = E2BIG;
			return -1;
		}
	return OLD_DESCRIPTOR;
}

/* In place of the C library's. */
long syscall(long number, ...)
{
	long (*next)(long, long, long, long, long, long, long);
	long words[6];
	va_list args;

	va_start(args, number);
	for (size_t i = 0; i < COUNT(words); i++)
		words[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open && known_size > 0 && words[0] != 0)
		return open_as_old((uint8_t *)words[0]);
	*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

static void older_kernels_open_what_they_know(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136 };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
		struct attr plain = { .type = ATTR_TYPE_SOFTWARE };
		struct attr new = { .type = ATTR_TYPE_SOFTWARE, .config4 = 1 };
		struct event_request request = { &plain, "e", 0, -1, EVENT_NO_GROUP, false };

		known_size = sizes[i / 2];
		refused_size = i % 2 == 0 ? 0 : ATTR_SIZE_MAX; /* by its size alone */
		assert_int_equal(event_open(&request), OLD_DESCRIPTOR);
		request.attr = &new;
		assert_int_equal(event_open(&request), -E2BIG);
	}
	known_size = 0;
}

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
		cmocka_unit_test(older_kernels_open_what_they_know),
		cmocka_unit_test(the_kernel_opens_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

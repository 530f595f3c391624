/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/perf_event.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "system/system.h"

/* linux/capability.h; older headers lack the first. */
enum { BIT_CAP_PERFMON = 38, BIT_CAP_SYS_ADMIN = 21 };

static int perf_event_call(uint8_t bytes[ATTR_SIZE_MAX], const struct event_request *r)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (r->is_cgroup ? PERF_FLAG_PID_CGROUP : 0);
	long fd;

	do
		fd = syscall(SYS_perf_event_open, bytes, r->pid, r->cpu, r->group_fd, flags);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

static bool call_kills;

/*
 * Filters of system calls may end whoever makes this call. Where one is active a child tries, of which the program
 * around us gets no signal, and no status when it waits for any child.
 */
static void try_call(void)
{
	const struct rlimit no_core = { 0, 0 };
	struct event_rights rights;
	int status = 0;
	pid_t child;

	event_rights_read(&rights, "");
	if (!rights.is_confined)
		return;
	child = (pid_t)syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		syscall(SYS_perf_event_open, NULL, 0, -1, EVENT_NO_GROUP, 0); /* EFAULT at best */
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, __WCLONE) < 0 && errno == EINTR)
		;
	call_kills = child > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	while (n > 0 && bytes[n - 1] == 0)
		n--;
	return n == 0;
}

int event_open(const struct event_request *r)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint8_t bytes[ATTR_SIZE_MAX] = { 0 };
	struct attr attr = *r->attr;
	uint32_t known;
	int fd;

	pthread_once(&once, try_call);
	if (call_kills)
		return -EPERM;
	attr.size = ATTR_SIZE_MAX;
	attr_write(&attr, bytes);
	fd = perf_event_call(bytes, r);
	if (fd != -E2BIG)
		return fd;

	/* With E2BIG the kernel writes the size that it knows into attr.size. */
	known = load_u32(bytes + 4);
	if (known < ATTR_SIZE_MIN || known >= ATTR_SIZE_MAX ||
	    !is_zero(bytes + known, ATTR_SIZE_MAX - known))
		return fd;
	attr.size = known;
	attr_write(&attr, bytes);
	return perf_event_call(bytes, r);
}

/* The number behind a name at the beginning of a line; 0 if there is none. */
static uint64_t status_number(const char *status, const char *name, int base)
{
	size_t length = strlen(name);

	for (const char *line = status; line != NULL;) {
		if (strncmp(line, name, length) == 0)
			return strtoull(line + length, NULL, base);
		line = strchr(line, '\n');
		line = line == NULL ? NULL : line + 1;
	}
	return 0;
}

void event_rights_read(struct event_rights *out, const char *root)
{
	char status[SYSTEM_LINE_MAX];
	int64_t paranoid;
	uint64_t caps;

	*out = (struct event_rights){ .paranoid = INT_MIN };
	if (system_number(root, &paranoid, "/proc/sys/kernel/perf_event_paranoid"))
		out->paranoid = (int)paranoid;
	system_beginning(root, status, sizeof(status), "/proc/self/status");
	caps = status_number(status, "CapEff:", 16);
	out->is_perfmon = caps >> BIT_CAP_PERFMON & 1 || caps >> BIT_CAP_SYS_ADMIN & 1;
	out->is_confined = status_number(status, "Seccomp:", 10) != 0;
}

bool event_rights_kernel(const struct event_rights *r)
{
	return r->is_perfmon || r->paranoid < 2;
}

bool event_rights_cpus(const struct event_rights *r)
{
	return r->is_perfmon || r->paranoid < 1;
}

/* The largest perf_event_paranoid that still allows the request. */
static int paranoid_needed(const struct event_request *r)
{
	if (r->attr->type == ATTR_TYPE_TRACEPOINT)
		return -1;
	if (r->pid == EVENT_ALL_TASKS || r->is_cgroup)
		return 0;
	return attr_has(r->attr, ATTR_EXCLUDE_KERNEL) ? 2 : 1;
}

static int explain_rights(const struct event_request *r, const struct event_rights *rights,
			  struct err *err)
{
	int needed = paranoid_needed(r);

	if (rights->is_perfmon || rights->paranoid <= needed)
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "event '%s': not allowed (EACCES), although perf_event_paranoid "
			       "is %d: a security module%s refuses, or the task is another user's",
			       r->name, rights->paranoid,
			       rights->is_confined ? " or the container's seccomp filter" : "");
	return err_set(err, ERR_IO, ERR_NOWHERE,
		       "event '%s': not allowed%s: perf_event_paranoid is %d, %d is needed; "
		       "sudo sysctl kernel.perf_event_paranoid=%d, or run as root, or give the "
		       "program CAP_PERFMON",
		       r->name,
		       needed == -1  ? " (a tracepoint)"
		       : needed == 0 ? " on whole CPUs"
		       : needed == 1 ? " in the kernel (:u counts user code only)"
				     : "",
		       rights->paranoid, needed, needed);
}

static int explain_confined(const struct event_request *r, const struct event_rights *rights,
			    struct err *err)
{
	if (rights->is_confined)
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "event '%s': the container's seccomp filter blocks "
			       "perf_event_open; start it with --cap-add PERFMON (or "
			       "--security-opt seccomp=unconfined), or count on the host",
			       r->name);
	return err_set(err, ERR_IO, ERR_NOWHERE,
		       "event '%s': not permitted (EPERM): kernel lockdown, a security module or "
		       "an old kernel's demand for CAP_SYS_ADMIN; try as root",
		       r->name);
}

/* The kernel has perf events, yet there is no such call. */
static int explain_no_call(const struct event_request *r, const struct event_rights *rights,
			   struct err *err)
{
	if (rights->is_confined)
		return explain_confined(r, rights, err);
	return err_set(
		err, ERR_UNSUPPORTED, ERR_NOWHERE,
		"event '%s': there is no perf_event_open here: an emulator or a sandbox, such "
		"as qemu-user or gVisor, does not have it",
		r->name);
}

void event_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int explain_files(const struct event_request *r, struct err *err)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return err_set(err, ERR_LIMIT, ERR_NOWHERE,
		       "event '%s': out of file descriptors at %llu; one is needed for each event, "
		       "thread and CPU; ulimit -n sets more, up to %llu (as root: any)",
		       r->name, (unsigned long long)limit.rlim_cur,
		       (unsigned long long)limit.rlim_max);
}

static bool is_hardware(const struct attr *a)
{
	return a->type != ATTR_TYPE_SOFTWARE && a->type != ATTR_TYPE_TRACEPOINT &&
	       a->type != ATTR_TYPE_BREAKPOINT;
}

/* Explanations of other errors. */
static const struct {
	int error;
	enum err_code code;
	const char *hardware, *other; /* for hardware events; for other events (NULL: the same) */
} meanings[] = {
	{ ENOENT, ERR_UNSUPPORTED,
	  "this machine's PMU does not know it, or there is no PMU: a virtual machine without "
	  "one, or no driver; cyclops doctor tells which",
	  "this kernel does not have it" },
	{ EINVAL, ERR_UNSUPPORTED,
	  "the kernel takes it as invalid: a bit it does not know, or more events in a group "
	  "than there are counters",
	  "the kernel takes it as invalid" },
	{ E2BIG, ERR_UNSUPPORTED, "the kernel is too old for one of its attributes", NULL },
	{ ENODEV, ERR_UNSUPPORTED, "the hardware lacks the feature, or the CPU is offline", NULL },
	{ EOPNOTSUPP, ERR_UNSUPPORTED,
	  "the PMU cannot do this: no interrupt to sample with, or an exclusion or precision it "
	  "does not have",
	  "the kernel cannot do this" },
	{ ENOSYS, ERR_UNSUPPORTED, "this kernel is built without perf events", NULL },
	{ ENOSPC, ERR_IO, "all of its slots are in use", NULL },
	{ EBUSY, ERR_IO, "another user has reserved the PMU", NULL },
	{ ESRCH, ERR_IO, "the process or thread has ended", NULL },
	{ EBADF, ERR_IO, "the group's leader is not an event, or the cgroup not a cgroup", NULL },
};

int event_explain(const struct event_request *r, int error, const char *root, struct err *err)
{
	struct event_rights rights;

	event_rights_read(&rights, root);
	if (error == EACCES)
		return explain_rights(r, &rights, err);
	if (error == EPERM)
		return explain_confined(r, &rights, err);
	if (error == ENOSYS && rights.paranoid != INT_MIN)
		return explain_no_call(r, &rights, err);
	if (error == EMFILE || error == ENFILE)
		return explain_files(r, err);
	for (size_t i = 0; i < COUNT(meanings); i++) {
		if (meanings[i].error != error)
			continue;
		return err_set(err, meanings[i].code, ERR_NOWHERE, "event '%s': %s", r->name,
			       is_hardware(r->attr) || meanings[i].other == NULL
				       ? meanings[i].hardware
				       : meanings[i].other);
	}
	return err_set(err, ERR_IO, ERR_NOWHERE, "event '%s': cannot be opened: %s", r->name,
		       strerror(error));
}

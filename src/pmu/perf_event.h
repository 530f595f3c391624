/* SPDX-License-Identifier: Apache-2.0 */
/* The system call perf_event_open(2), and what its errors mean. */
#ifndef CYCLOPS_PMU_PERF_EVENT_H
#define CYCLOPS_PMU_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "capture/format/attr.h"

enum {
	EVENT_ANY_CPU = -1,
	EVENT_ALL_TASKS = -1,
	EVENT_NO_GROUP = -1,
};

/* What to open, and on what. */
struct event_request {
	const struct attr *attr; /* its size need not be set */
	const char *name;	 /* for messages */
	/* a thread; 0: this one; EVENT_ALL_TASKS; for a cgroup the descriptor of its directory */
	pid_t pid;
	int cpu;      /* or EVENT_ANY_CPU */
	int group_fd; /* the group's leader, or EVENT_NO_GROUP */
	bool is_cgroup;
};

/*
 * Opens the event, close-on-exec. For an older kernel the attr is shortened, if nothing is lost.
 * Returns the descriptor or a negative errno: EPERM also where a filter of system calls would end the process.
 */
int event_open(const struct event_request *);

/* Each event takes a descriptor for each thread and CPU: raises this process's soft limit to its hard one. */
void event_limit_raise(void);

/*
 * Fills the error: why opening failed, and the remedy. `error` is the errno; `root`: where /proc is
 * read, "" for this machine. Returns -1.
 */
int event_explain(const struct event_request *, int error, const char *root, struct err *);

/* What the kernel allows; read below `root`. */
struct event_rights {
	int paranoid; /* perf_event_paranoid; INT_MIN if the kernel has no perf events */
	/* this process has CAP_PERFMON or CAP_SYS_ADMIN, so `paranoid` does not matter */
	bool is_perfmon;
	bool is_confined; /* a seccomp filter is active, as in containers */
};

void event_rights_read(struct event_rights *, const char *root);

/* May this user count kernel code of own tasks? */
bool event_rights_kernel(const struct event_rights *);

/* May this user count whole CPUs? */
bool event_rights_cpus(const struct event_rights *);

#endif

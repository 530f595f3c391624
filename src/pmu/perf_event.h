/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system call perf_event_open, and what its refusals mean.
 * Facts: docs/reference/counting.md sections 1 and 4.
 */
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
	pid_t pid;		 /* a thread, 0: this one, or EVENT_ALL_TASKS; of a cgroup: the
				    file descriptor of its directory */
	int cpu;		 /* or EVENT_ANY_CPU */
	int group_fd;		 /* the group's leader, or EVENT_NO_GROUP */
	bool is_cgroup;
};

/*
 * Opens the event; the file descriptor is closed on exec. A kernel that knows a shorter attr
 * gets that, as long as nothing is lost. Returns the descriptor, or the negative errno.
 */
int event_open(const struct event_request *);

/*
 * Tells why opening failed and what would help. `root` is where /proc is looked at, "" for
 * this machine. Returns -1.
 */
int event_explain(const struct event_request *, int error, const char *root, struct err *);

/* What the kernel allows; read below `root`. */
struct event_rights {
	int paranoid;	  /* perf_event_paranoid; INT_MIN if the kernel has no perf events */
	bool is_perfmon;  /* this process has CAP_PERFMON or CAP_SYS_ADMIN: the former is moot */
	bool is_confined; /* a seccomp filter, as containers have, is on this process */
};

void event_rights_read(struct event_rights *, const char *root);

/* May own tasks be counted while they are in the kernel, too? */
bool event_rights_kernel(const struct event_rights *);

/* May whole CPUs be counted? */
bool event_rights_cpus(const struct event_rights *);

#endif

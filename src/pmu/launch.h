/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the program to be measured and follows it to its end. The program waits until its events
 * are open:
 *
 *	launch_init(&l, argv, &err);     a child that waits, not yet the program
 *	… open events on l.pid …
 *	launch_go(&l, &err);             the child becomes the program
 *	while (!launch_is_over(&l))
 *	        launch_wait(&l, timeout_ms, &err);
 *	status = launch_status(&l);
 *	launch_release(&l);
 *
 * Between init and release SIGCHLD and the signals that end a program are blocked and arrive
 * through l.signal_fd. Those sent by a process are passed on to the program; it receives ^C from
 * the terminal itself. For one thread, one program at a time, before other threads are started.
 */
#ifndef CYCLOPS_PMU_LAUNCH_H
#define CYCLOPS_PMU_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

enum {
	LAUNCH_FOREVER = -1,
	LAUNCH_NOT_EXECUTABLE = 126, /* exit statuses, as in shells */
	LAUNCH_NOT_FOUND = 127,
	LAUNCH_SIGNAL = 128, /* plus the number of the signal */
};

struct launch {
	const char *program; /* argv[0], borrowed; NULL: none */
	pid_t pid;	     /* 0: no program */
	int signal_fd;	     /* readable when launch_wait() has something to do */
	int go_fd;	     /* launch_go() writes to it and closes it */
	int exec_fd;	     /* the errno of a failed exec comes through it */
	int other_fd;	/* launch_wait() returns when it is readable, too; -1: none; the caller's */
	int exec_error; /* 0: exec worked, or has not been tried */
	bool is_started;
	bool has_ended;
	bool is_interrupted; /* SIGINT, SIGTERM, SIGHUP or SIGQUIT came */
	int wait_status;     /* as wait4() returns it, valid once has_ended */
	struct rusage usage; /* of the program and the children that it waited for */
	/*
	 * A tracer's (ptrace): told of each stop and end of what it traces, the program among them. NULL:
	 * nothing is traced.
	 */
	void (*traced)(void *context, pid_t, int status);
	void *traced_context;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, at launch_go() and at the end */
	sigset_t old_mask;
	struct sigaction old_child;
};

/*
 * Forks a child that waits to become `argv` (found in PATH, ended by NULL, borrowed). `argv` NULL:
 * no program, signals alone are watched. On failure there is nothing to release.
 */
int launch_init(struct launch *, char *const *argv, struct err *);

/*
 * Lets the child become the program. Fails and sets exec_error if the program does not exist or
 * cannot be run; launch_status() is then 127 or 126.
 */
int launch_go(struct launch *, struct err *);

/*
 * Waits until a signal arrives or the program ends, at most timeout_ms, and handles it. Returns at
 * once if the program is over.
 */
int launch_wait(struct launch *, int timeout_ms, struct err *);

/* Has the program ended? Without a program: has a signal asked for the end? */
bool launch_is_over(const struct launch *);

/*
 * The exit status as a shell gives it: that of the program, or 128 plus the signal that killed it.
 * 0 without a program.
 */
int launch_status(const struct launch *);

/*
 * Restores the signals. A child that was never let go is ended. A running program is left running.
 */
void launch_release(struct launch *);

/* CLOCK_MONOTONIC in ns. */
uint64_t clock_now_ns(void);

/* CPU time of this thread: what others run here meanwhile is not in it. */
uint64_t clock_thread_ns(void);

#endif

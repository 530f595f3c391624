/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the program to measure, held back until everything is set up, and follows it to its
 * end: what it became, what it used, which signals came for it.
 *
 *	launch_init(&l, argv, &err);	a child is there, waiting, not yet the program
 *	… open events on l.pid …
 *	launch_go(&l, &err);		it becomes the program
 *	while (!launch_is_over(&l))
 *		launch_wait(&l, timeout_ms, &err);
 *	status = launch_status(&l);
 *	launch_release(&l);
 *
 * From init to release the signals that end a program, and SIGCHLD, are blocked and come
 * through l.signal_fd. Those sent by a process are passed on to the program; ^C reaches it from
 * the terminal by itself. For use by one thread, once at a time, before others are started.
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
	LAUNCH_NOT_EXECUTABLE = 126, /* exit statuses as shells give them */
	LAUNCH_NOT_FOUND = 127,
	LAUNCH_SIGNAL = 128, /* and the signal's number */
};

struct launch {
	const char *program; /* borrowed from argv; NULL: none */
	pid_t pid;	     /* 0: no program */
	int signal_fd;	     /* becomes readable when launch_wait() has something to do */
	int go_fd;	     /* closed by launch_go() */
	int exec_fd;	     /* tells why exec failed */
	int exec_error;	     /* the errno of exec; 0: it worked, or has not been tried */
	bool is_started;
	bool has_ended;
	bool is_interrupted; /* somebody asked for the end: SIGINT, SIGTERM, SIGHUP, SIGQUIT */
	int wait_status;     /* as wait4() gives it, once it has ended */
	struct rusage usage; /* of the program and the children it waited for */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC at go and at the end */
	sigset_t old_mask;
	struct sigaction old_child;
};

/*
 * Makes the child that waits to become `argv` (found in PATH; NULL ends it; borrowed). With `argv` NULL
 * there is no program: only signals are watched. On failure there is nothing to release.
 */
int launch_init(struct launch *, char *const *argv, struct err *);

/*
 * Lets the child become the program. Fails, with exec_error set, if there is no such program
 * or it cannot be run: launch_status() then is 127 or 126.
 */
int launch_go(struct launch *, struct err *);

/*
 * Waits for signals or the end of the program, at most that long; returns at once when
 * something happened or is over, and deals with it.
 */
int launch_wait(struct launch *, int timeout_ms, struct err *);

/* Has the program ended; or, where there is none, has somebody asked for the end? */
bool launch_is_over(const struct launch *);

/*
 * What a shell would say of the program: its exit status, or 128 plus the signal that killed
 * it. Without a program 0.
 */
int launch_status(const struct launch *);

/*
 * Restores signals. A child that was never let go is ended; a program that still runs is left
 * running.
 */
void launch_release(struct launch *);

/* CLOCK_MONOTONIC in ns. */
uint64_t clock_now_ns(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The signals of a process while it waits for programs that it runs. */
#ifndef CYCLOPS_MODEL_SIGNALS_H
#define CYCLOPS_MODEL_SIGNALS_H

#include <signal.h>

/* The previous actions and mask. */
struct signal_state {
	struct sigaction interrupt, quit, child;
	sigset_t blocked;
};

/* The blocked signals, for sigwaitinfo(): SIGCHLD, and SIGTERM and SIGHUP, to be passed on. */
sigset_t signals_waited_for(void);

/*
 * Ignores SIGINT and SIGQUIT, which the terminal also sends to the programs, and blocks the others.
 */
void signals_set(struct signal_state *old);

/* Restores the previous state. A child process calls this before it executes a program. */
void signals_restore(const struct signal_state *old);

#endif

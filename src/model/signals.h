/* SPDX-License-Identifier: Apache-2.0 */
/* What a process does on signals while it waits for programs that it runs. */
#ifndef CYCLOPS_MODEL_SIGNALS_H
#define CYCLOPS_MODEL_SIGNALS_H

#include <signal.h>

/* What it did before. */
struct signal_state {
	struct sigaction interrupt, quit, child;
	sigset_t blocked;
};

/* The signals to wait for meanwhile: SIGCHLD, and SIGTERM and SIGHUP, which are passed on. */
sigset_t signals_waited_for(void);

/* The keys that interrupt are for the programs from now on; this process waits for them. */
void signals_set(struct signal_state *old);

/* As before; programs that are started need it, too. */
void signals_restore(const struct signal_state *old);

#endif

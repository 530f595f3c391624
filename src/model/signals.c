/* SPDX-License-Identifier: Apache-2.0 */
#include "model/signals.h"

#include <stddef.h>

sigset_t signals_waited_for(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

void signals_set(struct signal_state *old)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	const struct sigaction normal = { .sa_handler = SIG_DFL };
	const sigset_t set = signals_waited_for();

	sigaction(SIGINT, &ignore, &old->interrupt);
	sigaction(SIGQUIT, &ignore, &old->quit);
	sigaction(SIGCHLD, &normal, &old->child);
	sigprocmask(SIG_BLOCK, &set, &old->blocked);
}

void signals_restore(const struct signal_state *old)
{
	sigaction(SIGINT, &old->interrupt, NULL);
	sigaction(SIGQUIT, &old->quit, NULL);
	sigaction(SIGCHLD, &old->child, NULL);
	sigprocmask(SIG_SETMASK, &old->blocked, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can this machine measure, what is missing, and what would help? Files of the system are read
 * below a root folder, so that tests can make one. What no file says is found by opening events.
 */
#ifndef CYCLOPS_DOCTOR_DOCTOR_H
#define CYCLOPS_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "cpu/cpu.h"
#include "pmu/pmu.h"
#include "sandbox/sandbox.h"
#include "table/table.h"

/* The result of opening events, and of asking the kernel for a sandbox. */
struct doctor_trial {
	int error; /* errno of opening "cycles" in user mode for this process; 0: it is open */
	unsigned n_free; /* free programmable counters, see counters_available() */
	struct sandbox_support sandbox;
};

/* Opens events on this machine. */
void doctor_try(struct doctor_trial *out);

/*
 * Fills the tables of checks and of fixes, which the caller releases. Returns whether this user can
 * count hardware events here.
 */
bool doctor_examine(const struct catalog *, const char *root, const struct doctor_trial *,
		    struct table *checks, struct table *fixes);

#endif

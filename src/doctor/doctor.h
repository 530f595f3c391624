/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can this machine measure, what is missing, and what would help? Everything is read below a
 * root directory, but for what only trying tells.
 */
#ifndef CYCLOPS_DOCTOR_DOCTOR_H
#define CYCLOPS_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "cpu/cpu.h"
#include "pmu/pmu.h"
#include "table/table.h"

/* What only trying tells. */
struct doctor_trial {
	int error;	 /* errno of counting cycles of this process in user mode; 0: it works */
	unsigned n_free; /* programmable counters that are free */
};

/* Tries it on this machine. */
void doctor_try(struct pmus *, struct doctor_trial *out);

/*
 * Fills the tables of checks and of what to fix, which the caller releases. Returns whether
 * hardware events can be counted here by whoever asks.
 */
bool doctor_examine(const struct catalog *, const char *root, const struct doctor_trial *,
		    struct table *checks, struct table *fixes);

#endif

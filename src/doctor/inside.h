/* SPDX-License-Identifier: Apache-2.0 */
/* Types shared by the files of this folder, and used by no other. */
#ifndef CYCLOPS_DOCTOR_INSIDE_H
#define CYCLOPS_DOCTOR_INSIDE_H

#include "doctor/doctor.h"
#include "pmu/machine.h"
#include "pmu/perf_event.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* some of it works */
	DOCTOR_NO,
	DOCTOR_NOTE, /* for information */
};

struct doctor {
	const char *root;
	const struct catalog *catalog;
	const struct doctor_trial *trial;
	struct pmus pmus;
	struct machine machine;
	struct event_rights rights;
	struct table *checks, *fixes;
};

/*
 * Adds a row to the checks: what was found, by the format. With a `fix`, a command or other advice,
 * it adds one to the fixes, too; NULL: there is nothing to fix.
 */
void doctor_add_check(struct doctor *, const char *name, enum doctor_state, const char *fix,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A formatted text that lives as long as the tables. */
const char *doctor_text(struct doctor *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * One function for each subject. A result says whether events can be counted, as far as it knows.
 */
bool doctor_pmu(struct doctor *);
void doctor_spe(struct doctor *);
void doctor_checked_events(struct doctor *);
bool doctor_access(struct doctor *);
void doctor_symbols(struct doctor *);
void doctor_limits(struct doctor *);

#endif

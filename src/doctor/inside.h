/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the doctor share: inside this folder only. */
#ifndef CYCLOPS_DOCTOR_INSIDE_H
#define CYCLOPS_DOCTOR_INSIDE_H

#include "doctor/doctor.h"
#include "pmu/machine.h"
#include "pmu/perf_event.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* some of it works */
	DOCTOR_NO,
	DOCTOR_NOTE, /* neither good nor bad */
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

/* Adds a line; `fix` is a command or what else to do, NULL: nothing to do. */
void doctor_say(struct doctor *, const char *name, enum doctor_state, const char *fix,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A command made of a format, that lives as long as the tables. */
const char *doctor_text(struct doctor *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Subjects. */
bool doctor_pmu(struct doctor *);
void doctor_spe(struct doctor *);
bool doctor_access(struct doctor *);
void doctor_symbols(struct doctor *);
void doctor_limits(struct doctor *);

#endif

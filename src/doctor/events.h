/* SPDX-License-Identifier: Apache-2.0 */
/* Do events count what they say? Known kernels are run, and their counts compared. */
#ifndef CYCLOPS_DOCTOR_EVENTS_H
#define CYCLOPS_DOCTOR_EVENTS_H

#include "counting/event_checks.h"
#include "cpu/pmu.h"
#include "pmu/kernel.h"
#include "pmu/pmu.h"
#include "table/table.h"

/* Where events are counted. */
struct doctor_counter {
	const struct kernel *kernel;
	struct pmus *pmus;
	const struct pmu *core; /* the first type of core: the others may count otherwise */
	const struct cpu_pmu *facts;
};

/*
 * Checks events: those named ("A,B", as --events takes them elsewhere), or with "" all that the CPU has
 * and a kernel is known for. Fills the table, and what is worth remembering. Fails for a name that
 * the CPU does not have.
 */
int doctor_events(const struct doctor_counter *, const char *names, struct table *out,
		  struct event_checks *found, struct err *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops doctor --events: runs loops of known counts, and compares what events count. */
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
	const struct pmu *core;	     /* the first type of core; other types are not checked */
	const struct cpu_pmu *facts; /* the catalog's events of this core */
};

/*
 * Checks the events in `names` ("A,B", as --events takes them elsewhere), or with "" all events of
 * the CPU that a microbenchmark makes count (kernel/expected). Fills the table, which the caller releases; adds
 * the verdicts to `found`. Fails for an event that the CPU does not have.
 */
int doctor_events(const struct doctor_counter *, const char *names, struct table *out,
		  struct event_checks *found, struct err *);

#endif

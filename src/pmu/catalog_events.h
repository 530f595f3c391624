/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events as the catalog has them for the CPUs of this machine. */
#ifndef CYCLOPS_PMU_CATALOG_EVENTS_H
#define CYCLOPS_PMU_CATALOG_EVENTS_H

#include "pmu/event_spec.h"

struct catalog_events;

/*
 * Finds events of the core PMUs in the catalog. The catalog is opened at the first question.
 * `root`: where /sys and /proc are read; borrowed.
 */
struct catalog_events *catalog_events_new(const char *root);
void catalog_events_free(struct catalog_events *);

/* For event_specs_parse(). Valid until catalog_events_free(). */
struct event_finder catalog_events_finder(const struct catalog_events *);

#endif

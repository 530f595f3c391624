/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events as the catalog has them for the CPUs of this machine. */
#ifndef CYCLOPS_PMU_CATALOG_EVENTS_H
#define CYCLOPS_PMU_CATALOG_EVENTS_H

#include "pmu/event_spec.h"

struct catalog_events;

/*
 * Finds events of each core PMU by what the catalog tells of its CPUs; the catalog is not opened
 * before it is asked. `root` is where /sys and /proc are looked at, and is borrowed.
 */
struct catalog_events *catalog_events_new(const char *root);
void catalog_events_free(struct catalog_events *);

/* To be handed to event_specs_parse(); valid as long as the events. */
struct event_finder catalog_events_finder(const struct catalog_events *);

#endif

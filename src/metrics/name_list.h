/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names that a user gave: inside this folder only. */
#ifndef CYCLOPS_METRICS_NAME_LIST_H
#define CYCLOPS_METRICS_NAME_LIST_H

#include <stdbool.h>

#include "base/err.h"
#include "cpu/pmu.h"

/*
 * Calls `take` with each name of the lists (items joined by commas, ended by NULL; NULL: none),
 * until it returns -1. A comma between slashes belongs to the name of an event.
 */
int stat_each_name(const char *const *lists, int (*take)(void *context, const char *name),
		   void *context);

/* What the CPU has of that name; NULL and an error that says the nearest one if it has none. */
const struct cpu_group *stat_group(const struct cpu_pmu *, const char *name, struct err *);
const struct cpu_metric *stat_metric(const struct cpu_pmu *, const char *name, struct err *);

/* Is the metric one of those named, or in one of the groups named? The names were checked. */
bool stat_names_have(const struct cpu_pmu *, const char *const *groups, const char *const *metrics,
		     const struct cpu_metric *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog as tables: the facts of a CPU, and the list of CPUs. */
#ifndef CYCLOPS_LIST_CATALOG_TABLES_H
#define CYCLOPS_LIST_CATALOG_TABLES_H

#include <stdbool.h>

#include "cpu/pmu.h"
#include "table/table.h"

/* Can this machine count the event? 1 yes, 0 no, -1 not known. */
typedef int can_count(void *context, const struct cpu_event *);

/* The CPU to list. `can_count` NULL: not known of any event, and the column is left out. */
struct catalog_view {
	const struct cpu_pmu *pmu;
	can_count *can_count;
	void *context;
};

/* Initialise and fill a table. */
void catalog_events_table(const struct catalog_view *, struct table *out);
void catalog_metrics_table(const struct catalog_view *, struct table *out);
void catalog_groups_table(const struct catalog_view *, struct table *out);

/* Fills a table of all CPUs. Fails if the lists of one cannot be read. */
int catalog_cpus_table(const struct catalog *, struct table *out, struct err *);

/*
 * Keeps the rows that match a pattern. With "*" or "?" it must match a whole name, label or
 * product, else a part of one. Case does not matter. Fails if no row matches.
 */
int catalog_keep_matches(struct table *, const char *pattern, struct err *);

#endif

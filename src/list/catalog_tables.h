/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog as tables: what is known about a CPU, and which CPUs are known. */
#ifndef CYCLOPS_LIST_CATALOG_TABLES_H
#define CYCLOPS_LIST_CATALOG_TABLES_H

#include <stdbool.h>

#include "cpu/pmu.h"
#include "table/table.h"

/* Can this machine count the event? 1 yes, 0 no, -1 not known; `context` is the caller's. */
typedef int can_count(void *context, const struct cpu_event *);

/* Whose events, and how to ask about them; `can_count` NULL: nobody knows, the column is left out. */
struct catalog_view {
	const struct cpu_pmu *pmu;
	can_count *can_count;
	void *context;
};

/* Each table is initialised and filled. */
void catalog_events_table(const struct catalog_view *, struct table *out);
void catalog_metrics_table(const struct catalog_view *, struct table *out);
void catalog_groups_table(const struct catalog_view *, struct table *out);

/* All CPUs of the catalog. Fails if the lists of one cannot be read. */
int catalog_cpus_table(const struct catalog *, struct table *out, struct err *);

/*
 * Keeps the rows of such a table that a pattern stands for: with "*" or "?" it is the whole of a
 * name, label or product, without it is a part of one; case does not matter. Fails if there is none.
 */
int catalog_keep_matches(struct table *, const char *pattern, struct err *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a file changes of what is known about a CPU: events, metrics, groups. */
#ifndef CYCLOPS_CATALOG_CHANGES_H
#define CYCLOPS_CATALOG_CHANGES_H

#include "cpu/pmu.h"
#include "table/table.h"

enum change_kind { CHANGE_ADDED, CHANGE_REMOVED, CHANGE_OTHER, N_CHANGE_KINDS };

struct change_counts {
	size_t of[N_CHANGE_KINDS];
};

/* An empty table "changes", to be released. */
void changes_init(struct table *);

/* Adds the differences of a CPU's facts: `before` NULL if it was not known. The texts are copied. */
void changes_add(struct table *, const struct cpu_pmu *before, const struct cpu_pmu *after,
		 struct change_counts *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The regions of a program that measured itself (libcyclops), a row for each. */
#ifndef CYCLOPS_STAT_REGIONS_REGIONS_H
#define CYCLOPS_STAT_REGIONS_REGIONS_H

#include "metrics/metrics.h"
#include "table/table.h"

/* Table "regions": what each took, and what stands out in it. The counts get the catalog's names. */
void stat_regions_table(const struct cpu_pmu *, struct counts *, const struct stat_options *,
			struct table *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in a tree of cycle accounting. */
#ifndef CYCLOPS_CYCLES_TREE_COUNTED_H
#define CYCLOPS_CYCLES_TREE_COUNTED_H

#include <stddef.h>

#include "cpu/pmu.h"
#include "cycles/tree/account.h"
#include "metrics/totals.h"

/*
 * The best count of each event of the tree, scaled already where events took turns; its variance is left 0.
 * Fills counts[n_nodes] and totals[n_nodes], NULL where nothing was counted. Returns how many nodes were.
 */
size_t cycle_counts_of_totals(const struct cycle_template *, const struct cpu_pmu *,
			      const struct stat_totals *, struct cycle_count *counts,
			      const struct stat_total **totals);

#endif

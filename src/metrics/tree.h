/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of the top-down method: how deep its nodes are. */
#ifndef CYCLOPS_METRICS_TREE_H
#define CYCLOPS_METRICS_TREE_H

#include "cpu/pmu.h"

/*
 * Steps from the top: roots are 1, their parts 2. A node that no other one names is as deep as
 * the highest of its group.
 */
unsigned topdown_depth(const struct cpu_pmu *, const struct cpu_node *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Penalties of cycle accounting as a table. */
#ifndef CYCLOPS_LIST_PENALTIES_H
#define CYCLOPS_LIST_PENALTIES_H

#include "base/err.h"
#include "cpu/cpu.h"
#include "table/table.h"

/*
 * Fills a table of the events of a tree and what they cost: the tree of that name, or that of the CPU
 * `cpu` (its id). Both NULL: of all trees.
 */
int penalties_table(const char *name, const struct cpu *cpu, struct table *out, struct err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The order of rows: inside this folder only. */
#ifndef CYCLOPS_TABLE_SORT_H
#define CYCLOPS_TABLE_SORT_H

#include <stdint.h>

#include "table/table.h"

/* A cell without a value: absent, or a number that is none (0 / 0). */
bool cell_is_absent(const struct cell *);

/* Total order of two cells by value, ascending; absent cells are equal and come last. */
int cell_compare(const struct cell *, const struct cell *);

/* Has any row a parent? */
bool table_is_tree(const struct table *);

/*
 * All rows, each parent directly followed by its children, otherwise in the order of the
 * table. The caller frees.
 */
uint32_t *table_tree_order(const struct table *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The order of rows. For this folder only. */
#ifndef CYCLOPS_TABLE_SORT_H
#define CYCLOPS_TABLE_SORT_H

#include <stdint.h>

#include "table/table.h"

/* Has the cell no value, or a number that is NaN? */
bool cell_is_absent(const struct cell *);

/* A total order of two cells by value, ascending. Absent cells are equal and last. */
int cell_compare(const struct cell *, const struct cell *);

/* Has any row a parent? */
bool table_is_tree(const struct table *);

/* All rows in the order of the table, but each parent directly before its children. To be freed. */
uint32_t *table_tree_order(const struct table *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of an answer that have to be there: numbers and kinds, not how they are drawn. */
#ifndef CYCLOPS_TESTS_TABLE_EXPECT_H
#define CYCLOPS_TESTS_TABLE_EXPECT_H

#include <stddef.h>

#include "table/table.h"

#define NOT_THERE -1.0 /* as a value: the cell is absent */

struct expected_cell {
	const char *table;
	size_t row;
	const char *column;
	double value; /* of a number, to nine digits */
	enum cell_mark mark;
	const char *text; /* not NULL: instead of the value */
};

/* Failing asserts the test. */
void expect_cell(const struct tables *, const struct expected_cell *);
void expect_cells(const struct tables *, const struct expected_cell *, size_t n);

#endif

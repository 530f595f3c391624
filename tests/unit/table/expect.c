/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double number_of(const struct cell *cell)
{
	if (cell->type == CELL_NUMBER)
		return cell->number;
	return cell->type == CELL_SIGNED ? (double)cell->number_signed : (double)cell->count;
}

static bool is_close(double a, double b)
{
	double distance = a > b ? a - b : b - a;

	return distance <= 1e-9 * (b < 0 ? -b : b);
}

static bool is_as_expected(const struct cell *cell, const struct expected_cell *e)
{
	if (e->text != NULL)
		return cell->type == CELL_TEXT && strcmp(cell->text, e->text) == 0;
	if (e->value == NOT_THERE || cell->type == CELL_NONE)
		return e->value == NOT_THERE && cell->type == CELL_NONE;
	return cell->type != CELL_TEXT && cell->mark == e->mark &&
	       is_close(number_of(cell), e->value);
}

static void fail_on(const struct cell *cell, const struct expected_cell *e)
{
	const char *found = cell->type == CELL_TEXT ? cell->text : "";

	if (e->text != NULL)
		fail_msg("%s, row %zu, %s: found '%s', wanted '%s'", e->table, e->row, e->column,
			 found, e->text);
	fail_msg("%s, row %zu, %s: found type %d, %.9g, mark %d, wanted %.9g, mark %d", e->table,
		 e->row, e->column, (int)cell->type, cell->type == CELL_TEXT ? 0 : number_of(cell),
		 (int)cell->mark, e->value, (int)e->mark);
}

void expect_cell(const struct tables *answer, const struct expected_cell *e)
{
	const struct table *t = tables_find(answer, e->table);
	const struct cell *cell;
	int column;

	if (t == NULL)
		fail_msg("there is no table %s", e->table);
	column = table_column(t, e->column);
	if (column < 0 || e->row >= table_n_rows(t))
		fail_msg("%s has no row %zu with %s", e->table, e->row, e->column);
	cell = table_cell(t, e->row, (size_t)column);
	if (!is_as_expected(cell, e))
		fail_on(cell, e);
}

void expect_cells(const struct tables *answer, const struct expected_cell *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_cell(answer, &list[i]);
}

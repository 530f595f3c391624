/* SPDX-License-Identifier: Apache-2.0 */
#include "table/sort.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* How rows are ordered. */
struct sort_key {
	const struct table *table;
	size_t column; /* n_columns: by row number only */
	bool is_reverse;
};

/* A run of siblings that is being walked, as positions in `grouped`. */
struct siblings {
	uint32_t next, end;
};

bool cell_is_absent(const struct cell *c)
{
	return c->type == CELL_NONE || (c->type == CELL_NUMBER && !isfinite(c->number)) ||
	       (c->type == CELL_TEXT && c->text == NULL);
}

/*
 * A long double holds all 64-bit integers and doubles exactly, so columns with both have a total
 * order.
 */
static long double sort_value_of(const struct cell *c)
{
	switch (c->type) {
	case CELL_SIGNED:
		return c->number_signed;
	case CELL_NUMBER:
		return c->number;
	default:
		return c->count;
	}
}

int cell_compare(const struct cell *a, const struct cell *b)
{
	bool a_absent = cell_is_absent(a), b_absent = cell_is_absent(b);
	bool a_text = a->type == CELL_TEXT, b_text = b->type == CELL_TEXT;
	long double x, y;

	if (a_absent || b_absent)
		return (int)a_absent - (int)b_absent;
	if (a_text && b_text)
		return strcmp(a->text, b->text);
	if (a_text || b_text)
		return (int)a_text - (int)b_text;
	x = sort_value_of(a);
	y = sort_value_of(b);
	return (x > y) - (x < y);
}

/* Quantities are sorted descending, names ascending. */
static bool is_quantity(const struct column *c)
{
	switch (c->type) {
	case CELL_COUNT:
	case CELL_SIGNED:
		return c->unit[0] != '\0';
	case CELL_NUMBER:
	case CELL_BOOL:
		return true;
	default:
		return false;
	}
}

static int compare_in(const struct table *t, size_t column, bool is_reverse, uint32_t left,
		      uint32_t right)
{
	const struct cell *a = table_cell(t, left, column), *b = table_cell(t, right, column);
	int order = cell_compare(a, b);

	if (cell_is_absent(a) || cell_is_absent(b))
		return order;
	return is_quantity(&t->columns[column]) != is_reverse ? -order : order;
}

/* Groups rows by parent. Top-level rows have the largest number as parent, so they come last. */
static int sort_compare_rows(const void *left, const void *right, void *context)
{
	const struct sort_key *key = context;
	const struct table *t = key->table;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t a_parent = t->parents.items[a], b_parent = t->parents.items[b];
	int order = 0;

	if (a_parent != b_parent)
		return (a_parent > b_parent) - (a_parent < b_parent);
	if (key->column < t->n_columns) {
		order = compare_in(t, key->column, key->is_reverse, a, b);
		for (size_t c = 0; order == 0 && c < t->n_columns; c++)
			order = compare_in(t, c, false, a, b);
	}
	return order != 0 ? order : (a > b) - (a < b);
}

/* The children of each row, as a range in `grouped`; slot n is the top level. */
static struct siblings *find_children(const struct table *t, const uint32_t *grouped, uint32_t n)
{
	struct siblings *children = mem_zalloc((size_t)n + 1, sizeof(*children));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = t->parents.items[grouped[i]];
		struct siblings *s = &children[parent == ROW_NO_PARENT ? n : parent];

		if (s->end == 0)
			s->next = i;
		s->end = i + 1;
	}
	return children;
}

/* Orders rows depth first, without recursion, as trees may be deep. */
static uint32_t *depth_first(const struct table *t, const uint32_t *grouped, uint32_t n)
{
	struct siblings *children = find_children(t, grouped, n);
	uint32_t *order = mem_alloc((size_t)n + 1, sizeof(*order));
	VEC_OF(struct siblings) open = { 0 };
	uint32_t n_done = 0;

	*vec_add(&open) = children[n];
	while (open.n > 0) {
		struct siblings *level = &open.items[open.n - 1];
		uint32_t row;

		if (level->next == level->end) {
			open.n--;
			continue;
		}
		row = grouped[level->next++];
		order[n_done++] = row;
		*vec_add(&open) = children[row];
	}
	assert(n_done == n);
	vec_release(&open);
	free(children);
	return order;
}

static uint32_t *order_by(const struct sort_key *key)
{
	uint32_t n = (uint32_t)table_n_rows(key->table);
	uint32_t *grouped = mem_alloc((size_t)n + 1, sizeof(*grouped));
	struct sort_key context = *key;
	uint32_t *order;

	for (uint32_t i = 0; i < n; i++)
		grouped[i] = i;
	qsort_r(grouped, n, sizeof(*grouped), sort_compare_rows, &context);
	order = depth_first(key->table, grouped, n);
	free(grouped);
	return order;
}

bool table_is_tree(const struct table *t)
{
	for (size_t row = 0; row < t->parents.n; row++)
		if (t->parents.items[row] != ROW_NO_PARENT)
			return true;
	return false;
}

uint32_t *table_tree_order(const struct table *t)
{
	return order_by(&(struct sort_key){ .table = t, .column = t->n_columns });
}

/* Reorders the table: row i becomes what was row order[i]. */
static void reorder_rows(struct table *t, const uint32_t *order)
{
	uint32_t n = (uint32_t)table_n_rows(t);
	size_t row_size = t->n_columns * sizeof(struct cell);
	struct cell *cells = mem_alloc((size_t)n * t->n_columns + 1, sizeof(*cells));
	uint32_t *parents = mem_alloc((size_t)n + 1, sizeof(*parents));
	uint32_t *new_row = mem_alloc((size_t)n + 1, sizeof(*new_row));

	for (uint32_t i = 0; i < n; i++)
		new_row[order[i]] = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = t->parents.items[order[i]];

		memcpy(cells + i * t->n_columns, table_cell(t, order[i], 0), row_size);
		parents[i] = parent == ROW_NO_PARENT ? ROW_NO_PARENT : new_row[parent];
	}
	memcpy(t->cells.items, cells, n * row_size);
	memcpy(t->parents.items, parents, n * sizeof(*parents));
	free(cells);
	free(parents);
	free(new_row);
}

void table_sort(struct table *t, size_t column, bool reverse)
{
	struct sort_key key = { .table = t, .column = column, .is_reverse = reverse };
	uint32_t *order;

	assert(column < t->n_columns);
	if (table_n_rows(t) == 0)
		return;
	order = order_by(&key);
	reorder_rows(t, order);
	free(order);
}

/* Moves row `from` up to row `to`. */
static void table_move_row(struct table *t, uint32_t from, uint32_t to, uint32_t parent)
{
	memmove(t->cells.items + to * t->n_columns, table_cell(t, from, 0),
		t->n_columns * sizeof(struct cell));
	t->parents.items[to] = parent;
}

static void cut_to(struct table *t, uint32_t n_rows)
{
	t->parents.n = n_rows;
	t->cells.n = n_rows * t->n_columns;
}

size_t table_keep(struct table *t, row_wanted *is_wanted, const void *context)
{
	uint32_t n_rows = (uint32_t)table_n_rows(t), n_kept = 0;

	assert(!table_is_tree(t));
	for (uint32_t row = 0; row < n_rows; row++)
		if (is_wanted(t, row, context))
			table_move_row(t, row, n_kept++, ROW_NO_PARENT);
	cut_to(t, n_kept);
	return n_kept;
}

size_t table_keep_top(struct table *t, size_t n)
{
	uint32_t n_rows = (uint32_t)table_n_rows(t), n_kept = 0;
	uint32_t *n_children = mem_zalloc((size_t)n_rows + 1, sizeof(*n_children));
	uint32_t *new_row = mem_alloc((size_t)n_rows + 1, sizeof(*new_row));
	size_t n_cut;

	for (uint32_t row = 0; row < n_rows; row++) {
		uint32_t parent = t->parents.items[row];
		bool is_top = parent == ROW_NO_PARENT;
		bool is_kept = (is_top || new_row[parent] != ROW_NO_PARENT) &&
			       n_children[is_top ? n_rows : parent]++ < n;

		new_row[row] = is_kept ? n_kept : ROW_NO_PARENT;
		if (!is_kept)
			continue;
		table_move_row(t, row, n_kept++, is_top ? ROW_NO_PARENT : new_row[parent]);
	}
	n_cut = n_children[n_rows] > n ? n_children[n_rows] - n : 0;
	cut_to(t, n_kept);
	free(n_children);
	free(new_row);
	return n_cut;
}

int table_sort_column(const struct table *t, const char *name, struct err *err)
{
	int column = table_column(t, name);

	if (column >= 0)
		return column;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--sort: this table has no column '%s' (--format csv shows them all)", name);
}

void table_show_top(struct table *t, size_t n)
{
	size_t n_left = n == 0 ? 0 : table_keep_top(t, n);

	if (n_left > 0)
		table_note(t, "%zu more; --all shows them", n_left);
}

int table_sort_by(struct table *t, const char *name, size_t n, struct err *err)
{
	int column;

	if (name == NULL)
		return 0;
	column = table_sort_column(t, name, err);
	if (column < 0)
		return -1;
	table_sort(t, (size_t)column, false);
	table_show_top(t, n);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns are shown: --columns. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "table/table.h"

/* Names of columns. */
struct wanted {
	VEC_OF(char *) names;
};

static void wanted_read(struct wanted *w, const char *names)
{
	while (*names != '\0') {
		size_t n = strcspn(names, ",");

		if (n > 0)
			*vec_add(&w->names) = mem_strndup(names, n);
		names += n + (names[n] == ',' ? 1 : 0);
	}
}

static void wanted_release(struct wanted *w)
{
	for (size_t i = 0; i < w->names.n; i++)
		free(w->names.items[i]);
	vec_release(&w->names);
}

/* Replaces columns and cells by those of the indexes `kept`. */
static void keep(struct table *t, const size_t *kept, size_t n)
{
	struct column *columns = arena_alloc(&t->memory, n * sizeof(*columns));
	size_t n_rows = table_n_rows(t);
	struct table narrow = *t;

	for (size_t i = 0; i < n; i++) {
		columns[i] = t->columns[kept[i]];
		columns[i].flags &= ~(unsigned)(COLUMN_MACHINE_ONLY | COLUMN_BELOW);
	}
	memset(&narrow.cells, 0, sizeof(narrow.cells));
	for (size_t row = 0; row < n_rows; row++)
		for (size_t i = 0; i < n; i++)
			*vec_add(&narrow.cells) = *table_cell(t, row, kept[i]);
	vec_release(&t->cells);
	narrow.columns = columns;
	narrow.n_columns = n;
	narrow.memory = t->memory;
	narrow.style = TABLE_GRID;
	*t = narrow;
}

/*
 * Narrows the table to the columns that are wanted, and to its first one if that is a key. False: it has
 * none of them, and stays.
 */
static bool narrow(struct table *t, const struct wanted *w, bool has_key)
{
	VEC_OF(size_t) kept = { 0 };
	bool is_any = false;

	if (has_key)
		*vec_add(&kept) = 0;
	for (size_t i = 0; i < w->names.n; i++) {
		int column = table_column(t, w->names.items[i]);

		if (column < 0)
			continue;
		is_any = true;
		if (column > 0 || !has_key)
			*vec_add(&kept) = (size_t)column;
	}
	if (is_any)
		keep(t, kept.items, kept.n);
	vec_release(&kept);
	return is_any;
}

static const char *column_name_at(const void *context, size_t i)
{
	const struct tables *tables = context;

	for (size_t k = 0; k < tables->list.n; k++) {
		const struct table *t = tables->list.items[k];

		if (t->style == TABLE_ANSWER)
			continue;
		if (i < t->n_columns)
			return t->columns[i].name;
		i -= t->n_columns;
	}
	return NULL;
}

static int no_such_column(const char *name, const struct tables *tables, struct err *err)
{
	const char *nearest = nearest_word(name, column_name_at, tables);
	char names[512];

	if (nearest != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--columns: there is no column '%s'; did you mean '%s'?", name,
			       nearest);
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--columns: there is no column '%s'; there are %s", name,
		       list_words(column_name_at, tables, names, sizeof(names)));
}

static bool has_column(const struct tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->list.n; i++) {
		const struct table *t = tables->list.items[i];

		if (table_column(t, name) >= 0)
			return true;
		for (size_t k = 0; k < t->nested.n; k++)
			if (table_column(t->nested.items[k], name) >= 0)
				return true;
	}
	return false;
}

static int check_names(const struct wanted *w, const struct tables *tables, struct err *err)
{
	if (w->names.n == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--columns: found no name");
	for (size_t i = 0; i < w->names.n; i++)
		if (!has_column(tables, w->names.items[i]))
			return no_such_column(w->names.items[i], tables, err);
	return 0;
}

int tables_keep_columns(struct tables *tables, const char *names, struct err *err)
{
	struct wanted w = { 0 };
	size_t n = 0;
	int rc;

	wanted_read(&w, names);
	rc = check_names(&w, tables, err);
	for (size_t i = 0; i < tables->list.n && rc == 0; i++) {
		struct table *t = tables->list.items[i];
		bool is_any = narrow(t, &w, t->nested.n > 0);

		for (size_t k = 0; k < t->nested.n; k++)
			is_any |= narrow(t->nested.items[k], &w, true);
		if (is_any || t->style == TABLE_ANSWER)
			tables->list.items[n++] = t;
	}
	if (rc == 0)
		tables->list.n = n;
	wanted_release(&w);
	return rc;
}

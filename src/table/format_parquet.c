/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as a Parquet file, with the columns that csv has: NAME_trust behind a column whose cells may be marked, row
 * and parent_row of trees, modelled. Addresses are numbers. Texts are as they were recorded, but for bytes that
 * are not UTF-8.
 */
#include "table/format_parquet.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "table/raw.h"
#include "table/sort.h"

static enum parquet_type type_of_cells(enum cell_type type)
{
	static const enum parquet_type types[] = {
		[CELL_NONE] = PARQUET_TEXT,    [CELL_COUNT] = PARQUET_UINT64,
		[CELL_SIGNED] = PARQUET_INT64, [CELL_NUMBER] = PARQUET_DOUBLE,
		[CELL_HEX] = PARQUET_UINT64,   [CELL_TEXT] = PARQUET_TEXT,
		[CELL_BOOL] = PARQUET_BOOL,
	};

	assert((size_t)type < COUNT(types));
	return types[type];
}

/* A file has no type for cells of several; a text holds any. */
static enum parquet_type type_of_column(const struct table *t, size_t column)
{
	enum parquet_type type = type_of_cells(t->columns[column].type);

	for (size_t row = 0; row < table_n_rows(t); row++) {
		enum cell_type cell = table_cell(t, row, column)->type;
		bool is_number = cell == CELL_COUNT || cell == CELL_SIGNED;

		if (cell != CELL_NONE && type_of_cells(cell) != type &&
		    !(type == PARQUET_DOUBLE && is_number))
			return PARQUET_TEXT;
	}
	return type;
}

static void put_cell(struct parquet_values *v, enum parquet_type type, const struct cell *cell)
{
	struct text raw = { 0 };

	if (cell_is_absent(cell)) {
		parquet_put_null(v);
	} else if (cell->type == CELL_TEXT) {
		parquet_put_text(v, cell->text, strlen(cell->text));
	} else if (type == PARQUET_TEXT) {
		text_raw(&raw, cell);
		parquet_put_text(v, raw.bytes, raw.n);
		text_release(&raw);
	} else if (type == PARQUET_DOUBLE) {
		parquet_put_double(v, cell->type == CELL_COUNT	  ? (double)cell->count
				      : cell->type == CELL_SIGNED ? (double)cell->number_signed
								  : cell->number);
	} else {
		parquet_put(v, cell->count); /* or number_signed: the same bits */
	}
}

static void put_word(struct parquet_values *v, const struct cell *cell)
{
	const char *word = mark_word(cell->mark);

	if (cell_is_absent(cell))
		parquet_put_null(v);
	else
		parquet_put_text(v, word, strlen(word));
}

static void put_position(struct parquet_values *v, const struct table *t, size_t row)
{
	parquet_put(&v[0], row);
	if (t->parents.items[row] == ROW_NO_PARENT)
		parquet_put_null(&v[1]);
	else
		parquet_put(&v[1], t->parents.items[row]);
}

/* The columns of a file, in order. */
struct file_columns {
	VEC_OF(struct parquet_column) list;
	struct arena names;
};

static void columns_find(struct file_columns *out, const struct document *d, const struct table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];
		size_t size = strlen(c->name) + sizeof("_trust");
		char *trust;

		if (c->flags & COLUMN_TEXT_ONLY)
			continue;
		*vec_add(&out->list) =
			(struct parquet_column){ .name = c->name, .type = type_of_column(t, i) };
		if (!(c->flags & COLUMN_TRUST))
			continue;
		trust = arena_alloc(&out->names, size);
		strcpy(trust, c->name);
		strcat(trust, "_trust");
		*vec_add(&out->list) =
			(struct parquet_column){ .name = trust, .type = PARQUET_TEXT };
	}
	if (table_is_tree(t)) {
		*vec_add(&out->list) =
			(struct parquet_column){ .name = "row", .type = PARQUET_UINT64 };
		*vec_add(&out->list) =
			(struct parquet_column){ .name = "parent_row", .type = PARQUET_UINT64 };
	}
	if (d->is_modelled)
		*vec_add(&out->list) =
			(struct parquet_column){ .name = "modelled", .type = PARQUET_BOOL };
}

static void columns_release(struct file_columns *c)
{
	vec_release(&c->list);
	arena_release(&c->names);
}

static void put_row(struct parquet_values *values, const struct file_columns *columns,
		    const struct document *d, const struct table *t, size_t row)
{
	size_t at = 0;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct cell *cell = table_cell(t, row, i);

		if (t->columns[i].flags & COLUMN_TEXT_ONLY)
			continue;
		put_cell(&values[at], columns->list.items[at].type, cell);
		at++;
		if (t->columns[i].flags & COLUMN_TRUST)
			put_word(&values[at++], cell);
	}
	if (table_is_tree(t)) {
		put_position(&values[at], t, row);
		at += 2;
	}
	if (d->is_modelled)
		parquet_put(&values[at], true);
}

static void set_notes(struct parquet_writer *w, const struct table *t)
{
	struct text notes = { 0 };

	if (t->notes.n == 0)
		return;
	for (size_t i = 0; i < t->notes.n; i++)
		text_format(&notes, "%s%s", i > 0 ? "\n" : "", t->notes.items[i]);
	text_char(&notes, '\0');
	parquet_set_meta(w, "cyclops.notes", notes.bytes);
	text_release(&notes);
}

static void set_schema(struct parquet_writer *w)
{
	char number[GROUPED_BYTES] = { 0 };

	put_u64(number, FORMAT_SCHEMA);
	parquet_set_meta(w, "cyclops.schema", number);
}

void format_parquet_describe(struct parquet_writer *w, const struct document *d,
			     const struct table *t)
{
	struct text columns = { 0 };
	bool is_first = true;

	set_schema(w);
	parquet_set_meta(w, "cyclops.version", d->version);
	parquet_set_meta(w, "cyclops.command", d->command);
	parquet_set_meta(w, "cyclops.table", t->name);
	parquet_set_meta(w, "cyclops.modelled", d->is_modelled ? "true" : "false");
	if (d->host != NULL)
		parquet_set_meta(w, "cyclops.host", d->host);
	if (d->capture_hash != NULL)
		parquet_set_meta(w, "cyclops.capture_xxh64", d->capture_hash);
	text_char(&columns, '{');
	json_describe_columns(&columns, t, &is_first);
	text_add(&columns, "}", sizeof("}")); /* with a NUL */
	parquet_set_meta(w, "cyclops.columns", columns.bytes);
	text_release(&columns);
	set_notes(w, t);
}

static int take_bytes(void *out, const struct text *bytes)
{
	text_add(out, bytes->bytes, bytes->n);
	return 0;
}

/* The whole file. */
static void parquet_rows(const struct document *d, const struct table *t, bool is_first,
			 struct text *out)
{
	struct file_columns columns = { 0 };
	struct parquet_writer *w;

	(void)is_first;
	columns_find(&columns, d, t);
	w = parquet_new(columns.list.items, columns.list.n, NULL, take_bytes, out);
	for (size_t row = 0; row < table_n_rows(t); row++) {
		put_row(parquet_values(w), &columns, d, t, row);
		parquet_end_row(w); /* the sink takes all */
	}
	format_parquet_describe(w, d, t);
	parquet_finish(w);
	parquet_free(w);
	columns_release(&columns);
}

static void parquet_begin(const struct document *d, struct text *out)
{
	(void)d;
	(void)out;
}

static void parquet_head(const struct document *d, const struct table *t, bool is_first_table,
			 struct text *out)
{
	(void)d;
	(void)t;
	(void)is_first_table;
	(void)out;
}

static void parquet_tail(const struct document *d, const struct table *t, struct text *out)
{
	(void)d;
	(void)t;
	(void)out;
}

const struct format format_parquet = {
	.name = "parquet",
	.extension = ".parquet",
	.is_binary = true,
	.begin = parquet_begin,
	.head = parquet_head,
	.rows = parquet_rows,
	.tail = parquet_tail,
	.end = parquet_begin,
};

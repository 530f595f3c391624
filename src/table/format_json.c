/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One object. Its shape:
 *
 *	{"schema":2,"cyclops":VERSION,"command":…,"modelled":false,
 *	"columns":{TABLE:{COLUMN:{"type":…,"unit":…,"meaning":…}, …}, …},
 *	TABLE:[
 *	{COLUMN:value, …, NESTED_TABLE:[{…}, …]},
 *	…
 *	],
 *	KEYED_TABLE:{
 *	KEY:{COLUMN:value, …},
 *	…
 *	},
 *	"notes":{TABLE:[…]}}
 *
 * Absent values are left out. COLUMN_trust follows a value that is not exact. A row of a tree
 * also has "row" and, below the top, "parent_row". Descriptions of columns say "trust":true and
 * "message":true where these flags are set.
 */
#include "table/format.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "table/json_string.h"
#include "table/raw.h"
#include "table/sort.h"

/* Rows of a nested table, sorted by key. */
struct key_index {
	const struct table *table;
	uint32_t *rows;
};

/* Appends the start of a member: comma, name, colon. */
static void add_name(struct text *out, bool *is_first, const char *name)
{
	if (!*is_first)
		text_char(out, ',');
	*is_first = false;
	text_char(out, '"');
	text_str(out, name);
	text_add(out, "\":", 2);
}

static void format_json_add_value(struct text *out, const struct cell *cell)
{
	if (cell->type == CELL_TEXT) {
		json_put_string(out, cell->text);
	} else if (cell->type == CELL_HEX) {
		text_char(out, '"');
		text_hex(out, cell->count);
		text_char(out, '"');
	} else {
		text_raw(out, cell);
	}
}

/* Appends a value as a member's name, which is a string. */
static void add_key(struct text *out, const struct cell *cell)
{
	if (cell->type == CELL_TEXT && cell->text != NULL) {
		json_put_string(out, cell->text);
	} else {
		text_char(out, '"');
		text_raw(out, cell);
		text_char(out, '"');
	}
	text_char(out, ':');
}

static void add_cells(struct text *out, const struct table *t, size_t row, size_t first_column,
		      bool *is_first)
{
	const struct cell *cells = t->cells.items + row * t->n_columns;

	for (size_t i = first_column; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		if ((c->flags & COLUMN_TEXT_ONLY) || cell_is_absent(&cells[i]))
			continue;
		add_name(out, is_first, c->name);
		format_json_add_value(out, &cells[i]);
		if (cells[i].mark != MARK_EXACT)
			text_format(out, ",\"%s_trust\":\"%s\"", c->name, mark_word(cells[i].mark));
	}
}

static void json_put_position(struct text *out, const struct table *t, size_t row, bool *is_first)
{
	add_name(out, is_first, "row");
	text_u64(out, row);
	if (t->parents.items[row] == ROW_NO_PARENT)
		return;
	add_name(out, is_first, "parent_row");
	text_u64(out, t->parents.items[row]);
}

static int compare_keys(const void *left, const void *right, void *context)
{
	const struct table *t = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = cell_compare(table_cell(t, a, 0), table_cell(t, b, 0));

	return order != 0 ? order : (a > b) - (a < b);
}

/* Makes an index for each nested table. Free with free_indexes(). */
static struct key_index *index_nested(const struct table *t)
{
	struct key_index *indexes = mem_zalloc(t->nested.n + 1, sizeof(*indexes));

	for (size_t i = 0; i < t->nested.n; i++) {
		struct table *inner = t->nested.items[i];
		uint32_t n = (uint32_t)table_n_rows(inner);
		uint32_t *rows = mem_alloc((size_t)n + 1, sizeof(*rows));

		for (uint32_t row = 0; row < n; row++)
			rows[row] = row;
		qsort_r(rows, n, sizeof(*rows), compare_keys, inner);
		indexes[i] = (struct key_index){ .table = inner, .rows = rows };
	}
	return indexes;
}

static void free_indexes(struct key_index *indexes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(indexes[i].rows);
	free(indexes);
}

/* Position in the index of the first row whose key is not less. */
static size_t json_find_key(const struct key_index *index, const struct cell *key)
{
	return bisect(0, table_n_rows(index->table), i,
		      cell_compare(table_cell(index->table, index->rows[i], 0), key) < 0);
}

/* Appends the nested rows with this key, without the key. */
static void add_nested(struct text *out, const struct key_index *index, const struct cell *key)
{
	const struct table *t = index->table;
	bool is_first_row = true;

	text_char(out, '[');
	for (size_t i = json_find_key(index, key); i < table_n_rows(t); i++) {
		bool is_first = true;

		if (cell_compare(table_cell(t, index->rows[i], 0), key) != 0)
			break;
		text_str(out, is_first_row ? "{" : ",{");
		is_first_row = false;
		add_cells(out, t, index->rows[i], 1, &is_first);
		text_char(out, '}');
	}
	text_char(out, ']');
}

static void format_json_add_row(struct text *out, const struct table *t, size_t row, bool is_tree,
				const struct key_index *indexes)
{
	bool is_first = true;

	if (t->is_keyed)
		add_key(out, table_cell(t, row, 0));
	text_char(out, '{');
	add_cells(out, t, row, t->is_keyed ? 1 : 0, &is_first);
	if (is_tree)
		json_put_position(out, t, row, &is_first);
	for (size_t i = 0; i < t->nested.n; i++) {
		add_name(out, &is_first, t->nested.items[i]->name);
		add_nested(out, &indexes[i], table_cell(t, row, 0));
	}
	text_char(out, '}');
}

static const char *const type_words[] = {
	[CELL_NONE] = "null",	  [CELL_COUNT] = "integer", [CELL_SIGNED] = "integer",
	[CELL_NUMBER] = "number", [CELL_HEX] = "hex",	    [CELL_TEXT] = "string",
	[CELL_BOOL] = "boolean",
};

void json_describe_columns(struct text *out, const struct table *t, bool *is_first)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		if (c->flags & COLUMN_TEXT_ONLY)
			continue;
		add_name(out, is_first, c->name);
		text_format(out, "{\"type\":\"%s\",\"unit\":", type_words[c->type]);
		json_put_string(out, c->unit);
		text_str(out, ",\"meaning\":");
		json_put_string(out, c->meaning);
		text_str(out, c->flags & COLUMN_TRUST ? ",\"trust\":true" : "");
		text_str(out, c->flags & COLUMN_MESSAGE ? ",\"message\":true" : "");
		text_char(out, '}');
	}
}

static void describe_table(struct text *out, const struct table *t, bool *is_first_table)
{
	bool is_first = true;

	add_name(out, is_first_table, t->name);
	text_char(out, '{');
	json_describe_columns(out, t, &is_first);
	text_char(out, '}');
}

static void json_add_notes(struct text *out, const struct table *t, bool *is_first_table)
{
	if (t->notes.n == 0)
		return;
	add_name(out, is_first_table, t->name);
	for (size_t i = 0; i < t->notes.n; i++) {
		text_char(out, i == 0 ? '[' : ',');
		json_put_string(out, t->notes.items[i]);
	}
	text_char(out, ']');
}

/* Calls `write` for each table of the document, nested ones included. */
static void for_each_table(const struct document *d, struct text *out,
			   void (*write)(struct text *, const struct table *, bool *is_first_table))
{
	bool is_first = true;

	for (size_t i = 0; d->tables != NULL && i < d->tables->list.n; i++) {
		const struct table *t = d->tables->list.items[i];

		write(out, t, &is_first);
		for (size_t k = 0; k < t->nested.n; k++)
			write(out, t->nested.items[k], &is_first);
	}
}

static void json_begin(const struct document *d, struct text *out)
{
	text_format(out, "{\"schema\":%d,\"cyclops\":", FORMAT_SCHEMA);
	json_put_string(out, d->version);
	text_str(out, ",\"command\":");
	json_put_string(out, d->command);
	text_format(out, ",\"modelled\":%s,\n\"columns\":{", d->is_modelled ? "true" : "false");
	for_each_table(d, out, describe_table);
	text_str(out, "},\n");
}

static void json_head(const struct document *d, const struct table *t, bool is_first_table,
		      struct text *out)
{
	bool is_first = true;

	(void)d;
	(void)is_first_table;
	add_name(out, &is_first, t->name);
	text_char(out, t->is_keyed ? '{' : '[');
}

static void json_rows(const struct document *d, const struct table *t, bool is_first,
		      struct text *out)
{
	struct key_index *indexes = index_nested(t);
	bool is_tree = table_is_tree(t);

	(void)d;
	for (size_t row = 0; row < table_n_rows(t); row++) {
		text_str(out, is_first && row == 0 ? "\n" : ",\n");
		format_json_add_row(out, t, row, is_tree, indexes);
	}
	free_indexes(indexes, t->nested.n);
}

static void json_tail(const struct document *d, const struct table *t, struct text *out)
{
	(void)d;
	text_str(out, t->is_keyed ? "\n},\n" : "\n],\n");
}

static void json_end(const struct document *d, struct text *out)
{
	text_str(out, "\"notes\":{");
	for_each_table(d, out, json_add_notes);
	text_str(out, "}}\n");
}

const struct format format_json = {
	.name = "json",
	.extension = ".json",
	.can_stream = true,
	.joint = 1,
	.begin = json_begin,
	.head = json_head,
	.rows = json_rows,
	.tail = json_tail,
	.end = json_end,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as in RFC 4180, but lines end with a line feed. Several tables follow each other, each
 * below a line "# table NAME". Modelled numbers are marked in a line before several tables, or in a
 * last column of a single table.
 */
#include "table/format.h"

#include <stdint.h>
#include <string.h>

#include "table/format_csv.h"
#include "table/raw.h"
#include "table/sort.h"
#include "table/utf8.h"

static bool csv_has_column(const struct column *c)
{
	return (c->flags & COLUMN_TEXT_ONLY) == 0;
}

/* What a text needs, to be read back unchanged. */
enum {
	NEEDS_QUOTES = 1,
	NEEDS_CARE = 2, /* a control character, or not ASCII and maybe not UTF-8 */
};

static const uint8_t needs[256] = {
	[0x01 ... 0x1f] = NEEDS_CARE,
	['"'] = NEEDS_QUOTES,
	[','] = NEEDS_QUOTES,
	[0x7f ... 0xff] = NEEDS_CARE,
};

static void add_quoted(struct text *out, const char *value)
{
	text_char(out, '"');
	for (const char *quote; (quote = strchr(value, '"')) != NULL; value = quote + 1) {
		text_add(out, value, (size_t)(quote - value) + 1);
		text_char(out, '"');
	}
	text_str(out, value);
	text_char(out, '"');
}

static bool format_csv_is_blank(uint32_t code)
{
	return code == '\t' || code == '\n' || code == '\r';
}

/* Appends text with U+FFFD for bytes that are not UTF-8 or that control a terminal. */
static void add_repaired(struct text *out, const char *value)
{
	while (*value != '\0') {
		uint32_t code = 0;
		size_t size = utf8_decode(value, &code);

		if (size == 0 || (utf8_is_unsafe(code) && !format_csv_is_blank(code)))
			text_str(out, "\xef\xbf\xbd");
		else
			text_add(out, value, size);
		value += size > 0 ? size : 1;
	}
}

static void add_care(struct text *out, const char *value)
{
	struct text repaired = { 0 };

	add_repaired(&repaired, value);
	text_char(&repaired, '\0');
	if (value[0] == '#' || strpbrk(value, "\",\r\n") != NULL)
		add_quoted(out, repaired.bytes);
	else
		text_str(out, repaired.bytes);
	text_release(&repaired);
}

void csv_put_text(struct text *out, const char *value)
{
	unsigned care = 0;
	size_t n = 0;

	for (; value[n] != '\0'; n++)
		care |= needs[(uint8_t)value[n]];
	if (care & NEEDS_CARE)
		add_care(out, value);
	else if (care != 0 || value[0] == '#') /* '#' could be taken for the line before a table */
		add_quoted(out, value);
	else
		text_add(out, value, n);
}

static void add_cell(struct text *out, const struct cell *cell)
{
	if (cell->type == CELL_TEXT && cell->text != NULL)
		csv_put_text(out, cell->text);
	else
		text_raw(out, cell);
}

/* A single table marks modelled numbers in a column: it has no line before it. */
static bool has_modelled_column(const struct document *d)
{
	return d->is_modelled && !d->is_plural;
}

static void csv_begin(const struct document *d, struct text *out)
{
	if (d->is_plural && d->is_modelled)
		text_str(out, "# modelled: simulated, not measured\n");
}

static void csv_head(const struct document *d, const struct table *t, bool is_first_table,
		     struct text *out)
{
	const char *separator = "";

	(void)is_first_table;
	if (d->is_plural)
		text_format(out, "# table %s\n", t->name);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		if (!csv_has_column(c))
			continue;
		text_str(out, separator);
		text_str(out, c->name);
		if (c->flags & COLUMN_TRUST)
			text_format(out, ",%s_trust", c->name);
		separator = ",";
	}
	if (table_is_tree(t))
		text_str(out, ",row,parent_row");
	if (has_modelled_column(d))
		text_str(out, ",modelled");
	text_char(out, '\n');
}

/* Appends the mark, for the column that follows the value; empty if the value is. */
static void add_trust(struct text *out, const struct cell *cell)
{
	text_char(out, ',');
	if (!cell_is_absent(cell))
		text_str(out, mark_word(cell->mark));
}

/* Appends the number of the row and of its parent. */
static void csv_put_position(struct text *out, const struct table *t, size_t row)
{
	text_char(out, ',');
	text_u64(out, row);
	text_char(out, ',');
	if (t->parents.items[row] != ROW_NO_PARENT)
		text_u64(out, t->parents.items[row]);
}

static void format_csv_add_row(struct text *out, const struct table *t, const struct cell *cells)
{
	bool is_first = true;

	for (size_t i = 0; i < t->n_columns; i++) {
		unsigned flags = t->columns[i].flags;

		if (flags & COLUMN_TEXT_ONLY)
			continue;
		if (!is_first)
			text_char(out, ',');
		is_first = false;
		add_cell(out, &cells[i]);
		if (flags & COLUMN_TRUST)
			add_trust(out, &cells[i]);
	}
}

static void csv_rows(const struct document *d, const struct table *t, bool is_first,
		     struct text *out)
{
	bool is_tree = table_is_tree(t);

	(void)is_first;
	for (size_t row = 0; row < table_n_rows(t); row++) {
		format_csv_add_row(out, t, t->cells.items + row * t->n_columns);
		if (is_tree)
			csv_put_position(out, t, row);
		if (has_modelled_column(d))
			text_str(out, ",true");
		text_char(out, '\n');
	}
}

static void csv_tail(const struct document *d, const struct table *t, struct text *out)
{
	for (size_t i = 0; i < t->nested.n && d->is_plural; i++) {
		csv_head(d, t->nested.items[i], false, out);
		csv_rows(d, t->nested.items[i], true, out);
	}
}

static void csv_end(const struct document *d, struct text *out)
{
	(void)d;
	(void)out;
}

const struct format format_csv = {
	.name = "csv",
	.extension = ".csv",
	.can_stream = true,
	.begin = csv_begin,
	.head = csv_head,
	.rows = csv_rows,
	.tail = csv_tail,
	.end = csv_end,
};

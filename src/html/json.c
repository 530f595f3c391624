/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for the viewer, with all that the screens have: titles, styles, flags of columns, marks. By column,
 * which is a third of the bytes and of the time to read them:
 *
 *	{"tables":[{"name":…,"title":…,"style":"grid","readers":"all",
 *	"columns":[{"name":…,"title":…,"unit":…,"type":"number","flags":["share"],"meaning":…}, …],
 *	"rows":2,"parents":[-1,0],"cells":[[…], …],"marks":[{"1":"saturated"}, …],"notes":[…]}, …]}
 *
 * Absent cells are null. "parents" is there only in trees. Whole numbers above 2^53 are strings. This is
 * between the program and the viewer in the same file: programs of others read json.
 */
#include "html/html.h"

#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "table/raw.h"
#include "table/sort.h"
#include "table/utf8.h"

static const char *const style_words[] = {
	[TABLE_GRID] = "grid",
	[TABLE_FACTS] = "facts",
	[TABLE_FINDINGS] = "findings",
	[TABLE_ANSWER] = "answer",
};

static const char *const reader_words[] = {
	[TABLE_FOR_ALL] = "all",
	[TABLE_FOR_PEOPLE] = "people",
	[TABLE_FOR_PROGRAMS] = "programs",
};

static const char *const html_types[] = {
	[CELL_NONE] = "none",	  [CELL_COUNT] = "count", [CELL_SIGNED] = "signed",
	[CELL_NUMBER] = "number", [CELL_HEX] = "hex",	  [CELL_TEXT] = "text",
	[CELL_BOOL] = "bool",
};

static const struct flag_word {
	unsigned flag;
	const char *word;
} flag_words[] = {
	{ COLUMN_BAR, "bar" },		{ COLUMN_MACHINE_ONLY, "programs" },
	{ COLUMN_TREE, "tree" },	{ COLUMN_SHARE, "share" },
	{ COLUMN_TEXT_ONLY, "people" }, { COLUMN_TRUST, "trust" },
	{ COLUMN_PATH, "path" },	{ COLUMN_SPARK, "spark" },
	{ COLUMN_BLANK, "blank" },	{ COLUMN_COMMAND, "command" },
	{ COLUMN_FIGURES, "figures" },	{ COLUMN_BELOW, "below" },
	{ COLUMN_MESSAGE, "message" },	{ COLUMN_SOURCE, "source" },
	{ COLUMN_NOTED, "noted" },
};

/* Above this a double does not have all whole numbers. */
static const uint64_t most_exact = UINT64_C(1) << 53;

static void put_span(struct text *out, const char *bytes, size_t size)
{
	text_char(out, '"');
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '"' || bytes[i] == '\\')
			text_char(out, '\\');
		text_char(out, bytes[i]);
	}
	text_char(out, '"');
}

void html_put_string(struct text *out, const char *s)
{
	struct arena memory = { 0 };
	struct span span = span_of(&memory, s, true);

	put_span(out, span.bytes, span.size);
	arena_release(&memory);
}

void html_put_member(struct text *out, const char *name, const char *value)
{
	text_format(out, ",\"%s\":", name);
	html_put_string(out, value);
}

static void put_column(struct text *out, const struct column *c)
{
	const char *comma = "";

	text_str(out, "{\"name\":");
	html_put_string(out, c->name);
	html_put_member(out, "title", c->title != NULL ? c->title : c->name);
	html_put_member(out, "unit", c->unit);
	html_put_member(out, "type", html_types[c->type]);
	html_put_member(out, "meaning", c->meaning);
	text_str(out, ",\"flags\":[");
	for (size_t i = 0; i < COUNT(flag_words); i++)
		if (c->flags & flag_words[i].flag) {
			text_format(out, "%s\"%s\"", comma, flag_words[i].word);
			comma = ",";
		}
	text_str(out, "]}");
}

static void put_whole(struct text *out, uint64_t magnitude, bool is_negative)
{
	const char *quote = magnitude > most_exact ? "\"" : "";

	text_format(out, "%s%s%" PRIu64 "%s", quote, is_negative ? "-" : "", magnitude, quote);
}

static void html_put_cell(struct text *out, const struct cell *cell, struct arena *memory)
{
	struct span span;

	if (cell_is_absent(cell)) {
		text_str(out, "null");
		return;
	}
	switch (cell->type) {
	case CELL_TEXT:
		span = span_of(memory, cell->text, true);
		put_span(out, span.bytes, span.size);
		break;
	case CELL_HEX:
		text_char(out, '"');
		text_hex(out, cell->count);
		text_char(out, '"');
		break;
	case CELL_COUNT:
		put_whole(out, cell->count, false);
		break;
	case CELL_SIGNED:
		put_whole(out,
			  cell->number_signed < 0 ? -(uint64_t)cell->number_signed : cell->count,
			  cell->number_signed < 0);
		break;
	default:
		text_raw(out, cell);
	}
}

static void put_marks(struct text *out, const struct table *t, size_t column)
{
	const char *comma = "";

	text_char(out, '{');
	for (size_t row = 0; row < table_n_rows(t); row++) {
		enum cell_mark mark = table_cell(t, row, column)->mark;

		if (mark == MARK_EXACT)
			continue;
		text_format(out, "%s\"%zu\":\"%s\"", comma, row, mark_word(mark));
		comma = ",";
	}
	text_char(out, '}');
}

static void put_cells(struct text *out, const struct table *t)
{
	struct arena memory = { 0 };

	text_str(out, ",\n\"cells\":[");
	for (size_t i = 0; i < t->n_columns; i++) {
		text_str(out, i == 0 ? "[" : ",\n[");
		for (size_t row = 0; row < table_n_rows(t); row++) {
			if (row > 0)
				text_char(out, ',');
			html_put_cell(out, table_cell(t, row, i), &memory);
		}
		text_char(out, ']');
		arena_reset(&memory);
	}
	text_str(out, "],\n\"marks\":[");
	for (size_t i = 0; i < t->n_columns; i++) {
		text_str(out, i == 0 ? "" : ",");
		put_marks(out, t, i);
	}
	text_char(out, ']');
	arena_release(&memory);
}

static void put_parents(struct text *out, const struct table *t)
{
	if (!table_is_tree(t))
		return;
	text_str(out, ",\"parents\":[");
	for (size_t row = 0; row < table_n_rows(t); row++) {
		uint32_t parent = t->parents.items[row];

		text_str(out, row > 0 ? "," : "");
		text_i64(out, parent == ROW_NO_PARENT ? -1 : (int64_t)parent);
	}
	text_char(out, ']');
}

/* By the word of a mark, what it means in this table. */
static void put_meanings(struct text *out, const struct table *t)
{
	const char *comma = "";

	text_str(out, ",\n\"meanings\":{");
	for (unsigned mark = 0; mark < N_MARKS; mark++) {
		if (t->meanings[mark] == NULL)
			continue;
		text_format(out, "%s\"%s\":", comma, mark_word((enum cell_mark)mark));
		html_put_string(out, t->meanings[mark]);
		comma = ",";
	}
	text_char(out, '}');
}

static void html_put_table(struct text *out, const struct table *t, bool *is_first)
{
	text_str(out, *is_first ? "\n{\"name\":" : ",\n{\"name\":");
	*is_first = false;
	html_put_string(out, t->name);
	if (t->title != NULL)
		html_put_member(out, "title", t->title);
	html_put_member(out, "style", style_words[t->style]);
	html_put_member(out, "readers", reader_words[t->readers]);
	text_str(out, ",\n\"columns\":[");
	for (size_t i = 0; i < t->n_columns; i++) {
		text_str(out, i == 0 ? "" : ",");
		put_column(out, &t->columns[i]);
	}
	text_format(out, "],\n\"rows\":%zu", table_n_rows(t));
	put_parents(out, t);
	put_cells(out, t);
	if (t->meanings != NULL)
		put_meanings(out, t);
	text_str(out, ",\n\"notes\":[");
	for (size_t i = 0; i < t->notes.n; i++) {
		text_str(out, i == 0 ? "" : ",");
		html_put_string(out, t->notes.items[i]);
	}
	text_str(out, "]}");
}

void html_put_tables(const struct tables *tables, struct text *out)
{
	bool is_first = true;

	text_str(out, "{\"tables\":[");
	for (size_t i = 0; i < tables->list.n; i++) {
		const struct table *t = tables->list.items[i];

		html_put_table(out, t, &is_first);
		for (size_t k = 0; k < t->nested.n; k++)
			html_put_table(out, t->nested.items[k], &is_first);
	}
	text_str(out, "]}\n");
}

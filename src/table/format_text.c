/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for people, fitted to the terminal, with readable numbers and notes. */
#include "table/format.h"

#include <string.h>

#include "table/grid.h"
#include "table/pen.h"
#include "table/prose.h"
#include "table/shown.h"
#include "table/sort.h"

/* Rows are indented below the title. --wide gives them as much room as this. */
enum { INDENT = 2, WIDE = 4096 };

static size_t indent_of(const struct table *t)
{
	return t->title != NULL && t->title[0] != '\0' ? INDENT : 0;
}

/* Writes a wrapped line of text below a table. */
static void write_remark(struct pen *pen, enum pen_style style, size_t indent, struct span words)
{
	if (words.size == 0)
		return;
	pen->column = indent;
	pen_wrap(pen, style, words, indent, pen->width);
	pen_newline(pen);
}

/* A note. A command at its end, which does not fit in the line, is on its own, so that it can be pasted. */
static void write_note(struct pen *pen, size_t indent, const char *note, struct arena *memory)
{
	struct span words = span_of(memory, note, pen->has_unicode);
	const char *of_perf = strstr(words.bytes, ": perf stat ");
	const char *at = of_perf != NULL ? of_perf : strstr(words.bytes, ": cyclops ");
	size_t text;

	if (at == NULL || indent + words.width <= pen->width) {
		write_remark(pen, PEN_PLAIN, indent, words);
		return;
	}
	text = (size_t)(at - words.bytes) + 1;
	write_remark(pen, PEN_PLAIN, indent, span_part(words, 0, text));
	pen->column = indent;
	pen_wrap_command(pen, span_part(words, text + 1, words.size), indent);
	pen_newline(pen);
}

static void write_title(const struct table *t, struct pen *pen, struct arena *memory)
{
	if (t->title != NULL)
		write_remark(pen, PEN_BOLD, 0, span_of(memory, t->title, pen->has_unicode));
}

/* Text only, and not words or figures of its own: a drawing or another form of a column beside it. */
static const unsigned left_unsaid = COLUMN_TEXT_ONLY | COLUMN_GROW | COLUMN_WHOLE;

/* Lists the headings of columns that did not fit. */
static void write_left_out(const struct grid *g, struct pen *pen, struct arena *memory)
{
	struct text words = { 0 };

	for (size_t i = 0; i < g->n_lanes; i++) {
		const struct column *c = g->lanes[i].how.column;
		const struct span *heading = &g->lanes[i].heading;

		if (!g->lanes[i].is_left_out || (c->flags & left_unsaid) == COLUMN_TEXT_ONLY)
			continue;
		text_str(&words, words.n > 0 ? ", " : "hidden columns: ");
		text_add(&words, heading->bytes, heading->size);
	}
	if (words.n > 0) {
		text_str(&words, " (--wide)");
		text_char(&words, '\0');
		write_remark(pen, PEN_DIM, g->indent,
			     span_of(memory, words.bytes, pen->has_unicode));
	}
	text_release(&words);
}

static unsigned write_grid(const struct table *t, struct pen *pen, struct arena *memory)
{
	struct pen line = *pen;
	struct grid grid;
	unsigned marks;

	if (pen->is_wide)
		line.width = WIDE;
	grid_init(&grid, t, pen->has_unicode, indent_of(t), line.width);
	grid_draw(&grid, t->title, &line);
	write_left_out(&grid, pen, memory);
	marks = grid.marks;
	grid_release(&grid);
	return marks;
}

static unsigned write_empty(const struct table *t, struct pen *pen, struct arena *memory)
{
	write_title(t, pen, memory);
	if (t->notes.n == 0)
		write_remark(pen, PEN_DIM, indent_of(t), span_of(memory, "none", true));
	return 0;
}

static unsigned write_facts(const struct table *t, struct pen *pen, struct arena *memory)
{
	write_title(t, pen, memory);
	return facts_write(t, indent_of(t), pen);
}

static unsigned write_findings(const struct table *t, struct pen *pen, struct arena *memory)
{
	write_title(t, pen, memory);
	return findings_write(t, pen);
}

/* The first line says most. */
static unsigned write_answer(const struct table *t, struct pen *pen, struct arena *memory)
{
	for (size_t row = 0; row < table_n_rows(t); row++) {
		struct span words = span_of(memory, table_cell(t, row, 0)->text, pen->has_unicode);
		const struct cell *command = table_cell(t, row, 1);

		if (cell_is_absent(command)) {
			write_remark(pen, row == 0 ? PEN_BOLD : PEN_PLAIN, 0, words);
			continue;
		}
		pen->column = 0;
		pen_write(pen, PEN_PLAIN, words);
		pen->column++;
		pen_wrap_command(pen, span_of(memory, command->text, pen->has_unicode),
				 words.width + 1);
		pen_newline(pen);
	}
	return 0;
}

/* By enum table_style. Each returns the marks in use: bit n for mark n. */
static unsigned (*const writers[])(const struct table *, struct pen *, struct arena *) = {
	[TABLE_GRID] = write_grid,
	[TABLE_FACTS] = write_facts,
	[TABLE_FINDINGS] = write_findings,
	[TABLE_ANSWER] = write_answer,
};

static void write_modelled(struct pen *pen)
{
	pen_ascii(pen, PEN_MARK, "modelled: ");
	pen_ascii(pen, PEN_PLAIN, "these numbers are simulated, not measured");
	pen_newline(pen);
}

/* Before anything else: who reads one line only is to know it. */
static void text_begin(const struct document *d, struct text *out)
{
	struct pen pen = pen_of(d, out);

	if (!d->is_modelled)
		return;
	write_modelled(&pen);
	if (!document_begins_with_answer(d))
		pen_newline(&pen);
}

static void text_head(const struct document *d, const struct table *t, bool is_first_table,
		      struct text *out)
{
	(void)d;
	(void)t;
	if (!is_first_table)
		text_char(out, '\n');
}

static void text_rows(const struct document *d, const struct table *t, bool is_first,
		      struct text *out)
{
	struct pen pen = pen_of(d, out);
	struct arena memory = { 0 };
	unsigned marks;

	(void)is_first;
	if (table_n_rows(t) == 0)
		marks = write_empty(t, &pen, &memory);
	else
		marks = writers[t->style](t, &pen, &memory);
	for (size_t i = 0; i < t->notes.n; i++)
		write_note(&pen, indent_of(t), t->notes.items[i], &memory);
	if (d->explained != NULL) {
		marks &= ~*d->explained;
		*d->explained |= marks;
	}
	write_remark(&pen, PEN_DIM, indent_of(t), show_legend(t, marks, d->has_unicode, &memory));
	arena_release(&memory);
}

static void text_tail(const struct document *d, const struct table *t, struct text *out)
{
	for (size_t i = 0; i < t->nested.n && d->is_plural; i++) {
		text_head(d, t->nested.items[i], false, out);
		text_rows(d, t->nested.items[i], true, out);
	}
}

static void text_end(const struct document *d, struct text *out)
{
	(void)d;
	(void)out;
}

const struct format format_text = {
	.name = "text",
	.extension = ".txt",
	.can_stream = false,
	.is_for_people = true,
	.begin = text_begin,
	.head = text_head,
	.rows = text_rows,
	.tail = text_tail,
	.end = text_end,
};

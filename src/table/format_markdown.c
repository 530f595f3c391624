/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for reports and comments: GitHub Flavored Markdown, github.github.com/gfm. Cells are those of
 * text, unfitted and in UTF-8. Whatever means something in Markdown or HTML is escaped.
 */
#include "base/alloc.h"
#include "table/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "table/grid.h"
#include "table/shown.h"
#include "table/sort.h"

/* No column is hidden for want of room. */
enum { LINE_WIDTH = 1 << 16 };

/* An underscore inside of a word marks nothing. */
static bool is_inside_word(struct span s, size_t at)
{
	return at > 0 && at + 1 < s.size && isalnum((unsigned char)s.bytes[at - 1]) &&
	       isalnum((unsigned char)s.bytes[at + 1]);
}

/* Would it begin a list, a heading or a quotation? */
static bool begins_markdown_block(struct span s)
{
	size_t n = 0;

	if (s.size > 0 && strchr("-+#=", s.bytes[0]) != NULL)
		return true;
	while (n < s.size && isdigit((unsigned char)s.bytes[n]))
		n++;
	return n > 0 && n + 1 < s.size && strchr(".)", s.bytes[n]) != NULL && s.bytes[n + 1] == ' ';
}

static void put_escaped(struct text *out, struct span s)
{
	for (size_t i = 0; i < s.size; i++) {
		char c = s.bytes[i];

		if (c == '&') {
			text_str(out, "&amp;");
			continue;
		}
		if (c != '\0' && strchr("\\`*<>[]|~$", c) != NULL)
			text_char(out, '\\');
		else if (c == '_' && !is_inside_word(s, i))
			text_char(out, '\\');
		text_char(out, c);
	}
}

/* Appends words that begin a line. */
static void put_markdown_line(struct text *out, struct span s)
{
	size_t n = 0;

	if (begins_markdown_block(s)) {
		while (n < s.size && isdigit((unsigned char)s.bytes[n]))
			text_char(out, s.bytes[n++]);
		text_char(out, '\\');
		text_char(out, s.bytes[n++]);
	}
	put_escaped(out, (struct span){ s.bytes + n, s.size - n, 0 });
}

static void put_escaped_words(struct text *out, const char *words)
{
	struct arena memory = { 0 };

	put_escaped(out, span_of(&memory, words, true));
	arena_release(&memory);
}

static void put_paragraph(struct text *out, const char *words, const char *mark)
{
	struct arena memory = { 0 };
	struct span s = span_of(&memory, words, true);

	text_str(out, mark);
	if (mark[0] == '\0')
		put_markdown_line(out, s);
	else
		put_escaped(out, s);
	text_format(out, "%s\n\n", mark);
	arena_release(&memory);
}

static void markdown_modelled(struct text *out)
{
	text_str(out, "*modelled: these numbers are simulated, not measured*\n\n");
}

/* The first sentence says most. */
static void put_answer(const struct table *t, struct text *out)
{
	for (size_t row = 0; row < table_n_rows(t); row++) {
		const char *words = table_cell(t, row, 0)->text;
		const struct cell *command = table_cell(t, row, 1);
		struct text line = { 0 };

		if (!cell_is_absent(command)) {
			text_format(&line, "%s %s", words, command->text);
			text_char(&line, '\0');
		}
		put_paragraph(out, line.n > 0 ? line.bytes : words, row == 0 ? "**" : "");
		text_release(&line);
	}
}

static void put_shown(struct text *out, const struct shown *shown)
{
	for (int part = 0; part < N_PARTS; part++)
		put_escaped(out, shown->parts[part]);
}

/* Lines have no end: what stands below rows in text is a column. */
static unsigned put_grid(const struct table *t, struct text *out)
{
	struct column *columns = mem_alloc(t->n_columns + 1, sizeof(*columns));
	struct table beside = *t;
	struct grid g;
	unsigned marks;

	memcpy(columns, t->columns, t->n_columns * sizeof(*columns));
	for (size_t i = 0; i < t->n_columns; i++)
		columns[i].flags &= ~(unsigned)COLUMN_BELOW;
	beside.columns = columns;
	grid_init(&g, &beside, true, 0, LINE_WIDTH);
	for (size_t i = 0; i < g.n_lanes; i++) {
		text_str(out, i == 0 ? "| " : " | ");
		if (g.lanes[i].heading.width > 0)
			put_escaped(out, g.lanes[i].heading);
		else
			put_escaped_words(out, g.lanes[i].how.column->name);
	}
	text_str(out, " |\n");
	for (size_t i = 0; i < g.n_lanes; i++)
		text_str(out, g.lanes[i].is_left ? "| :--- " : "| ---: ");
	text_str(out, "|\n");
	for (size_t row = 0; row < table_n_rows(t); row++) {
		for (size_t i = 0; i < g.n_lanes; i++) {
			struct shown shown = grid_cell(&g, &g.lanes[i], g.order[row]);

			text_str(out, i == 0 ? "| " : " | ");
			put_shown(out, &shown);
		}
		text_str(out, " |\n");
		arena_reset(&g.scratch);
	}
	text_char(out, '\n');
	marks = g.marks;
	grid_release(&g);
	free(columns);
	return marks;
}

/* Has a list of facts or findings this cell? */
static bool has_words(const struct table *t, size_t row, size_t column)
{
	return column < t->n_columns && (t->columns[column].flags & COLUMN_MACHINE_ONLY) == 0 &&
	       !cell_is_absent(table_cell(t, row, column));
}

static void put_markdown_value(const struct table *t, size_t row, size_t column, unsigned *marks,
			       struct text *out)
{
	const struct cell *cell = table_cell(t, row, column);
	struct arena memory = { 0 };

	*marks |= 1u << cell->mark;
	put_escaped(out, show_words(&t->columns[column], cell, true, &memory));
	arena_release(&memory);
}

/* "- **counted**: sleep 1, 1.01 s" */
static unsigned put_facts(const struct table *t, struct text *out)
{
	unsigned marks = 0;

	for (size_t row = 0; row < table_n_rows(t); row++) {
		text_str(out, "- **");
		if (has_words(t, row, 0))
			put_markdown_value(t, row, 0, &marks, out);
		text_str(out, "**:");
		for (size_t c = 1; c < t->n_columns; c++) {
			if (!has_words(t, row, c))
				continue;
			text_char(out, ' ');
			put_markdown_value(t, row, c, &marks, out);
		}
		text_char(out, '\n');
	}
	text_char(out, '\n');
	return marks;
}

/* A drawing: its lines stay as they are. No line of it can end the block: all are indented. */
static void put_drawing(const char *text, struct text *out)
{
	text_char(out, '\n');
	for (const char *end; *text != '\0'; text = *end == '\0' ? end : end + 1) {
		struct arena memory = { 0 };
		struct span line;

		end = text + strcspn(text, "\n");
		line = span_of(&memory, arena_strndup(&memory, text, (size_t)(end - text)), true);
		text_str(out, "          ");
		text_add(out, line.bytes, line.size);
		text_char(out, '\n');
		arena_release(&memory);
	}
	text_char(out, '\n');
}

static void put_support(const struct table *t, size_t row, size_t column, unsigned *marks,
			struct text *out)
{
	const struct column *c = &t->columns[column];
	const struct cell *cell = table_cell(t, row, column);
	const char *title = c->title != NULL ? c->title : c->name;

	if (cell->type == CELL_TEXT && strchr(cell->text, '\n') != NULL) {
		put_drawing(cell->text, out); /* below the item before */
		return;
	}
	text_str(out, "    - ");
	if (title[0] != '\0' && title[0] != ' ') {
		put_escaped_words(out, title);
		text_str(out, ": ");
	}
	put_markdown_value(t, row, column, marks, out);
	text_char(out, '\n');
}

/* Numbered claims with what supports them. */
static unsigned put_findings(const struct table *t, struct text *out)
{
	unsigned marks = 0;

	for (size_t row = 0; row < table_n_rows(t); row++) {
		text_format(out, "%zu. **", row + 1);
		if (has_words(t, row, 0))
			put_markdown_value(t, row, 0, &marks, out);
		text_str(out, "**");
		if (has_words(t, row, 1)) {
			text_str(out, ": ");
			put_markdown_value(t, row, 1, &marks, out);
		}
		text_char(out, '\n');
		for (size_t c = 2; c < t->n_columns; c++)
			if (has_words(t, row, c))
				put_support(t, row, c, &marks, out);
	}
	text_char(out, '\n');
	return marks;
}

static void markdown_begin(const struct document *d, struct text *out)
{
	if (d->is_modelled)
		markdown_modelled(out);
}

static void markdown_head(const struct document *d, const struct table *t, bool is_first_table,
			  struct text *out)
{
	(void)d;
	(void)is_first_table;
	if (t->title == NULL || t->title[0] == '\0')
		return;
	text_str(out, "### ");
	put_escaped_words(out, t->title);
	text_str(out, "\n\n");
}

static void markdown_rows(const struct document *d, const struct table *t, bool is_first,
			  struct text *out)
{
	struct arena memory = { 0 };
	struct span legend;
	unsigned marks = 0;

	(void)d;
	(void)is_first;
	if (t->style == TABLE_ANSWER)
		put_answer(t, out);
	else if (table_n_rows(t) == 0)
		text_str(out, t->notes.n == 0 ? "none\n\n" : "");
	else if (t->style == TABLE_FACTS)
		marks = put_facts(t, out);
	else if (t->style == TABLE_FINDINGS)
		marks = put_findings(t, out);
	else
		marks = put_grid(t, out);
	for (size_t i = 0; i < t->notes.n; i++)
		put_paragraph(out, t->notes.items[i], "");
	legend = show_legend(t, marks, true, &memory);
	if (legend.size > 0) {
		put_markdown_line(out, legend);
		text_str(out, "\n\n");
	}
	arena_release(&memory);
}

static void markdown_tail(const struct document *d, const struct table *t, struct text *out)
{
	for (size_t i = 0; i < t->nested.n && d->is_plural; i++) {
		markdown_head(d, t->nested.items[i], false, out);
		markdown_rows(d, t->nested.items[i], true, out);
	}
}

static void markdown_end(const struct document *d, struct text *out)
{
	(void)d;
	(void)out;
}

const struct format format_markdown = {
	.name = "markdown",
	.extension = ".md",
	.can_stream = false,
	.is_for_people = true,
	.begin = markdown_begin,
	.head = markdown_head,
	.rows = markdown_rows,
	.tail = markdown_tail,
	.end = markdown_end,
};

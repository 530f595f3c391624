/* SPDX-License-Identifier: Apache-2.0 */
#include "table/prose.h"

#include <stdio.h>
#include <string.h>

#include "table/shown.h"
#include "table/sort.h"

/* Columns between label and value, and between claim and size. */
enum { GAP = 2 };

/* A table being written. */
struct prose {
	const struct table *table;
	struct pen *pen;
	struct arena memory;
	unsigned marks;
};

static bool prose_is_shown(const struct table *t, size_t row, size_t column)
{
	return column < t->n_columns && (t->columns[column].flags & COLUMN_MACHINE_ONLY) == 0 &&
	       !cell_is_absent(table_cell(t, row, column));
}

static struct span prose_words(struct prose *p, size_t row, size_t column)
{
	const struct cell *cell = table_cell(p->table, row, column);

	p->marks |= 1u << cell->mark;
	return show_words(&p->table->columns[column], cell, p->pen->has_unicode, &p->memory);
}

/* The width for labels: the widest, at most a third of the line. */
static size_t prose_label_width(size_t width, const struct pen *pen)
{
	return width < pen->width / 3 ? width : pen->width / 3;
}

static bool is_command(const char *text)
{
	return strncmp(text, "cyclops ", strlen("cyclops ")) == 0;
}

/* A value, wrapped; a command so that it can be pasted. */
static void write_value(struct prose *p, size_t row, size_t column, size_t indent)
{
	const struct cell *cell = table_cell(p->table, row, column);
	struct span words = prose_words(p, row, column);

	if (p->table->columns[column].flags & COLUMN_COMMAND && is_command(cell->text))
		pen_wrap_command(p->pen, words, indent);
	else
		pen_wrap(p->pen, PEN_PLAIN, words, indent, p->pen->width);
}

static void write_fact(struct prose *p, size_t row, size_t label_at, size_t value_at)
{
	const struct table *t = p->table;
	size_t from = value_at;

	if (prose_is_shown(t, row, 0)) {
		p->pen->column = label_at;
		pen_wrap(p->pen, PEN_PLAIN, prose_words(p, row, 0), label_at, value_at - GAP);
	}
	for (size_t c = 1; c < t->n_columns; c++) {
		if (!prose_is_shown(t, row, c))
			continue;
		p->pen->column = from;
		write_value(p, row, c, value_at);
		from = p->pen->column + GAP;
	}
	pen_newline(p->pen);
}

unsigned facts_write(const struct table *t, size_t indent, struct pen *pen)
{
	struct prose p = { .table = t, .pen = pen };
	size_t widest = 0;

	for (size_t row = 0; row < table_n_rows(t); row++) {
		size_t width = prose_is_shown(t, row, 0) ? prose_words(&p, row, 0).width : 0;

		widest = width > widest ? width : widest;
	}
	for (size_t row = 0; row < table_n_rows(t); row++)
		write_fact(&p, row, indent, indent + prose_label_width(widest, pen) + GAP);
	arena_release(&p.memory);
	return p.marks;
}

/*
 * The label of a column: "where:", blanks if it continues the column before, nothing without a
 * title.
 */
static struct span prose_label(struct prose *p, size_t column)
{
	const struct column *c = &p->table->columns[column];
	const char *title = c->title != NULL ? c->title : c->name;
	const char *colon = title[0] != '\0' && title[0] != ' ' ? ":" : "";
	size_t size = strlen(title) + 2;
	char *label = arena_alloc(&p->memory, size);

	snprintf(label, size, "%s%s", title, colon);
	return span_of(&p->memory, label, p->pen->has_unicode);
}

static size_t widest_label(struct prose *p)
{
	size_t widest = 0;

	for (size_t row = 0; row < table_n_rows(p->table); row++)
		for (size_t c = 2; c < p->table->n_columns; c++)
			if (prose_is_shown(p->table, row, c) && prose_label(p, c).width > widest)
				widest = prose_label(p, c).width;
	return widest;
}

/* Writes the claim with its size at the right margin, or on a line of its own if it is long. */
static void write_claim(struct prose *p, size_t row, size_t indent)
{
	struct pen *pen = p->pen;
	struct span size = { 0 };
	size_t end = pen->width;

	if (prose_is_shown(p->table, row, 1))
		size = prose_words(p, row, 1);
	if (size.size > 0 && size.width <= pen->width / 3)
		end -= size.width + GAP;
	if (prose_is_shown(p->table, row, 0))
		pen_wrap(pen, PEN_BOLD, prose_words(p, row, 0), indent, end);
	if (size.size > 0 && end == pen->width) {
		pen_newline(pen);
		pen->column = indent;
		pen_wrap(pen, PEN_PLAIN, size, indent, end);
	} else if (size.size > 0) {
		pen->column = end + GAP;
		pen_write(pen, PEN_PLAIN, size);
	}
	pen_newline(pen);
}

/* Writes a drawing, whose lines are not wrapped. */
static void write_lines(struct prose *p, const char *text, size_t at)
{
	for (const char *end; *text != '\0'; text = *end == '\0' ? end : end + 1) {
		end = text + strcspn(text, "\n");
		p->pen->column = at;
		pen_write(p->pen, PEN_PLAIN,
			  span_of(&p->memory, arena_strndup(&p->memory, text, (size_t)(end - text)),
				  p->pen->has_unicode));
		pen_newline(p->pen);
	}
}

static void write_support(struct prose *p, size_t row, size_t column, size_t label_at,
			  size_t value_at)
{
	const struct cell *cell = table_cell(p->table, row, column);
	struct span label = prose_label(p, column);
	size_t from = label.size > 0 ? value_at : label_at;

	p->pen->column = label_at;
	pen_write(p->pen, PEN_DIM, label);
	if (cell->type == CELL_TEXT && strchr(cell->text, '\n') != NULL) {
		write_lines(p, cell->text, from);
		return;
	}
	p->pen->column = from;
	write_value(p, row, column, from);
	pen_newline(p->pen);
}

unsigned findings_write(const struct table *t, struct pen *pen)
{
	struct prose p = { .table = t, .pen = pen };
	size_t label_width = widest_label(&p);
	char number[32];
	int digits = snprintf(number, sizeof(number), "%zu", table_n_rows(t));

	for (size_t row = 0; row < table_n_rows(t); row++) {
		size_t indent = (size_t)digits + 2;

		snprintf(number, sizeof(number), "%*zu. ", digits, row + 1);
		pen_ascii(pen, PEN_PLAIN, number);
		write_claim(&p, row, indent);
		for (size_t c = 2; c < t->n_columns; c++)
			if (prose_is_shown(t, row, c))
				write_support(&p, row, c, indent, indent + label_width + GAP);
		arena_reset(&p.memory);
	}
	arena_release(&p.memory);
	return p.marks;
}

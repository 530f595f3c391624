/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a fitted grid. */
#include "table/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "table/sort.h"

enum { MAX_HEADING_LINES = 6 };

/* Bars are drawn in eighths of a column. */
static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };

/* A heading, which may have several lines. The last line is above the first row. */
struct heading {
	struct span lines[MAX_HEADING_LINES];
	size_t n;
	size_t start, end; /* columns that it may use */
	bool is_left;	   /* begins at `start`, otherwise ends at `end` */
};

/* The headings of all drawn lanes. */
struct headings {
	struct heading *list;
	size_t n, n_lines;
};

static size_t word_end(struct span s, size_t at)
{
	while (at < s.size && s.bytes[at] != ' ')
		at++;
	return at;
}

/* The first words of `s` that fit a line, at least one. */
static struct span take_line(struct span s, size_t width)
{
	struct span line = span_part(s, 0, word_end(s, 0));

	while (line.size < s.size) {
		struct span longer = span_part(s, 0, word_end(s, line.size + 1));

		if (longer.width > width)
			break;
		line = longer;
	}
	return line;
}

static void break_heading(struct heading *h, struct span s)
{
	size_t width = h->end - h->start;

	while (s.size > 0 && h->n < MAX_HEADING_LINES) {
		struct span line = take_line(s, width);

		h->lines[h->n++] = span_head(line, width);
		s = line.size < s.size ? span_part(s, line.size + 1, s.size) : (struct span){ 0 };
	}
}

/* The width of the bar with the gap behind it. */
static size_t bar_width(const struct lane *lane)
{
	return lane->bar > 0 ? lane->bar + GRID_GAP : 0;
}

static struct headings make_headings(const struct grid *g)
{
	struct headings all = { .list = mem_zalloc(g->n_lanes + 1, sizeof(*all.list)) };
	size_t start = g->indent;

	for (size_t i = 0; i < g->n_lanes; i++) {
		const struct lane *lane = &g->lanes[i];
		struct heading *h = &all.list[all.n];

		if (lane->is_left_out)
			continue;
		all.n++;
		h->start = start;
		h->end = start + bar_width(lane) + lane->width;
		h->is_left = lane->is_left;
		break_heading(h, lane->heading);
		start = h->end + GRID_GAP;
		all.n_lines = h->n > all.n_lines ? h->n : all.n_lines;
	}
	return all;
}

/*
 * The text of a heading in a line, counted from the top of the highest heading; NULL if there is
 * none.
 */
static const struct span *heading_line(const struct headings *all, const struct heading *h,
				       size_t line)
{
	return line + h->n >= all->n_lines ? &h->lines[line + h->n - all->n_lines] : NULL;
}

static size_t heading_column(const struct heading *h, const struct span *line)
{
	return h->is_left ? h->start : h->end - line->width;
}

/*
 * Free columns at the start of the headings' first line. 0 if headings of texts are there: the
 * title could be taken for one.
 */
static size_t room_for_title(const struct headings *all)
{
	size_t room = 0;

	for (size_t i = all->n; i-- > 0;) {
		const struct span *line = heading_line(all, &all->list[i], 0);

		if (line != NULL && all->list[i].is_left)
			return 0;
		if (line != NULL)
			room = heading_column(&all->list[i], line);
	}
	return room;
}

static void draw_title(struct grid *g, const char *title, size_t room, struct pen *pen)
{
	struct span s;

	if (title == NULL || title[0] == '\0')
		return;
	s = span_of(&g->memory, title, g->has_unicode);
	pen_wrap(pen, PEN_BOLD, s, 0, pen->width);
	if (s.width + GRID_GAP > room)
		pen_newline(pen);
}

static void draw_headings(struct grid *g, const char *title, struct pen *pen)
{
	struct headings all = make_headings(g);

	draw_title(g, title, all.n_lines > 0 ? room_for_title(&all) : 0, pen);
	for (size_t k = 0; k < all.n_lines; k++) {
		for (size_t i = 0; i < all.n; i++) {
			const struct span *line = heading_line(&all, &all.list[i], k);

			if (line == NULL)
				continue;
			pen->column = heading_column(&all.list[i], line);
			pen_write(pen, PEN_DIM, *line);
		}
		pen_newline(pen);
	}
	free(all.list);
}

static void draw_bar(const struct lane *lane, const struct cell *cell, struct pen *pen)
{
	size_t start = pen->column, units;
	double share;

	if (cell_is_absent(cell) || cell->type != CELL_NUMBER || !(cell->number > 0))
		return;
	share = cell->number / lane->largest;
	units = (size_t)(share * (double)lane->bar * 8 + 0.5);
	if (!pen->has_unicode) {
		for (size_t i = 0; i < (units + 4) / 8; i++)
			pen_ascii(pen, PEN_PLAIN, "#");
		return;
	}
	for (units = units > 0 ? units : 1; units > 0; units -= units < 8 ? units : 8) {
		const char *block = eighths[units < 8 ? units : 8];
		struct span s = { .bytes = block, .size = strlen(block), .width = 1 };

		if (pen->column < start + lane->bar)
			pen_write(pen, PEN_PLAIN, s);
	}
}

/*
 * Columns that the end of a text keeps if it is cut. An offset is kept whole: "chase_mem…+0x1d8". Names of
 * templates are told apart by what stands in front of the first "<" and behind the last ">", other names often by
 * their end, sentences by their begin.
 */
static size_t kept_tail(struct span text, size_t room)
{
	const char *last = memrchr(text.bytes, '>', text.size);
	const char *plus = memrchr(text.bytes, '+', text.size);
	size_t tail;

	if (plus != NULL && text.size - (size_t)(plus - text.bytes) > 3 && plus[1] == '0' &&
	    plus[2] == 'x') {
		tail = span_part(text, (size_t)(plus - text.bytes), text.size).width;
		return tail < room ? tail : room;
	}
	if (last == NULL || memchr(text.bytes, '<', text.size) == NULL)
		return memchr(text.bytes, ' ', text.size) == NULL ? room / 2 : 0;
	tail = span_part(text, (size_t)(last - text.bytes), text.size).width;
	return tail < room / 2 ? tail : room / 2;
}

static void draw_cut(const struct lane *lane, struct span text, size_t room, struct pen *pen)
{
	struct span dots = { .bytes = "...", .size = 3, .width = 3 };
	bool is_path = (lane->how.column->flags & COLUMN_PATH) != 0;

	if (pen->has_unicode)
		dots = (struct span){ .bytes = "…", .size = strlen("…"), .width = 1 };
	if (room <= dots.width) {
		pen_write(pen, PEN_PLAIN, span_head(dots, room));
	} else if (is_path) {
		pen_write(pen, PEN_PLAIN, dots);
		pen_write(pen, PEN_PLAIN, span_tail(text, room - dots.width));
	} else {
		size_t tail = kept_tail(text, room - dots.width);

		pen_write(pen, PEN_PLAIN, span_head(text, room - dots.width - tail));
		pen_write(pen, PEN_PLAIN, dots);
		pen_write(pen, PEN_PLAIN, span_tail(text, tail));
	}
}

static void draw_text(const struct lane *lane, const struct shown *shown, struct pen *pen)
{
	struct span text = shown->parts[PART_WHOLE], mark = shown->parts[PART_MARK];
	size_t room = lane->width > mark.width ? lane->width - mark.width : 0;

	if (text.width <= room && lane->is_text && !lane->is_left)
		pen->column += room - text.width;
	if (text.width <= room)
		pen_write(pen, shown->is_dim ? PEN_DIM : PEN_PLAIN, text);
	else
		draw_cut(lane, text, room, pen);
	pen_write(pen, PEN_MARK, mark);
}

/*
 * Draws a number, aligned with other rows at the decimal point. The pen is at the start of the
 * lane.
 */
static void draw_number(const struct lane *lane, const struct shown *shown, struct pen *pen)
{
	enum pen_style style = shown->is_dim ? PEN_DIM : PEN_PLAIN;
	size_t at = pen->column + lane->width;

	for (int part = PART_FRACTION; part < N_PARTS; part++)
		at -= lane->part_widths[part];
	pen->column = at - shown->parts[PART_WHOLE].width;
	pen_write(pen, style, shown->parts[PART_WHOLE]);
	for (int part = PART_FRACTION; part < N_PARTS; part++) {
		pen->column = at;
		pen_write(pen, part == PART_MARK ? PEN_MARK : style, shown->parts[part]);
		at += lane->part_widths[part];
	}
}

/* Draws a value. Texts may be cut, numbers never. */
static void draw_value(const struct lane *lane, const struct cell *cell, const struct shown *shown,
		       struct pen *pen)
{
	if (lane->is_text || cell->type == CELL_TEXT)
		draw_text(lane, shown, pen);
	else if (lane->width < lane->content)
		draw_cut(lane, (struct span){ .bytes = "" }, 1, pen);
	else
		draw_number(lane, shown, pen);
}

static void draw_row(struct grid *g, uint32_t row, struct pen *pen)
{
	size_t start = g->indent;

	arena_reset(&g->scratch);
	for (size_t i = 0; i < g->n_lanes; i++) {
		struct lane whole = g->lanes[i];
		const struct lane *lane = &g->lanes[i];
		const struct cell *cell = table_cell(g->table, row, lane->column);
		struct shown shown;

		if (lane->is_left_out)
			continue;
		shown = grid_cell(g, lane, row);
		pen->column = start;
		if (lane->bar > 0)
			draw_bar(lane, cell, pen);
		pen->column = start + bar_width(lane);
		if (grid_cell_spans(g, i, row) && pen->column < g->line_width)
			whole.width = g->line_width - pen->column;
		draw_value(&whole, cell, &shown, pen);
		start += bar_width(lane) + lane->width + GRID_GAP;
	}
	pen_newline(pen);
}

/* Columns that have a line of their own: below the second column, whose rows they explain. */
static void draw_below(struct grid *g, uint32_t row, struct pen *pen)
{
	const struct table *t = g->table;
	size_t indent = g->indent + g->lanes[0].width + GRID_GAP;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];
		const struct cell *cell = table_cell(t, row, i);
		struct text words = { 0 };

		if (!(c->flags & COLUMN_BELOW) || cell_is_absent(cell))
			continue;
		text_format(&words, "%s: %s", c->title != NULL ? c->title : c->name, cell->text);
		text_char(&words, '\0');
		pen->column = indent;
		pen_wrap(pen, PEN_PLAIN, span_of(&g->scratch, words.bytes, g->has_unicode), indent,
			 pen->width);
		text_release(&words);
		pen_newline(pen);
	}
}

void grid_draw(struct grid *g, const char *title, struct pen *pen)
{
	draw_headings(g, title, pen);
	if (g->n_lanes == 0)
		return;
	for (size_t i = 0; i < table_n_rows(g->table); i++) {
		draw_row(g, g->order[i], pen);
		draw_below(g, g->order[i], pen);
	}
}

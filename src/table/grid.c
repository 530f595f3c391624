/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a grid: which columns are shown, and how wide they are. */
#include "table/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "table/human.h"
#include "table/sort.h"

/* Branches of a tree, for one level. */
static const struct branches {
	size_t width;
	const char *through, *blank, *fork, *end, *deeper;
} unicode_branches = { 2, "│ ", "  ", "├ ", "└ ", "… " },
  ascii_branches = { 3, "|  ", "   ", "|- ", "`- ", ".. " };

static bool grid_is_shown(const struct table *t, size_t column)
{
	if (t->columns[column].flags & (COLUMN_MACHINE_ONLY | COLUMN_BELOW))
		return false;
	for (size_t row = 0; row < table_n_rows(t); row++)
		if (!cell_is_absent(table_cell(t, row, column)))
			return true;
	return false;
}

static bool contains_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
		if ((at == text || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
			return true;
	return false;
}

/* Title and unit; no unit if the title or the values contain it, or if rows are of records anyway. */
static struct span grid_heading(const struct column *c, bool has_unicode, struct arena *memory)
{
	const char *title = c->title != NULL ? c->title : c->name;
	bool is_share = (c->flags & COLUMN_SHARE) != 0;
	bool has_unit = title[0] != '\0' && c->unit[0] != '\0' && !contains_word(title, c->unit) &&
			strcmp(c->unit, "records") != 0 && !human_names_unit(c->unit, is_share);
	struct text heading = { 0 };
	struct span span;

	text_str(&heading, title);
	if (c->title == NULL)
		for (size_t i = 0; i < heading.n; i++)
			heading.bytes[i] = heading.bytes[i] == '_' ? ' ' : heading.bytes[i];
	if (has_unit)
		text_format(&heading, " (%s)", c->unit);
	text_char(&heading, '\0');
	span = span_of(memory, arena_strndup(memory, heading.bytes, heading.n), has_unicode);
	text_release(&heading);
	return span;
}

static size_t widest_word(struct span s)
{
	size_t widest = 0;

	for (size_t at = 0; at < s.size; at++) {
		size_t end = at;

		while (end < s.size && s.bytes[end] != ' ')
			end++;
		if (span_part(s, at, end).width > widest)
			widest = span_part(s, at, end).width;
		at = end;
	}
	return widest;
}

static bool is_text_column(const struct column *c)
{
	return c->type == CELL_TEXT || c->type == CELL_BOOL || c->type == CELL_NONE;
}

static void add_lanes(struct grid *g)
{
	const struct table *t = g->table;

	g->lanes = mem_zalloc(t->n_columns, sizeof(*g->lanes));
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];
		struct lane *lane = &g->lanes[g->n_lanes];

		if (!grid_is_shown(t, i))
			continue;
		lane->how = showing_of(t, i, g->has_unicode);
		lane->column = i;
		lane->is_text = is_text_column(c);
		lane->is_left = lane->is_text && !(c->flags & COLUMN_FIGURES);
		lane->is_tree = (c->flags & COLUMN_TREE) != 0 && g->last_child != NULL;
		lane->heading = grid_heading(c, g->has_unicode, &g->memory);
		lane->heading_word = widest_word(lane->heading);
		g->n_lanes++;
	}
}

bool grid_cell_spans(const struct grid *g, size_t lane, uint32_t row)
{
	if (!(g->lanes[lane].how.column->flags & COLUMN_SPAN))
		return false;
	for (size_t i = lane + 1; i < g->n_lanes; i++)
		if (!cell_is_absent(table_cell(g->table, row, g->lanes[i].column)))
			return false;
	return true;
}

static void measure_row(struct grid *g, struct lane *lane, uint32_t row)
{
	const struct cell *cell = table_cell(g->table, row, lane->column);
	struct shown shown = grid_cell(g, lane, row);
	bool is_lined_up = !lane->is_text && cell->type != CELL_TEXT;
	size_t width = shown_width(&shown);

	for (int part = 0; part < N_PARTS && is_lined_up; part++)
		if (shown.parts[part].width > lane->part_widths[part])
			lane->part_widths[part] = shown.parts[part].width;
	if (width > lane->content)
		lane->content = width;
	if (!shown.is_absent && !(lane->how.column->flags & COLUMN_NOTED))
		lane->marks |= 1u << shown.mark;
	if (cell->type == CELL_NUMBER && !shown.is_absent && cell->number > lane->largest)
		lane->largest = cell->number;
}

static void grid_measure(struct grid *g)
{
	for (size_t i = 0; i < table_n_rows(g->table); i++) {
		arena_reset(&g->scratch);
		for (size_t k = 0; k < g->n_lanes; k++)
			if (!grid_cell_spans(g, k, (uint32_t)i))
				measure_row(g, &g->lanes[k], (uint32_t)i);
	}
	for (size_t k = 0; k < g->n_lanes; k++) {
		struct lane *lane = &g->lanes[k];
		size_t lined_up = 0;

		for (int part = 0; part < N_PARTS; part++)
			lined_up += lane->part_widths[part];
		if (lined_up > lane->content)
			lane->content = lined_up;
	}
}

static void find_last_children(struct grid *g)
{
	const uint32_t *parents = g->table->parents.items;
	size_t n = table_n_rows(g->table);

	if (!table_is_tree(g->table))
		return;
	g->last_child = mem_zalloc(n, sizeof(*g->last_child));
	for (size_t i = 0; i < n; i++)
		if (parents[g->order[i]] != ROW_NO_PARENT)
			g->last_child[parents[g->order[i]]] = g->order[i];
}

void grid_init(struct grid *g, const struct table *t, bool has_unicode, size_t indent,
	       size_t line_width)
{
	*g = (struct grid){
		.table = t,
		.has_unicode = has_unicode,
		.indent = indent,
		.line_width = line_width,
		.order = table_tree_order(t),
		.max_levels = line_width / 6,
	};
	find_last_children(g);
	add_lanes(g);
	grid_measure(g);
	grid_fit(g);
	for (size_t i = 0; i < g->n_lanes; i++)
		if (!g->lanes[i].is_left_out)
			g->marks |= g->lanes[i].marks;
}

void grid_release(struct grid *g)
{
	free(g->lanes);
	free(g->order);
	free(g->last_child);
	arena_release(&g->memory);
	arena_release(&g->scratch);
}

/* The branch of a level above a row; `is_own`: the row's own level. */
static const char *branch_of(const struct branches *b, bool is_own, bool is_last)
{
	if (is_own)
		return is_last ? b->end : b->fork;
	return is_last ? b->blank : b->through;
}

/*
 * Puts the branches of the tree before a label. Deep trees show the innermost levels only.
 *
 *   main
 *   ├ parse
 *   │ └ read
 *   └ write
 */
static struct span with_branches(struct grid *g, uint32_t row, struct span label)
{
	const struct branches *b = g->has_unicode ? &unicode_branches : &ascii_branches;
	const uint32_t *parents = g->table->parents.items;
	VEC_OF(const char *) levels = { 0 }; /* innermost first */
	struct text text = { 0 };
	struct span whole;

	for (uint32_t at = row; parents[at] != ROW_NO_PARENT; at = parents[at]) {
		if (levels.n == g->max_levels) {
			levels.items[levels.n - 1] = b->deeper;
			break;
		}
		*vec_add(&levels) = branch_of(b, at == row, g->last_child[parents[at]] == at);
	}
	whole.width = levels.n * b->width + label.width;
	while (levels.n > 0)
		text_str(&text, levels.items[--levels.n]);
	text_add(&text, label.bytes, label.size);
	whole.size = text.n;
	whole.bytes = arena_strndup(&g->scratch, text.bytes, text.n);
	text_release(&text);
	vec_release(&levels);
	return whole;
}

struct shown grid_cell(struct grid *g, const struct lane *lane, uint32_t row)
{
	const struct cell *cell = table_cell(g->table, row, lane->column);
	struct shown shown = show_cell(&lane->how, cell, &g->scratch);

	if (lane->is_tree)
		shown.parts[PART_WHOLE] = with_branches(g, row, shown.parts[PART_WHOLE]);
	return shown;
}

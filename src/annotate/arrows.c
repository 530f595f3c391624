/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrows from branches to their targets, in lanes left of the instructions. The shortest arrows are
 * in the innermost lanes:
 *
 *	╭──► ldr
 *	│╭── b.eq
 *	││   add
 *	│╰─► sub
 *	╰─── b.ne
 */
#include <stdlib.h>
#include <string.h>

#include "annotate/view.h"
#include "base/alloc.h"
#include "base/text.h"

enum {
	MAX_LANES = 5,
	MAX_ARROWS = 64, /* those with the most records are kept */
};

/* Parts of a character cell: bits. */
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, HEAD = 16 };

struct arrow {
	size_t from, to; /* rows */
	uint64_t n;	 /* records of the branch */
	size_t lane;
};

struct drawing {
	VEC_OF(struct arrow) arrows;
	uint8_t *cells; /* n_rows * width */
	size_t n_rows, n_lanes, width;
};

static size_t arrow_length(const struct arrow *a)
{
	return a->from > a->to ? a->from - a->to : a->to - a->from;
}

static int annotate_arrows_compare_rows(const struct arrow *a, const struct arrow *b)
{
	return (a->from > b->from) - (a->from < b->from);
}

static int compare_weights(const void *left, const void *right)
{
	const struct arrow *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return arrow_length(a) != arrow_length(b) ? (arrow_length(a) > arrow_length(b) ? 1 : -1)
						  : annotate_arrows_compare_rows(a, b);
}

static int compare_lengths(const void *left, const void *right)
{
	const struct arrow *a = left, *b = right;

	return arrow_length(a) != arrow_length(b) ? (arrow_length(a) > arrow_length(b) ? 1 : -1)
						  : annotate_arrows_compare_rows(a, b);
}

/* Lists the branches whose both ends are shown. */
static void find_arrows(struct drawing *d, const struct annotation *a, const size_t *rows)
{
	size_t *row_of = mem_alloc(a->list.n + 1, sizeof(*row_of));

	memset(row_of, 0xff, (a->list.n + 1) * sizeof(*row_of));
	for (size_t i = 0; i < d->n_rows; i++)
		if (rows[i] < a->list.n)
			row_of[rows[i]] = i;
	for (size_t i = 0; i < d->n_rows; i++) {
		size_t to = rows[i] < a->list.n ? annotated_target(a, rows[i]) : a->list.n;

		if (to < a->list.n && row_of[to] != SIZE_MAX)
			*vec_add(&d->arrows) = (struct arrow){
				.from = i,
				.to = row_of[to],
				.n = annotated_count(a, rows[i], COUNT_RECORDS) +
				     annotated_count(a, rows[i], COUNT_SAMPLES),
			};
	}
	free(row_of);
	if (d->arrows.n > 1)
		qsort(d->arrows.items, d->arrows.n, sizeof(*d->arrows.items), compare_weights);
	if (d->arrows.n > MAX_ARROWS)
		d->arrows.n = MAX_ARROWS;
	if (d->arrows.n > 1)
		qsort(d->arrows.items, d->arrows.n, sizeof(*d->arrows.items), compare_lengths);
}

static bool annotate_arrows_overlap(const struct arrow *a, const struct arrow *b)
{
	size_t a_low = a->from < a->to ? a->from : a->to;
	size_t b_low = b->from < b->to ? b->from : b->to;

	return a_low <= b_low + arrow_length(b) && b_low <= a_low + arrow_length(a);
}

/* The innermost lane that no overlapping arrow uses; MAX_LANES if there is none. */
static size_t free_lane(const struct drawing *d, size_t arrow)
{
	bool is_taken[MAX_LANES + 1] = { false };
	size_t lane = 0;

	for (size_t i = 0; i < arrow; i++)
		if (annotate_arrows_overlap(&d->arrows.items[i], &d->arrows.items[arrow]))
			is_taken[d->arrows.items[i].lane] = true;
	while (lane < MAX_LANES && is_taken[lane])
		lane++;
	return lane;
}

static uint8_t *cell_at(struct drawing *d, size_t row, size_t column)
{
	return &d->cells[row * d->width + column];
}

/* Draws one end of an arrow, from its lane to the instruction. */
static void draw_end(struct drawing *d, size_t row, size_t lane_column, int vertical, bool has_head)
{
	*cell_at(d, row, lane_column) |= (uint8_t)(vertical | RIGHT);
	for (size_t x = lane_column + 1; x < d->width; x++)
		*cell_at(d, row, x) |= LEFT | RIGHT;
	if (has_head)
		*cell_at(d, row, d->width - 1) |= HEAD;
}

static void draw_arrow(struct drawing *d, const struct arrow *a)
{
	size_t column = d->n_lanes - 1 - a->lane;
	size_t low = a->from < a->to ? a->from : a->to;
	bool is_down = a->from < a->to;

	draw_end(d, a->from, column, a->from == a->to ? 0 : is_down ? DOWN : UP, false);
	draw_end(d, a->to, column, a->from == a->to ? 0 : is_down ? UP : DOWN, true);
	for (size_t row = low + 1; row < low + arrow_length(a); row++)
		*cell_at(d, row, column) |= UP | DOWN;
}

static void draw(struct drawing *d)
{
	for (size_t i = 0; i < d->arrows.n; i++) {
		size_t lane = free_lane(d, i);

		d->arrows.items[i].lane = lane;
		if (lane < MAX_LANES && lane >= d->n_lanes)
			d->n_lanes = lane + 1;
	}
	d->width = d->n_lanes == 0 ? 0 : d->n_lanes + 2;
	d->cells = mem_zalloc(d->n_rows * d->width + 1, 1);
	for (size_t i = 0; i < d->arrows.n; i++)
		if (d->arrows.items[i].lane < MAX_LANES)
			draw_arrow(d, &d->arrows.items[i]);
}

static const char *cell_text_of(uint8_t cell, bool has_unicode)
{
	static const char *const lines[16] = {
		[0] = " ",
		[RIGHT] = "╶",
		[UP | DOWN] = "│",
		[LEFT | RIGHT] = "─",
		[DOWN | RIGHT] = "╭",
		[UP | RIGHT] = "╰",
		[UP | DOWN | RIGHT] = "├",
		[LEFT | RIGHT | DOWN] = "┬",
		[LEFT | RIGHT | UP] = "┴",
		[LEFT | RIGHT | UP | DOWN] = "┼",
	};
	static const char *const ascii[16] = {
		[0] = " ",
		[RIGHT] = "-",
		[UP | DOWN] = "|",
		[LEFT | RIGHT] = "-",
		[DOWN | RIGHT] = ".",
		[UP | RIGHT] = "'",
		[UP | DOWN | RIGHT] = "+",
		[LEFT | RIGHT | DOWN] = "+",
		[LEFT | RIGHT | UP] = "+",
		[LEFT | RIGHT | UP | DOWN] = "+",
	};

	if (cell & HEAD)
		return has_unicode ? "►" : ">";
	return (has_unicode ? lines : ascii)[cell & 15];
}

const char **annotate_arrows(const struct annotation *a, const size_t *rows, size_t n_rows,
			     bool has_unicode, struct arena *memory)
{
	struct drawing d = { .n_rows = n_rows };
	const char **out = arena_alloc(memory, (n_rows + 1) * sizeof(*out));
	struct text line = { 0 };

	find_arrows(&d, a, rows);
	draw(&d);
	for (size_t row = 0; row < n_rows; row++) {
		text_reset(&line);
		for (size_t x = 0; x < d.width; x++)
			text_str(&line, cell_text_of(*cell_at(&d, row, x), has_unicode));
		out[row] = arena_strndup(memory, line.n == 0 ? "" : line.bytes, line.n);
	}
	text_release(&line);
	vec_release(&d.arrows);
	free(d.cells);
	return out;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate/lanes.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"

/* Parts of a character cell: bits. Vertical and horizontal lines have a style each. */
enum {
	UP = 1,
	DOWN = 2,
	LEFT = 4,
	RIGHT = 8,
	HEAD = 16,
	SOLID_UPRIGHT = 32, /* else dashed */
	SOLID_ACROSS = 64,
	HEAVY_UPRIGHT = 128,
	HEAVY_ACROSS = 256,
};

#define NO_LANE SIZE_MAX

/* The arrows to one row, in one lane. */
struct lane_group {
	size_t number; /* as the arrows have it */
	size_t low, high;
	double weight; /* of the heaviest */
	size_t lane;
};

struct drawing {
	VEC_OF(struct lane_group) groups;
	uint16_t *cells; /* n_rows * width */
	size_t n_lanes, width;
};

static int compare_numbers(const void *left, const void *right)
{
	const struct lane_group *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

static int compare_places(const struct lane_group *a, const struct lane_group *b)
{
	if (a->high - a->low != b->high - b->low)
		return a->high - a->low > b->high - b->low ? 1 : -1;
	if (a->low != b->low)
		return a->low > b->low ? 1 : -1;
	return compare_numbers(a, b);
}

static int compare_weights(const void *left, const void *right)
{
	const struct lane_group *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return compare_places(a, b);
}

static int compare_lengths(const void *left, const void *right)
{
	return compare_places(left, right);
}

static void groups_sort(struct drawing *d, int (*compare)(const void *, const void *))
{
	if (d->groups.n > 1)
		qsort(d->groups.items, d->groups.n, sizeof(*d->groups.items), compare);
}

/* One group for each number, with the rows that it spans. */
static void find_groups(struct drawing *d, const lane_arrows *arrows)
{
	size_t n = 0;

	for (size_t i = 0; i < arrows->n; i++) {
		const struct lane_arrow *a = &arrows->items[i];

		*vec_add(&d->groups) = (struct lane_group){
			.number = a->group,
			.low = a->from < a->to ? a->from : a->to,
			.high = a->from < a->to ? a->to : a->from,
			.weight = a->weight,
		};
	}
	groups_sort(d, compare_numbers);
	for (size_t i = 0; i < d->groups.n; i++) {
		const struct lane_group g = d->groups.items[i];
		struct lane_group *last = n > 0 ? &d->groups.items[n - 1] : NULL;

		if (last == NULL || last->number != g.number) {
			d->groups.items[n++] = g;
			continue;
		}
		last->low = g.low < last->low ? g.low : last->low;
		last->high = g.high > last->high ? g.high : last->high;
		last->weight = g.weight > last->weight ? g.weight : last->weight;
	}
	d->groups.n = n;
}

/* The innermost lane that no group before this one uses in its rows; `most` if there is none. */
static size_t free_lane(const struct drawing *d, size_t group, size_t most, bool *is_taken)
{
	const struct lane_group *g = &d->groups.items[group];
	size_t lane = 0;

	for (size_t i = 0; i < most; i++)
		is_taken[i] = false;
	for (size_t i = 0; i < group; i++) {
		const struct lane_group *other = &d->groups.items[i];

		if (other->lane < most && other->low <= g->high && g->low <= other->high)
			is_taken[other->lane] = true;
	}
	while (lane < most && is_taken[lane])
		lane++;
	return lane;
}

/* Leaves out groups where more than `most` would be beside one row: the lightest of them. */
static void choose_groups(struct drawing *d, size_t n_rows, size_t most)
{
	size_t *n_beside = mem_zalloc(n_rows + 1, sizeof(*n_beside)), n = 0;

	groups_sort(d, compare_weights);
	for (size_t i = 0; i < d->groups.n; i++) {
		const struct lane_group g = d->groups.items[i];
		bool fits = most > 0;

		for (size_t row = g.low; row <= g.high; row++)
			fits &= n_beside[row] < most;
		if (!fits)
			continue;
		for (size_t row = g.low; row <= g.high; row++)
			n_beside[row]++;
		d->groups.items[n++] = g;
	}
	d->groups.n = n;
	free(n_beside);
}

/* Gives lanes to the groups, to the shortest first. */
static void assign_lanes(struct drawing *d, size_t most)
{
	bool *is_taken = mem_alloc(most + 1, sizeof(*is_taken));

	groups_sort(d, compare_lengths);
	for (size_t i = 0; i < d->groups.n; i++) {
		size_t lane = free_lane(d, i, most, is_taken);

		d->groups.items[i].lane = lane < most ? lane : NO_LANE;
		if (lane < most && lane >= d->n_lanes)
			d->n_lanes = lane + 1;
	}
	free(is_taken);
}

static const struct lane_group *group_find(const struct drawing *d, size_t number)
{
	for (size_t i = 0; i < d->groups.n; i++)
		if (d->groups.items[i].number == number)
			return &d->groups.items[i];
	return NULL;
}

static uint16_t *cell_at(struct drawing *d, size_t row, size_t column)
{
	return &d->cells[row * d->width + column];
}

/* Draws one end of an arrow, from its lane to the text. */
static void draw_end(struct drawing *d, size_t row, size_t column, int upright,
		     enum lane_style style, bool has_head)
{
	int across = style == LANE_HEAVY   ? SOLID_ACROSS | HEAVY_ACROSS
		     : style == LANE_LIGHT ? SOLID_ACROSS
					   : 0;

	*cell_at(d, row, column) |= (uint16_t)(upright | RIGHT | across);
	for (size_t x = column + 1; x < d->width; x++)
		*cell_at(d, row, x) |= (uint16_t)(LEFT | RIGHT | across);
	if (has_head)
		*cell_at(d, row, d->width - 1) |= HEAD;
}

static void draw_arrow(struct drawing *d, const struct lane_arrow *a, size_t lane)
{
	size_t column = d->n_lanes - 1 - lane;
	size_t low = a->from < a->to ? a->from : a->to, high = a->from < a->to ? a->to : a->from;
	int upright = a->style == LANE_HEAVY   ? SOLID_UPRIGHT | HEAVY_UPRIGHT
		      : a->style == LANE_LIGHT ? SOLID_UPRIGHT
					       : 0;
	int down = low == high ? 0 : DOWN | upright, up = low == high ? 0 : UP | upright;

	draw_end(d, a->from, column, a->from == low ? down : up, a->style, false);
	draw_end(d, a->to, column, a->to == low ? down : up, a->style, true);
	for (size_t row = low + 1; row < high; row++)
		*cell_at(d, row, column) |= (uint16_t)(UP | DOWN | upright);
}

/* Glyphs by the lines that meet; by style: light, heavy upright, heavy across, heavy both. */
static const char *const lines[16][4] = {
	[0] = { " ", " ", " ", " " },
	[RIGHT] = { "╶", "╶", "╺", "╺" },
	[UP | DOWN] = { "│", "┃", "│", "┃" },
	[LEFT | RIGHT] = { "─", "─", "━", "━" },
	[DOWN | RIGHT] = { "╭", "┎", "┍", "┏" },
	[UP | RIGHT] = { "╰", "┖", "┕", "┗" },
	[UP | DOWN | RIGHT] = { "├", "┠", "┝", "┣" },
	[LEFT | RIGHT | DOWN] = { "┬", "┰", "┯", "┳" },
	[LEFT | RIGHT | UP] = { "┴", "┸", "┷", "┻" },
	[LEFT | RIGHT | UP | DOWN] = { "┼", "╂", "┿", "╋" },
};

static const char *const ascii[16][4] = {
	[0] = { " ", " ", " ", " " },
	[RIGHT] = { "-", "-", "=", "=" },
	[UP | DOWN] = { "|", "#", "|", "#" },
	[LEFT | RIGHT] = { "-", "-", "=", "=" },
	[DOWN | RIGHT] = { ".", "#", ".", "#" },
	[UP | RIGHT] = { "'", "#", "'", "#" },
	[UP | DOWN | RIGHT] = { "+", "#", "+", "#" },
	[LEFT | RIGHT | DOWN] = { "+", "#", "+", "#" },
	[LEFT | RIGHT | UP] = { "+", "#", "+", "#" },
	[LEFT | RIGHT | UP | DOWN] = { "+", "#", "+", "#" },
};

static const char *glyph(uint16_t cell, bool has_unicode)
{
	int shape = cell & (UP | DOWN | LEFT | RIGHT);
	int style = (cell & HEAVY_UPRIGHT ? 1 : 0) + (cell & HEAVY_ACROSS ? 2 : 0);

	if (cell & HEAD)
		return has_unicode ? "►" : ">";
	if (shape == (UP | DOWN) && !(cell & SOLID_UPRIGHT))
		return has_unicode ? "╎" : ":";
	if (shape == (LEFT | RIGHT) && !(cell & SOLID_ACROSS))
		return has_unicode ? "╌" : ".";
	return (has_unicode ? lines : ascii)[shape][style];
}

const char **lanes_draw(lane_arrows *arrows, size_t n_rows, size_t most, bool has_unicode,
			struct arena *memory)
{
	const char **out = arena_alloc(memory, (n_rows + 1) * sizeof(*out));
	struct drawing d = { 0 };
	struct text line = { 0 };

	find_groups(&d, arrows);
	choose_groups(&d, n_rows, most);
	assign_lanes(&d, most);
	d.width = d.n_lanes == 0 ? 0 : d.n_lanes + 2;
	d.cells = mem_zalloc(n_rows * d.width + 1, sizeof(*d.cells));
	for (size_t i = 0; i < arrows->n; i++) {
		const struct lane_group *group = group_find(&d, arrows->items[i].group);

		arrows->items[i].is_drawn = group != NULL && group->lane != NO_LANE;
		if (arrows->items[i].is_drawn)
			draw_arrow(&d, &arrows->items[i], group->lane);
	}
	for (size_t row = 0; row < n_rows; row++) {
		text_reset(&line);
		for (size_t x = 0; x < d.width; x++)
			text_str(&line, glyph(*cell_at(&d, row, x), has_unicode));
		out[row] = arena_strndup(memory, line.n == 0 ? "" : line.bytes, line.n);
	}
	text_release(&line);
	vec_release(&d.groups);
	free(d.cells);
	return out;
}

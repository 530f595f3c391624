/* SPDX-License-Identifier: Apache-2.0 */
/* The grid style of the text format: columns below headings, fitted to a width. */
#ifndef CYCLOPS_TABLE_GRID_H
#define CYCLOPS_TABLE_GRID_H

#include "table/pen.h"
#include "table/shown.h"

/*
 * A column as it is drawn.
 *
 *	|<------------- lane ------------->|
 *	|<-- bar -->|  |<----- width ----->|
 *	 ████████       ≥ 36 | .8 |  G | ~		parts, lined up over all rows
 */
struct lane {
	struct showing how;
	size_t column; /* index of the table's column */
	bool is_text;  /* may be cut */
	bool is_left;  /* left-aligned */
	bool is_tree;
	size_t part_widths[N_PARTS]; /* widest of each */
	size_t content;		     /* widest cell */
	struct span heading;	     /* title and unit */
	size_t heading_word;	     /* width of its longest word */
	double largest;		     /* the value of a full bar */
	size_t width, bar;	     /* on the screen; bar 0: none */
	unsigned marks;		     /* in its cells: bit n for mark n */
	bool is_left_out;	     /* does not fit */
};

/* A table laid out as a grid. */
struct grid {
	const struct table *table;
	bool has_unicode;
	size_t indent, line_width;
	struct lane *lanes;
	size_t n_lanes;
	uint32_t *order;      /* rows from top to bottom */
	uint32_t *last_child; /* of each row, in that order; NULL if the table is no tree */
	size_t max_levels;    /* levels of the tree that are drawn */
	unsigned marks;	      /* of all shown lanes */
	struct arena memory;  /* for headings */
	struct arena scratch; /* for one row */
};

/* Space between lanes, and between a bar and its number. */
enum { GRID_GAP = 2 };

/* Lays the table out for lines of `line_width`, indented by `indent`. */
void grid_init(struct grid *, const struct table *, bool has_unicode, size_t indent,
	       size_t line_width);
void grid_release(struct grid *);

/* A cell as it is shown, with branches of the tree. Valid until the next row. */
struct shown grid_cell(struct grid *, const struct lane *, uint32_t row);

/* Does the cell of a lane take the rest of its line (COLUMN_SPAN)? */
bool grid_cell_spans(const struct grid *, size_t lane, uint32_t row);

/* Sets the widths of lanes. Lanes on the right are left out if they do not fit. */
void grid_fit(struct grid *);

/*
 * Draws headings and rows. The title (NULL: none) is above the headings, or in their line if all of
 * them are of numbers and leave room.
 */
void grid_draw(struct grid *, const char *title, struct pen *);

#endif

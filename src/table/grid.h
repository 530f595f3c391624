/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as columns below headings, fitted to a width: the grid style of the text format. */
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
	size_t column; /* index in the table */
	bool is_text;  /* starts at the left; may be cut */
	bool is_tree;
	size_t part_widths[N_PARTS]; /* widest of each */
	size_t content;		     /* widest cell */
	struct span heading;	     /* title and unit */
	size_t heading_word;	     /* its widest word */
	double largest;		     /* full length of the bar */
	size_t width, bar;	     /* on screen; bar 0: none */
	unsigned marks;		     /* seen in its cells: bit n is mark n */
	bool is_left_out;	     /* there is no room for it */
};

/* A table as a grid: its lanes, and the order of rows. */
struct grid {
	const struct table *table;
	bool has_unicode;
	size_t indent, line_width;
	struct lane *lanes;
	size_t n_lanes;
	uint32_t *order;      /* rows from top to bottom */
	uint32_t *last_child; /* of each row, in that order; NULL if the table is no tree */
	size_t max_levels;    /* of the tree that are drawn */
	unsigned marks;	      /* of all lanes that are shown */
	struct arena memory;  /* for headings */
	struct arena scratch; /* for one row */
};

/* Space between lanes, and between a bar and its number. */
enum { GRID_GAP = 2 };

/* Measures and fits the table into lines of `line_width`, the rows beginning at `indent`. */
void grid_init(struct grid *, const struct table *, bool has_unicode, size_t indent,
	       size_t line_width);
void grid_release(struct grid *);

/* Shows a cell of a lane, branches of the tree included. Valid until the next row is shown. */
struct shown grid_cell(struct grid *, const struct lane *, uint32_t row);

/* Gives each lane its width, and leaves out those on the right that have no room. */
void grid_fit(struct grid *);

/*
 * Draws headings and rows. The title (may be NULL) stands above, or in the line of the
 * headings if those are all of numbers and leave it room.
 */
void grid_draw(struct grid *, const char *title, struct pen *);

#endif

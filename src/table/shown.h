/* SPDX-License-Identifier: Apache-2.0 */
/* A cell as text shows it, before it has a place on a line. */
#ifndef CYCLOPS_TABLE_SHOWN_H
#define CYCLOPS_TABLE_SHOWN_H

#include "table/table.h"
#include "table/utf8.h"

/* A column of numbers is lined up part by part; other cells have the first alone. */
enum part {
	PART_WHOLE, /* digits before the point; or all of a text */
	PART_FRACTION,
	PART_SUFFIX,
	PART_MARK, /* sign of trust */
	N_PARTS,
};

struct shown {
	struct span parts[N_PARTS];
	bool is_absent;	     /* a dash where numbers would stand, nothing in place of a text */
	bool is_dim;	     /* absent, or not reliable */
	enum cell_mark mark; /* whose sign it has */
};

/* What is the same for all cells of a column. */
struct showing {
	const struct column *column;
	int decimals; /* see human_number() */
	bool has_unicode;
};

/* The way to show column `column` of the table. */
struct showing showing_of(const struct table *, size_t column, bool has_unicode);

/* Shows a cell. The spans live as long as the cell's text and `memory`. */
struct shown show_cell(const struct showing *, const struct cell *, struct arena *memory);

/* A cell with its unit, as a sentence has it: "36.8 G cycles~". */
struct span show_words(const struct column *, const struct cell *, bool has_unicode,
		       struct arena *memory);

/* Columns that all parts take side by side. */
size_t shown_width(const struct shown *);

/* What the signs mean: "~ …   ? …" for those in `marks` (bit n: mark n), "" if none. */
struct span show_legend(unsigned marks, bool has_unicode, struct arena *memory);

#endif

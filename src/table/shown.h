/* SPDX-License-Identifier: Apache-2.0 */
/* A cell as text, before it is placed on a line. */
#ifndef CYCLOPS_TABLE_SHOWN_H
#define CYCLOPS_TABLE_SHOWN_H

#include "table/table.h"
#include "table/utf8.h"

/* Parts of a cell, aligned over all rows. Texts have the first part only. */
enum part {
	PART_WHOLE, /* digits before the point, or a whole text */
	PART_FRACTION,
	PART_SUFFIX,
	PART_MARK, /* sign of the mark */
	N_PARTS,
};

struct shown {
	struct span parts[N_PARTS];
	bool is_absent;	     /* shown as a dash in numeric columns, else as nothing */
	bool is_dim;	     /* absent, or not reliable */
	enum cell_mark mark; /* the mark whose sign it has */
};

/* What all cells of a column have in common. */
struct showing {
	const struct column *column;
	int decimals; /* see human_number() */
	bool has_unicode;
};

/* How to show a column of the table. */
struct showing showing_of(const struct table *, size_t column, bool has_unicode);

/* Shows a cell. The spans live as long as the cell's text and `memory`. */
struct shown show_cell(const struct showing *, const struct cell *, struct arena *memory);

/* A cell with its unit, for sentences: "36.8 G cycles~". */
struct span show_words(const struct column *, const struct cell *, bool has_unicode,
		       struct arena *memory);

/* The width of all parts together. */
size_t shown_width(const struct shown *);

/* The legend of a table's signs, "~ …   ? …", for the marks in `marks` (bit n: mark n); "" if it is 0. */
struct span show_legend(const struct table *, unsigned marks, bool has_unicode,
			struct arena *memory);

#endif

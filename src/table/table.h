/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers. A table has named, typed columns with a unit and a meaning in one line. Rows may have a
 * parent. A cell may have a mark of trust. Every analysis makes tables, every format writes any
 * table.
 */
#ifndef CYCLOPS_TABLE_TABLE_H
#define CYCLOPS_TABLE_TABLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

enum cell_type {
	CELL_NONE,   /* absent: nothing was recorded */
	CELL_COUNT,  /* unsigned 64-bit number */
	CELL_SIGNED, /* signed 64-bit number */
	CELL_NUMBER, /* double */
	CELL_HEX,    /* address or bits: 0x… in every format (a string in json) */
	CELL_TEXT,
	CELL_BOOL,
};

/* How far a value can be trusted. Text shows a sign, csv and json a word. */
enum cell_mark {
	MARK_EXACT,
	MARK_SCALED,	  /* scaled up from a part of the time (multiplexing) or from samples */
	MARK_SPARSE,	  /* too few samples to be reliable */
	MARK_SATURATED,	  /* a saturated counter: a lower bound */
	MARK_NOISE,	  /* a difference within the noise */
	MARK_AT_MOST,	  /* saturated counters elsewhere: an upper bound */
	MARK_UNCERTAIN,	  /* saturated counters on both sides: may be more or less */
	MARK_AT_LEAST,	  /* a number of distinct things that were sampled: there may be more */
	MARK_BIASED,	  /* samples prefer some of it: only an order of magnitude */
	MARK_INCOMPLETE,  /* a part of it was not collected: a lower bound */
	MARK_IMPLAUSIBLE, /* impossible: the counts contradict each other */
	N_MARKS,
};

/* The mark of a value that may be higher or lower than shown. Exact if neither. */
static inline enum cell_mark mark_bound(bool may_be_more, bool may_be_less)
{
	if (may_be_more)
		return may_be_less ? MARK_UNCERTAIN : MARK_SATURATED;
	return may_be_less ? MARK_AT_MOST : MARK_EXACT;
}

struct cell {
	enum cell_type type;
	enum cell_mark mark;
	union {
		uint64_t count; /* CELL_COUNT, CELL_HEX, CELL_BOOL */
		int64_t number_signed;
		double number;
		const char *text; /* NUL-terminated, lives as long as the table or longer */
	};
};

enum column_flags {
	COLUMN_BAR = 1,		 /* text: with a bar (the value is a share, 0 … 1) */
	COLUMN_GROW = 2,	 /* text: may be cut to fit; gets spare width */
	COLUMN_MACHINE_ONLY = 4, /* only in csv and json */
	COLUMN_TREE = 8,	 /* text: indented by depth in the tree */
	COLUMN_SHARE = 16,	 /* a share 0 … 1, in text a percentage */
	COLUMN_TEXT_ONLY = 32,	 /* only in text: derived from other columns */
	COLUMN_TRUST = 64,	 /* cells may be marked: csv has a column NAME_trust, too */
	/* text: cut at the start, so that the end of the path is visible */
	COLUMN_PATH = 128,
	COLUMN_SPARK = 256,	/* text: digits 0 … 8 as a sparkline */
	COLUMN_BLANK = 512,	/* text: absent cells are empty, not "-" */
	COLUMN_COMMAND = 2048,	/* text: what begins with "cyclops " is a command to paste */
	COLUMN_WIDE = 1024,	/* text: gets two fifths of the line before others are cut */
	COLUMN_YIELD = 4096,	/* text, with COLUMN_GROW: cut to little before others are cut */
	COLUMN_WHOLE = 8192,	/* text: never cut */
	COLUMN_FIGURES = 32768, /* text: amounts in words, aligned as numbers are */
	COLUMN_SPAN = 262144,	/* text: where all cells behind it are absent, it takes the line */
	/*
	 * A sentence for people in csv and json, too, whose wording may change. Its numbers are in other
	 * columns. No other text has amounts in it.
	 */
	COLUMN_MESSAGE = 16384,
	COLUMN_BELOW = 65536,	/* text: on a line of its own below the row, after the title */
	COLUMN_SOURCE = 131072, /* a data source: in text an absent one is "no data source" */
	COLUMN_NOTED = 524288,	/* a note of the table says what its marks mean: no legend does */
};

/* Constant data of the analysis. */
struct column {
	const char *name;  /* for csv and json, never changed: lower_case_with_unit_ns */
	const char *title; /* heading in text; NULL: the name */
	/*
	 * "cycles", "ns", "bytes", "records" …; "": a ratio or an id (pid, cpu, line), which text
	 * does not scale
	 */
	const char *unit;
	enum cell_type type; /* of its cells, which may be CELL_NONE, too */
	unsigned flags;	     /* enum column_flags */
	const char *meaning; /* one line */
};

#define ROW_NO_PARENT UINT32_MAX

/* The style in text; csv and json ignore it. */
enum table_style {
	TABLE_GRID,  /* columns below headings */
	TABLE_FACTS, /* a line per row: the first column is the label */
	/*
	 * numbered findings: the first column is the claim, the second its size at the right
	 * margin; further columns have lines of their own, after their title
	 */
	TABLE_FINDINGS,
	TABLE_ANSWER, /* sentences for people, the first of which stands out (answer.h) */
};

/* Who a table is for. Facts in words for people have typed columns for programs as their twin. */
enum table_readers { TABLE_FOR_ALL, TABLE_FOR_PEOPLE, TABLE_FOR_PROGRAMS };

struct table {
	const char *name;  /* for --table, csv and json, never changed */
	const char *title; /* a heading; NULL: none */
	const struct column *columns;
	size_t n_columns;
	VEC_OF(struct cell) cells;  /* n_rows * n_columns */
	VEC_OF(uint32_t) parents;   /* by row; ROW_NO_PARENT: top level. Parents precede children */
	VEC_OF(const char *) notes; /* lines below the table; a list in json */
	struct arena memory;	    /* texts of this table */
	enum table_style style;
	enum table_readers readers;
	/* By mark, what the legend says of it where it means something else here; NULL: the usual. Borrowed. */
	const char *const *meanings;
	/* json: an object with the first column as keys, not a list */
	bool is_keyed;
	VEC_OF(struct table *) nested; /* see table_nest(); borrowed */
};

/* An empty table. The columns are borrowed. */
void table_init(struct table *, const char *name, const char *title, const struct column *columns,
		size_t n_columns);
void table_release(struct table *);

/*
 * Copies the columns to the table's memory, with room for `n_more`. The copy may be changed and
 * appended to (count appended columns in t->n_columns), before the first row is added.
 */
struct column *table_own_columns(struct table *t, size_t n_more);

/* Appends a column to a list of `n`, unless the name is there already. Returns the new `n`. */
size_t columns_add(struct column *list, size_t n, const struct column *);

/* Removes rows and notes, keeps columns and memory. For streaming. */
void table_reset(struct table *);

/*
 * Nests `inner` in `outer`. The first columns of both hold the same key. Json writes the matching
 * inner rows as a list in each row of `outer`; other formats write `inner` behind `outer`. `inner`
 * is borrowed, must outlive `outer`, and is not listed in `struct tables`. One level only. `outer`
 * cannot be streamed.
 */
void table_nest(struct table *outer, struct table *inner);

size_t table_n_rows(const struct table *);

/* Appends a row of absent cells and returns its first cell, valid until the next row is added. */
struct cell *table_add_row(struct table *);

/* The same with a parent. Children may be added at any time after it. */
struct cell *table_add_child(struct table *, uint32_t parent_row);

const struct cell *table_cell(const struct table *, size_t row, size_t column);

/* The index of the column of that name, or -1. */
int table_column(const struct table *, const char *name);

/* Copies a text to the table's memory. */
const char *table_text(struct table *, const char *text);

/* The same of a text that was put together, which is released. */
const char *table_take_text(struct table *, struct text *);

/* The same as a cell; absent if the text is NULL. */
struct cell table_text_cell(struct table *, const char *text);

/* A text made by printf's rules; it lives as long as the table's rows. */
const char *table_format(struct table *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *table_vformat(struct table *, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void table_note(struct table *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Adds a row with a name and a text, for TABLE_FACTS, unless the text is empty. Empties the text.
 */
void table_fact(struct table *, const char *name, struct text *value);

/* A value with its unit as people read it (human.h): "36.8 G cycles", "1.24 ms". */
const char *table_human(struct table *, struct cell value, const char *unit);

/* A number with four significant digits, right-aligned in ten columns. */
const char *table_significant(struct table *, double value);

/* The sign of a mark behind a number ("~"; of bounds it is before it), and what it means. */
const char *mark_sign(enum cell_mark);
const char *mark_meaning(enum cell_mark);

static inline struct cell cell_count(uint64_t v)
{
	return (struct cell){ .type = CELL_COUNT, .count = v };
}

static inline struct cell cell_signed(int64_t v)
{
	return (struct cell){ .type = CELL_SIGNED, .number_signed = v };
}

static inline struct cell cell_number(double v)
{
	return (struct cell){ .type = CELL_NUMBER, .number = v };
}

static inline struct cell cell_hex(uint64_t v)
{
	return (struct cell){ .type = CELL_HEX, .count = v };
}

static inline struct cell cell_bool(bool v)
{
	return (struct cell){ .type = CELL_BOOL, .count = v };
}

static inline struct cell cell_text(const char *text)
{
	return (struct cell){ .type = CELL_TEXT, .text = text };
}

static inline struct cell cell_marked(struct cell cell, enum cell_mark mark)
{
	cell.mark = mark;
	return cell;
}

/*
 * Sorts rows by a column: quantities descending, names (texts, addresses, numbers without a unit)
 * ascending; `reverse` the other way. Ties are ordered by the other columns from the left, never
 * reversed, then by row number: a total order. Children follow their parent and are sorted among
 * themselves. Absent cells are last.
 */
void table_sort(struct table *, size_t column, bool reverse);

/* The column that --sort names, or -1 and an error. */
int table_sort_column(const struct table *, const char *name, struct err *);

/*
 * Keeps the first `n` rows of the top level and of each parent. Returns how many top-level rows
 * were cut, for a note.
 */
size_t table_keep_top(struct table *, size_t n);

/* Keeps the wanted rows, in order. The table must have no children. Returns how many. */
typedef bool row_wanted(const struct table *, size_t row, const void *context);
size_t table_keep(struct table *, row_wanted *, const void *context);

/* As table_keep_top(), 0 keeps all; adds a note on how many were cut. */
void table_show_top(struct table *, size_t n);

/*
 * Sorts by the column `name` (NULL: keeps the order) and shows the first `n` rows: --sort and
 * --top.
 */
int table_sort_by(struct table *, const char *name, size_t n, struct err *);

/* The tables of an answer; borrowed. */
struct tables {
	VEC_OF(struct table *) list;
};

/* The table of that name, nested ones included, or NULL. */
struct table *tables_find(const struct tables *, const char *name);

/*
 * What --columns asks for: the columns "a,b,c", in this order, of each table that has any of them, nested
 * ones included. Columns for programs are shown, too. Tables that have none, but for the answer, are taken
 * off the list. A table with nested ones keeps its first column, which is their key. An error if no table has
 * a column of one of the names.
 */
int tables_keep_columns(struct tables *, const char *names, struct err *);

#endif

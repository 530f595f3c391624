/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: named, typed columns with a unit and a one-line meaning; rows, perhaps with a
 * parent; each cell may carry a mark of trust. Every analysis yields tables, every format
 * renders any table.
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

/* How far a value can be believed. Text shows a sign behind the value, csv and json a word. */
enum cell_mark {
	MARK_EXACT,
	MARK_SCALED,	  /* extrapolated from a part of the time (multiplexing) or from sampling */
	MARK_SPARSE,	  /* too few samples to be reliable */
	MARK_SATURATED,	  /* the counter was full: a lower bound */
	MARK_NOISE,	  /* a difference within the noise */
	MARK_AT_MOST,	  /* other counters were full: an upper bound */
	MARK_UNCERTAIN,	  /* this and other counters were full: more or less than that */
	MARK_AT_LEAST,	  /* distinct things that samples met: there are more */
	MARK_IMPLAUSIBLE, /* cannot be: what was counted contradicts itself */
};

/* What bounds a value: from below, from above, from neither or both (exact) sides. */
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
	COLUMN_BAR = 1,		 /* text: draw a bar beside it (the value is a share, 0 … 1) */
	COLUMN_GROW = 2,	 /* text: may be cut to make the table fit; gets spare room */
	COLUMN_MACHINE_ONLY = 4, /* not shown in text */
	COLUMN_TREE = 8,	 /* text: indented by the depth of the row */
	COLUMN_SHARE = 16,	 /* a share 0 … 1; text prints it in per cent */
	COLUMN_TEXT_ONLY = 32,	 /* shown in text alone: derived from others, for people */
	COLUMN_TRUST = 64,	 /* cells may be marked: csv has a column NAME_trust beside it */
	COLUMN_PATH = 128,	 /* text: cut at its start, so that the end of a path stays */
	COLUMN_SPARK = 256,	 /* text: digits 0 … 8, drawn as a line of small bars */
	COLUMN_BLANK = 512,	 /* text: absent cells are blank, not "-" */
	COLUMN_COMMAND = 2048,	 /* text: what begins with "cyclops " is a command to be pasted */
	COLUMN_WIDE = 1024,	 /* text: gets two fifths of the line before others are cut */
};

/* Constant data of the analysis that makes the table. */
struct column {
	const char *name;    /* stable, for csv and json: lower_case_with_unit_ns */
	const char *title;   /* heading in text; NULL: the name */
	const char *unit;    /* "cycles", "ns", "bytes", "records" …; a number without one ("")
				names something (pid, cpu, line): text writes it plain */
	enum cell_type type; /* of its cells, or CELL_NONE where absent */
	unsigned flags;	     /* enum column_flags */
	const char *meaning; /* one line */
};

#define ROW_NO_PARENT UINT32_MAX

/* How text shows the table; csv and json do not care. */
enum table_style {
	TABLE_GRID,	/* headings and columns */
	TABLE_FACTS,	/* a line for each row: its first column is the label of the others */
	TABLE_FINDINGS, /* numbered claims: the first column, its size (the second) at the right
			   margin, each further column on a line of its own led by its title */
	TABLE_ANSWER,	/* sentences for people, the first of which stands out (answer.h) */
};

struct table {
	const char *name;  /* stable, for --table, csv, json */
	const char *title; /* a heading in words; NULL: none */
	const struct column *columns;
	size_t n_columns;
	VEC_OF(struct cell) cells;  /* n_rows * n_columns */
	VEC_OF(uint32_t) parents;   /* of each row, or ROW_NO_PARENT; a parent comes first */
	VEC_OF(const char *) notes; /* lines below the table, in text; a list in json */
	struct arena memory;	    /* for texts made for this table */
	enum table_style style;
	bool is_keyed;		       /* json: an object by the first column, not a list */
	VEC_OF(struct table *) nested; /* see table_nest(); borrowed */
};

/* An empty table with these columns, which are borrowed. */
void table_init(struct table *, const char *name, const char *title, const struct column *columns,
		size_t n_columns);
void table_release(struct table *);

/*
 * Copies the columns into the table's own memory, with room behind them for `n_more`. Returns the
 * copy, to be changed: columns that are appended count in t->n_columns. Before the first row.
 */
struct column *table_own_columns(struct table *t, size_t n_more);

/* Appends a column to a list of `n`, unless it has one of that name. Returns the new `n`. */
size_t columns_add(struct column *list, size_t n, const struct column *);

/* Removes the rows and notes, keeps columns and memory: for tables that are streamed. */
void table_reset(struct table *);

/*
 * Makes `inner` a table whose rows belong to rows of `outer`: their first columns hold the
 * same key. Json writes each row of `outer` with the list of its inner rows, the other
 * formats write `inner` behind `outer`. `inner` is borrowed and must live as long as `outer`;
 * it is not listed in `struct tables` itself. One level deep; an outer table cannot be
 * streamed.
 */
void table_nest(struct table *outer, struct table *inner);

size_t table_n_rows(const struct table *);

/* Appends a row of absent cells and returns its first cell, valid until the next row. */
struct cell *table_add_row(struct table *);

/* The same below a parent row. Children follow their parent in any order. */
struct cell *table_add_child(struct table *, uint32_t parent_row);

const struct cell *table_cell(const struct table *, size_t row, size_t column);

/* Index of the column of that name, or -1. */
int table_column(const struct table *, const char *name);

/* A text that lives as long as the table's rows. */
const char *table_text(struct table *, const char *text);

/* The same as a cell; absent if there is no text. */
struct cell table_text_cell(struct table *, const char *text);

/* A text made by printf's rules; it lives as long as the table's rows. */
const char *table_format(struct table *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *table_vformat(struct table *, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
void table_note(struct table *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A row of a name and a text, for TABLE_FACTS; none if the text is empty. Empties it. */
void table_fact(struct table *, const char *name, struct text *value);

/* A value and its unit in words, as human.h writes them: "36.8 G cycles", "1.24 ms". */
const char *table_human(struct table *, struct cell value, const char *unit);

/* A number with four significant digits, right aligned in ten letters. */
const char *table_significant(struct table *, double value);

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
 * Sorts rows by a column: quantities descending, names (texts, addresses, numbers without a
 * unit) ascending, or the other way round. Ties are broken by the other columns from the left,
 * never reversed, then by the order of rows, so the order is total. Children stay below their
 * parents, following them directly, and are sorted among themselves. Absent cells come last.
 */
void table_sort(struct table *, size_t column, bool reverse);

/* The column that --sort names, or -1 and an error. */
int table_sort_column(const struct table *, const char *name, struct err *);

/*
 * Keeps the first `n` rows of each parent's children and of the top level, and returns how
 * many top-level rows were cut. Say so in a note.
 */
size_t table_keep_top(struct table *, size_t n);

/* Keeps the rows that are wanted of a table without children, in their order. Returns how many. */
typedef bool row_wanted(const struct table *, size_t row, const void *context);
size_t table_keep(struct table *, row_wanted *, const void *context);

/* The same, 0: all; a note tells how many are left out. */
void table_show_top(struct table *, size_t n);

/* What --sort and --top ask for: both of these. No `name`: nothing, the order is there already. */
int table_sort_by(struct table *, const char *name, size_t n, struct err *);

/* Several tables that make one answer; borrowed. */
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

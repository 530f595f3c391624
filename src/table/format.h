/* SPDX-License-Identifier: Apache-2.0 */
/* How tables are written out: text for people, csv and json for programs. */
#ifndef CYCLOPS_TABLE_FORMAT_H
#define CYCLOPS_TABLE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "table/table.h"

/* What the whole answer is about; all borrowed. */
struct document {
	const char *command; /* "hot" */
	const char *version; /* of cyclops */
	bool is_modelled;    /* simulated numbers: every format says so */
	unsigned width;	     /* text: columns of the terminal, 40 or more; 0: 100 */
	bool is_wide;	     /* text: tables may be wider than that, so that no column is hidden */
	bool has_colour;     /* text: escape sequences are welcome */
	bool has_unicode;    /* text: bars and arrows may use UTF-8 */
	bool is_plural;	     /* several tables, or could be: csv writes "# table NAME" lines */
	/*
	 * Json describes their columns before, and lists their notes behind, all rows: whoever
	 * streams sets it (rows need not be there yet), format_document() sets it itself. May be
	 * NULL: then there are no descriptions and no notes.
	 */
	const struct tables *tables;
};

/*
 * A format. A document is begin, then for each table: head, rows (any number of times, for
 * tables that arrive in pieces), tail; then end. Everything is appended to `out`. Rows of
 * csv and json may be rendered in parallel, each piece to its own text, and joined in order:
 * `is_first` is for the first piece of a table. Text needs the whole table in one piece, and
 * so do trees (rows are numbered) and tables with nested ones.
 */
struct format {
	const char *name;      /* "text", "csv", "json" */
	const char *extension; /* ".txt" … */
	bool can_stream;
	bool is_for_people; /* has the answer in sentences (answer.h) */
	/*
	 * Bytes at the start of a piece that is not the first which join it to the rows before.
	 * If all pieces before turned out to have no rows, leave them out.
	 */
	size_t joint;
	void (*begin)(const struct document *, struct text *out);
	void (*head)(const struct document *, const struct table *, bool is_first_table,
		     struct text *out);
	void (*rows)(const struct document *, const struct table *, bool is_first,
		     struct text *out);
	void (*tail)(const struct document *, const struct table *, struct text *out);
	void (*end)(const struct document *, struct text *out);
};

extern const struct format format_text, format_csv, format_json;

/* The format of that name, or NULL. */
const struct format *format_find(const char *name);

/* Names of all formats, joined with ", ": for messages. */
const char *format_names(void);

/*
 * The tables that the format has: all, or those without the answer in sentences. The list is the caller's, to be
 * released; the tables are borrowed.
 */
struct tables format_tables(const struct format *, const struct tables *);

/* Renders a whole document. */
void format_document(const struct format *, const struct document *, const struct tables *,
		     struct text *out);

/* Columns a text takes on a UTF-8 terminal, as the text format writes it (utf8.h). */
size_t display_width(const char *text);

/* The text with bytes that are not UTF-8 as \xNN, copied to `memory` (utf8.h). */
const char *valid_text(struct arena *memory, const char *text);

#endif

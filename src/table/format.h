/* SPDX-License-Identifier: Apache-2.0 */
/* Output formats of tables: text and Markdown for people, csv, json and Parquet for programs. */
#ifndef CYCLOPS_TABLE_FORMAT_H
#define CYCLOPS_TABLE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "table/table.h"

/* The answer as a whole; all borrowed. */
struct document {
	const char *command; /* "hot" */
	const char *version; /* of cyclops */
	bool is_modelled;    /* simulated numbers, which every format marks */
	/* Of the capture, for formats with metadata; NULL: not known. */
	const char *host;
	const char *capture_hash; /* XXH64 of its bytes, 16 digits */
	unsigned width;		  /* text: columns of the terminal, at least 40; 0 means 100 */
	bool is_wide;	  /* text: tables may be wider than that, so that no column is hidden */
	bool has_colour;  /* text: escape sequences are allowed */
	bool has_unicode; /* text: bars and arrows may use UTF-8 */
	bool is_plural;	  /* several tables, or could be: csv writes "# table NAME" lines */
	/*
	 * For json, which describes all columns before the rows and lists all notes behind them.
	 * format_document() sets it. Callers that stream set it themselves; rows may be missing
	 * then. NULL: no descriptions and notes.
	 */
	const struct tables *tables;
	/*
	 * Text: marks that were spelled out, bit n for mark n, so that each is spelled out once.
	 * format_document() sets it; NULL: below each table.
	 */
	unsigned *explained;
};

/* Is its first table an answer in sentences? */
bool document_begins_with_answer(const struct document *);

/* The version of the contract with programs that read json and Parquet (docs/schema/). */
enum { FORMAT_SCHEMA = 2 };

/*
 * A format. A document is begin, then for each table head, rows (repeated for tables in pieces) and
 * tail, then end. All append to `out`. Pieces of rows of csv and json may be rendered in parallel
 * to texts of their own and joined in order; `is_first` marks the first piece of a table. Text,
 * trees and tables with nested tables cannot be rendered in pieces. Parquet is rendered whole, one table a document.
 */
struct format {
	const char *name;      /* "text", "csv", "json", "parquet", "markdown" */
	const char *extension; /* ".txt" … */
	bool can_stream;
	bool is_for_people; /* has the answer in sentences (answer.h) */
	bool is_binary;	    /* not for a terminal; one table a file */
	/*
	 * Bytes at the start of a piece, other than the first, that separate it from the previous
	 * rows. Skip them if no piece before had rows.
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

extern const struct format format_text, format_csv, format_json, format_parquet, format_markdown;

/* The format of that name, or NULL. */
const struct format *format_find(const char *name);

/* All names, joined with ", ", for messages. */
const char *format_names(void);

/*
 * The tables that the format has: those for its readers; programs have no answer in sentences. The list is the
 * caller's, to be released; the tables are borrowed.
 */
struct tables format_tables(const struct format *, const struct tables *);

/* Appends the columns as members of a json object: type, unit, meaning, and whether cells may be marked. */
void json_describe_columns(struct text *out, const struct table *, bool *is_first);

/* Renders a whole document. */
void format_document(const struct format *, const struct document *, const struct tables *,
		     struct text *out);

/* Columns that a text takes on a UTF-8 terminal in the text format (utf8.h). */
size_t display_width(const char *text);

/* Copies the text; bytes that are not UTF-8 become \xNN (utf8.h). */
const char *valid_text(struct arena *memory, const char *text);

#endif

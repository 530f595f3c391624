/* SPDX-License-Identifier: Apache-2.0 */
/* Output of answers: options for format and rows, and the stream. */
#ifndef CYCLOPS_CLI_PRINTER_H
#define CYCLOPS_CLI_PRINTER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/output_file.h"
#include "cli/options.h"
#include "html/html.h"
#include "session/session.h"
#include "table/format.h"

/* Options about what is written, and how it looks. */
struct output_options {
	const char *format;
	const char *path;
	const char *table;
	const char *columns; /* "a,b,c": these alone; NULL: as the command chooses */
	const char *colour;  /* "auto", "always", "never"; NULL: auto */
	bool is_wide;	     /* no column is hidden for want of room */
	unsigned width;	     /* columns of text; 0: as many as there are */
	const char *pager;   /* a command; NULL: $PAGER, or less */
	bool no_pager;
	const struct arguments
		*inputs; /* files that are not written over, beside the session's; NULL: none */
};

/* Options for the rows. */
struct row_options {
	const char *sort;
	unsigned top;
	bool all;
};

struct option_set output_option_set(struct output_options *);
struct option_set row_option_set(struct row_options *);
struct option_set unsorted_row_option_set(struct row_options *); /* without --sort */

/* How many rows to show: --all, --top or 20; 0 means all. */
size_t rows_to_show(const struct row_options *);

/* Standard output, a pager before it, or the file or folder of -o. */
struct printer {
	FILE *stream;		 /* NULL: a folder */
	struct output_file file; /* of the stream; zeroed: it is none of -o */
	bool is_folder;
	const struct session *session;	/* whose capture is not written over; NULL: none */
	const struct arguments *inputs; /* nor are these; NULL: none */
	pid_t pager;			/* 0: none */
	const char *path;		/* NULL: standard output */
	const struct format *format;
	struct document document;
	char hash[24]; /* document.capture_hash */
};

/*
 * Opens the output. Fails if it would overwrite a capture. `default_format` is used without
 * --format. `session` NULL: the answer is not about a capture; the caller then sets
 * document.is_modelled.
 */
int printer_open(struct printer *, const struct output_options *, const char *default_format,
		 const char *command, const struct session *, struct err *);

/*
 * Lets a person scroll: what is written goes through $PAGER, or less, if standard output is a terminal and the
 * format is for people. Call it before anything is written. If there is no pager, nothing changes.
 */
void printer_page(struct printer *, const struct output_options *);

/* Fails if -o names a folder: for answers that are written piece by piece. */
int printer_need_file(const struct printer *, struct err *);

/* Fails if a binary format would go to a terminal. `format` is its name. */
int printer_need_no_terminal(const struct printer *, const char *format, struct err *);

/* Lets others read the file of -o while it grows; without that it is there when it is complete. */
int printer_publish(struct printer *, struct err *);

/* Will the answer be for people? True also for a format that does not exist: opening says so. */
bool printer_is_for_people(const struct output_options *);

/* Writes bytes; -1 and an error if that fails. */
int printer_write(struct printer *, const struct text *, struct err *);

/*
 * Flushes and closes. Returns `rc`, what the steps before returned, or -1 and an error if writing
 * fails. The first error is kept. The file of -o is left alone after an error.
 */
int printer_close(struct printer *, int rc, struct err *);

/* Writes all tables, or the one of --table: to a folder as a file for each table. */
int printer_tables(struct printer *, const struct output_options *, const struct tables *,
		   struct err *);

/*
 * Ends an answer: writes the tables if `rc` is 0, and closes in any case. Returns `rc`, or -1 and
 * an error if writing fails.
 */
int printer_finish(struct printer *, const struct output_options *, const struct tables *, int rc,
		   struct err *);

/*
 * The same of work that was done: its answer, and a table of what was worked on, of which as many rows are shown as asked for.
 * Releases both.
 */
int printer_finish_work(struct printer *, const struct output_options *, const struct row_options *,
			struct table *answer, struct table *, int rc, struct err *);

/* The help of --html, of commands that have it. */
#define HTML_HELP "also write pages for a browser to this file"

/*
 * --html: writes pages about `subject` to a file, beside what is printed. Fails if that is a capture. The build has
 * a viewer: html_check().
 */
int printer_html(const struct printer *, const struct html *, const char *path, const char *subject,
		 struct err *);

/* Is the whole answer shown to a person: no table or columns were picked from it? */
bool printer_shows_screen(const struct printer *, const struct output_options *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where answers go: options about output and rows, and the stream that tables are written to. */
#ifndef CYCLOPS_CLI_PRINTER_H
#define CYCLOPS_CLI_PRINTER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/options.h"
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
	bool no_pager;
};

/* Options about which rows are shown. */
struct row_options {
	const char *sort;
	unsigned top;
	bool all;
};

struct option_set output_option_set(struct output_options *);
struct option_set row_option_set(struct row_options *);
struct option_set unsorted_row_option_set(struct row_options *); /* without --sort */

/* Rows to show: --all, --top or the default of 20; 0 means all. */
size_t rows_to_show(const struct row_options *);

/* Standard output, a pager before it, or the file of -o. */
struct printer {
	FILE *stream;
	pid_t pager;	  /* 0: none */
	const char *path; /* NULL: standard output */
	const struct format *format;
	struct document document;
};

/*
 * Opens the output, unless that is the capture itself. `default_format` is used if none was
 * asked for. An answer that is of no capture has no session: its document.is_modelled is for
 * the caller to set.
 */
int printer_open(struct printer *, const struct output_options *, const char *default_format,
		 const char *command, const struct session *, struct err *);

/*
 * Lets a person scroll: what is written goes through $PAGER, or less, if standard output is a terminal and the
 * format is for people. Call it before anything is written. If there is no pager, nothing changes.
 */
void printer_page(struct printer *, const struct output_options *);

/* Writes bytes; -1 and an error if they do not arrive. */
int printer_write(struct printer *, const struct text *, struct err *);

/*
 * Flushes and closes after what came before returned `rc`: that, or -1 if the bytes do not
 * arrive. The first error stays.
 */
int printer_close(struct printer *, int rc, struct err *);

/* Writes the tables, or the one that --table names. */
int printer_tables(struct printer *, const struct output_options *, const struct tables *,
		   struct err *);

/*
 * Ends an answer, given what making it returned: writes its tables if that was 0, and closes in
 * any case. Returns that, or -1 as the two do.
 */
int printer_finish(struct printer *, const struct output_options *, const struct tables *, int rc,
		   struct err *);

#endif

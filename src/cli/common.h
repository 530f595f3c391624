/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands that read a capture share: their options, opening, output, messages. */
#ifndef CYCLOPS_CLI_COMMON_H
#define CYCLOPS_CLI_COMMON_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "scan/select.h"
#include "session/session.h"
#include "table/format.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GATE = 3, /* done, but a --fail-if condition is met */
};

/* Options about what is read. */
struct input_options {
	const char *path;
	const char *select;
	const char *cpu;
	const char *catalog;
	const char *symfs;
	const char *kallsyms;
	const char *vmlinux;
	struct option_list debug_dirs;
	bool use_debuginfod, no_debuginfod;
	unsigned n_workers;
	unsigned interval;
	bool wants_help;
};

/* Options about what is written. */
struct output_options {
	const char *format;
	const char *path;
	const char *table;
};

/* Options about which rows are shown. */
struct row_options {
	const char *sort;
	unsigned top;
	bool all;
};

struct option_set input_option_set(struct input_options *);
struct option_set output_option_set(struct output_options *);
struct option_set row_option_set(struct row_options *);
struct option_set unsorted_row_option_set(struct row_options *); /* without --sort */

/* A command's face: what --help says before the options. */
struct usage {
	const char *command;
	const char *synopsis;
	const char *summary;
};

/* Prints "cyclops: …" and returns the exit status that fits the error. */
int fail(const struct err *);

/*
 * Parses the options of a command; prints its help if asked to. Returns -1 to go on, or the
 * exit status to stop with. At most `max_arguments` arguments are allowed.
 */
int start_command(const struct usage *, int argc, char **argv, const struct option_set *sets,
		  size_t n_sets, size_t max_arguments, const bool *wants_help,
		  struct arguments *out);

/* Refuses a command line of `argc` words that has no program behind the "--" at `end`. */
int need_program(const struct usage *, int argc, int end, struct err *);

/* Refuses `-` as the place of a capture to be written: that takes a file. */
int check_capture_output(const char *path, struct err *);

/*
 * The capture that --input or the only argument names, or the default, which has to be there.
 */
int choose_path(const char *input, const struct arguments *, const char **out, struct err *);

/* Opens what the options and arguments say. */
int open_input(const struct input_options *, const struct arguments *, struct session *,
	       struct select **out_select, struct err *);

/*
 * Ends what open_input() began, also where it failed: says what was damaged or lost, given the
 * exit status so far, which it returns.
 */
int close_input(struct session *, struct select *, int status);

/* Rows to show: --all, --top or the default of 20; 0 means all. */
size_t rows_to_show(const struct row_options *);

/* Standard output or the file of -o. */
struct printer {
	FILE *stream;
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

/*
 * Says on standard error what was damaged or lost and, if there was an answer (the status is
 * EXIT_DONE), for which modules names are missing; each once.
 */
void print_diagnostics(const struct session *, int status);

#endif

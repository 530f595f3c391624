/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question to one capture, answered with tables: the common part of commands that read, open and
 * print alike.
 */
#ifndef CYCLOPS_CLI_QUESTION_H
#define CYCLOPS_CLI_QUESTION_H

#include "cli/command.h"
#include "cli/gates.h"
#include "cli/input.h"
#include "cli/printer.h"
#include "keys/keys.h"

enum question_rows {
	QUESTION_ROWS_NONE,
	QUESTION_ROWS_UNSORTED, /* all row options but --sort */
	QUESTION_ROWS_SORTED,
};

struct question {
	const struct usage *usage;
	struct option_set what; /* the command's own options, and the struct they fill */
	struct option_set more; /* those that it shares with others; n 0: none */
	enum question_rows has_rows;
	bool without_time_slices; /* no option --time-slices: nothing is shown over time */
	size_t max_arguments;
	/* keys of --by, valid after check(), which may include time; NULL: none */
	const struct keys *by;

	/* What conditions of --fail-if may be about; NULL: the command has no gates. */
	const struct quantity *quantities;
	size_t n_quantities;

	/* Checks the options before the capture is opened; may be NULL. */
	int (*check)(struct question *, struct err *);

	/* Answers with question_show(). */
	int (*answer)(struct question *, struct session *, const struct select *, struct err *);

	/* The common options, valid in both functions. */
	struct input_options input;
	struct row_options rows;
	struct output_options output;
	struct arguments arguments;
	struct gate_options gates;
	unsigned time_slices; /* of --time-slices; applied before answer() */

	/*
	 * Set by answer(): what it showed only says that the capture has no data of this kind. The
	 * exit status is EXIT_NO_DATA then.
	 */
	bool lacks_data;

	struct printer out;   /* open during answer() */
	struct gates results; /* of question_judge() */
};

/* Parses the command line, answers and prints errors. Returns the exit status. */
int question_ask(struct question *, int argc, char **argv);

/* Is there any --fail-if? */
bool question_has_gates(const struct question *);

/*
 * Judges the conditions of --fail-if, before question_show(), which then shows their table. Does nothing
 * where the capture lacks data: the exit status says so.
 */
int question_judge(struct question *, gate_measure *, void *context, struct err *);

/*
 * Takes FILE and SYMBOL apart, for check(); `symbol` is that of an option so far, or NULL. Of two
 * arguments, the first is the capture, unless only the second is a file. A single one is the capture if
 * it is a file and there is no --input, else the symbol.
 */
int question_take_symbol(struct question *, const char **symbol, struct err *);

/* Prints all tables, or the one of --table. */
int question_show(struct question *, const struct tables *, struct err *);

/* Is the answer text for a person? Other formats and --table give all rows and columns. */
bool question_is_for_reading(const struct question *);

/* printer_shows_screen() of this question, once the output is open. */
bool question_shows_screen(const struct question *);

#endif

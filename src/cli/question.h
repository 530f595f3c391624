/* SPDX-License-Identifier: Apache-2.0 */
/* A question to one capture, answered by tables: what such commands read, open and print alike. */
#ifndef CYCLOPS_CLI_QUESTION_H
#define CYCLOPS_CLI_QUESTION_H

#include "cli/command.h"
#include "cli/input.h"
#include "cli/printer.h"
#include "keys/keys.h"

enum question_rows {
	QUESTION_ROWS_NONE,
	QUESTION_ROWS_UNSORTED, /* without --sort */
	QUESTION_ROWS_SORTED,
};

struct question {
	const struct usage *usage;
	struct option_set what; /* the command's own options, and where they go */
	enum question_rows has_rows;
	size_t max_arguments;
	const struct keys *by; /* that may have time among them, once checked; may be NULL */

	/* Refuses what does not go together, before anything is opened; may be NULL. */
	int (*check)(struct question *, struct err *);

	/* Answers, by question_show(). */
	int (*answer)(struct question *, struct session *, const struct select *, struct err *);

	/* What else was given, for the two: */
	struct input_options input;
	struct row_options rows;
	struct output_options output;
	struct arguments arguments;
	unsigned time_slices; /* of --time-slices; the session has them when it is answered */

	struct printer out; /* open while it is answered */
};

/* Reads the command line, answers, and says what went wrong. Returns the exit status. */
int question_ask(struct question *, int argc, char **argv);

/* Prints the tables, or the one that --table names. */
int question_show(struct question *, const struct tables *, struct err *);

/* Is the answer for a person? Programs, and users that picked a table, get all rows and columns. */
bool question_is_for_reading(const struct question *);

#endif

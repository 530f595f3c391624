/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users of perf type. This is the only place that knows perf's command line: the option tables
 * of the commands have their own options only. A table (habits.c) says what each stands for here:
 * it is done where there is an equivalent, and named where there is none.
 */
#ifndef CYCLOPS_CLI_HABITS_H
#define CYCLOPS_CLI_HABITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* Does perf's option have a value? An optional one is attached: "-gcaller", "--call-graph=caller". */
enum habit_value { HABIT_ALONE, HABIT_VALUE, HABIT_OPTIONAL_VALUE };

enum habit_kind {
	HABIT_NOTHING, /* nothing to do: it is so anyway */
	HABIT_OPTION,  /* an option of ours */
	HABIT_SELECT,  /* a comparison of --select */
	HABIT_COMMAND, /* another command of ours answers this, and knows the option */
	HABIT_ADVICE,  /* an error that says what to type */
};

/* A word of perf's and ours. */
struct habit_word {
	const char *theirs, *ours;
	bool is_ours, /* we know that word, too: on its own it does not show what is meant */
		is_number;
};

/* An option of perf's. */
struct habit {
	const char *commands; /* of ours, with blanks between them */
	char letter;	      /* 0: none */
	const char *name;     /* NULL: none */
	enum habit_value value;
	enum habit_kind kind;
	const char *ours;  /* option, field of --select, command or advice */
	const char *fixed; /* the value of our option; NULL: that of perf's */
	const char *only;  /* the one value of perf's that we have; NULL: any */
	bool is_elsewhere; /* HABIT_ADVICE: it is not perf's, but of other commands of ours */
	bool is_number;	   /* HABIT_SELECT: of numbers, not names */
	const struct habit_word
		*words; /* of a value with commas; ends with theirs NULL; NULL: as it is */
};

/*
 * What an option of perf's, "-g" or "--sort" (`len` bytes, without dashes), means to our command.
 * NULL: perf has no such option, or we know nothing of it.
 */
const struct habit *habit_find(const char *command, const char *name, size_t len, char letter);

/* Option number `i` that is known of all; NULL behind the last. For tests. */
const struct habit *habit_at(size_t i);

/*
 * Is `value` of our option `name` in perf's words ("--sort dso,sym")? Then the habit says what it
 * means, else NULL.
 */
const struct habit *habit_of_value(const char *command, const char *name, const char *value);

/*
 * Translates a value into `out`: words, or for HABIT_SELECT a condition. Fails if it is too long, or
 * perf's value has no equivalent.
 */
int habit_translate(const struct habit *, const char *value, char *out, size_t size, struct err *);

/* The error of an HABIT_ADVICE. Returns -1. */
int habit_advise(const struct habit *, const char *argument, struct err *);

/* A command line in our words. Zeroed is empty. */
struct habit_line {
	struct arena memory;
	int argc;
	char **argv;
	bool has_changed; /* another command answers, or with other options */
};

/*
 * Commands: "c2c record" is "record --data", "report -g" is "hot -g". argv[0] is the command.
 * Fails with advice for commands that we do not have. The line is to be released in any case.
 */
int habit_line_read(int argc, char **argv, struct habit_line *, struct err *);
void habit_line_release(struct habit_line *);

#endif

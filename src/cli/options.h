/* SPDX-License-Identifier: Apache-2.0 */
/* Command line options as tables: name, destination, help text. */
#ifndef CYCLOPS_CLI_OPTIONS_H
#define CYCLOPS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/config.h"

enum option_kind {
	OPTION_FLAG,   /* bool: set to true */
	OPTION_TEXT,   /* const char * */
	OPTION_INPUT,  /* const char *: a file that is read */
	OPTION_OUTPUT, /* const char *: a file that is written, so it must be none that is read */
	OPTION_PLACE, /* const char *: a file that is written, or the beginning of the names of some */
	OPTION_FOLDER, /* const char *: a folder that is filled */
	OPTION_NUMBER, /* unsigned */
	OPTION_COUNT,  /* unsigned, at least 1; 0 means not given */
	OPTION_LIST,   /* struct option_list: may be repeated */
	OPTION_INPUTS, /* the same: files that are read */

	/* const char *: the value behind "=" or the letter; "" without a value */
	OPTION_OPTIONAL,

	/* the same; the value may also be the next argument, if it does not begin with "-" */
	OPTION_OPTIONAL_WORD,
};

enum { OPTION_LIST_MAX = 16, ARGUMENTS_MAX = 64, ARGUMENTS_ROOM = 2048, INPUTS_MAX = 48 };

/* Values in the order given; ends with NULL. */
struct option_list {
	const char *items[OPTION_LIST_MAX + 1];
	size_t n;
};

struct option {
	const char *name; /* without the dashes */
	char letter;	  /* 0: none */
	enum option_kind kind;
	size_t offset;	   /* of the field in the struct that the set fills */
	const char *value; /* the name of the value in help; NULL for flags */
	const char *help;
};

/* Options that fill one struct. */
struct option_set {
	const char *title; /* heading in the help */
	const struct option *options;
	size_t n;
	void *into;
};

/* A file that an option names. */
struct named_input {
	const char *option, *path;
};

/*
 * Arguments that are not options. Stays where it is as long as they or the values of options are used: some
 * are in `few` and `room`. To be released where there may be more than ARGUMENTS_MAX.
 */
struct arguments {
	const char **items;
	size_t n;
	const char *few[ARGUMENTS_MAX]; /* the items, unless they are more */

	/* values that were typed in other words, or stand in the configuration file */
	char room[ARGUMENTS_ROOM];
	size_t n_room;

	/* of options_protect_inputs() */
	struct named_input inputs[INPUTS_MAX];
	size_t n_inputs;
	bool are_files; /* the arguments: captures and such, no words */
};

/*
 * Parses argv[1] …: "--name VALUE", "--name=VALUE", "-n VALUE", "-nVALUE". "--" ends the options,
 * "-" is an argument. Options of perf that the command does not have are taken for what they mean
 * here (cli/habits.h); argv[0] is the command. The error of an unknown option names the most similar
 * one.
 */
int options_parse(int argc, char **argv, const struct option_set *sets, size_t n_sets,
		  struct arguments *out, struct err *);

/* Frees the items, if there are many. */
void arguments_release(struct arguments *);

/*
 * Sets options that were not given to what the configuration file says: after options_parse(), with
 * the same arguments.
 */
int options_set_defaults(const struct option_set *sets, size_t n_sets, const struct user_config *,
			 struct arguments *, struct err *);

/*
 * Takes down which files options and arguments read, and fails if one that they write is the same, by whatever
 * name or link: after options_set_defaults().
 */
int options_protect_inputs(const struct option_set *sets, size_t n_sets, struct arguments *,
			   struct err *);

/* Fails if a file to be written is one of those. `option` names it: "output". */
int arguments_spare_inputs(const struct arguments *, const char *option, const char *path,
			   struct err *);

/* The same of arguments alone. */
int arguments_spare(const struct arguments *, const char *option, const char *path, struct err *);

/* The index of the "--" that ends our options, or argc. A program may follow it. */
int options_find_end(int argc, char **argv);

/*
 * The index of the program in argv: behind "--", or the first argument that is no option or value
 * of one; argc if there is none. What precedes it is for options_parse().
 */
int options_find_program(int argc, char **argv, const struct option_set *sets, size_t n_sets);

/*
 * Appends a line for each option, for programs such as shells: name, letter, name of the value, help,
 * with tabs between them. Empty: there is none.
 */
void options_list(const struct option_set *sets, size_t n_sets, struct text *);

/* Appends the help of all options, wrapped to `width` columns. */
void options_help(const struct option_set *sets, size_t n_sets, size_t width, struct text *);

#endif

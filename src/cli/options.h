/* SPDX-License-Identifier: Apache-2.0 */
/* Command line options as tables: what there is, where it goes, what help says. */
#ifndef CYCLOPS_CLI_OPTIONS_H
#define CYCLOPS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

enum option_kind {
	OPTION_FLAG,   /* bool: becomes true */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* unsigned */
	OPTION_COUNT,  /* unsigned, at least 1: 0 stands for not given */
	OPTION_LIST,   /* struct option_list: may be given several times */

	/* const char *: what stands behind "=", or right behind the letter; "" if nothing does */
	OPTION_OPTIONAL,

	/* The same; what is behind may be a word of its own that does not begin with "-". */
	OPTION_OPTIONAL_WORD,
};

enum { OPTION_LIST_MAX = 16, ARGUMENTS_MAX = 8 };

/* Ends with NULL. */
struct option_list {
	const char *items[OPTION_LIST_MAX + 1];
	size_t n;
};

struct option {
	const char *name; /* without the dashes */
	char letter;	  /* 0: none */
	enum option_kind kind;
	size_t offset;	   /* of the field in the struct of the set */
	const char *value; /* how help calls its value; NULL for flags */
	const char *help;
};

/* Options that fill one struct. */
struct option_set {
	const char *title; /* in help */
	const struct option *options;
	size_t n;
	void *into;
};

/* What is not an option. */
struct arguments {
	const char *items[ARGUMENTS_MAX];
	size_t n;
};

/*
 * Reads argv[1] …: "--name VALUE", "--name=VALUE", "-n VALUE", "-nVALUE"; "--" ends options,
 * "-" alone is an argument. A wrong option is an error that says the nearest right one.
 */
int options_parse(int argc, char **argv, const struct option_set *sets, size_t n_sets,
		  struct arguments *out, struct err *);

/* Where the "--" stands that ends our options, or argc: a program may follow. */
int options_find_end(int argc, char **argv);

/*
 * For commands that run a program: where it stands, which is behind "--" or at the first
 * argument that belongs to no option; argc if there is none. What stands before is for
 * options_parse().
 */
int options_find_program(int argc, char **argv, const struct option_set *sets, size_t n_sets);

/* Appends each option with its help, wrapped to `width` columns. */
void options_help(const struct option_set *sets, size_t n_sets, size_t width, struct text *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subcommand. main, help, shell completion and the tests go through the list of them in
 * main/commands.c. Each is a constant in src/NAME/command.c.
 */
#ifndef CYCLOPS_CLI_COMMAND_H
#define CYCLOPS_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/options.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GATE = 3,	  /* done, and a --fail-if condition failed */
	EXIT_NO_DATA = 4, /* the capture has no data of the kind that was asked for */
};

/* What --help prints before the options. */
struct usage {
	const char *command;
	const char *synopsis;
	const char *summary;
	bool has_dashes; /* arguments are those of a program, behind -- */
};

/* Prints "cyclops: …" and returns the exit status for the error. */
int fail(const struct err *);

/*
 * Parses the options of a command. Returns -1 to go on, or an exit status: after an error, which is
 * printed, or after printing the help or, for --list-options alone, the options for programs.
 * At most `max_arguments` arguments are accepted; above ARGUMENTS_MAX the caller releases them.
 */
int start_command(const struct usage *, int argc, char **argv, const struct option_set *sets,
		  size_t n_sets, size_t max_arguments, const bool *wants_help,
		  struct arguments *out);

/* An error, unless a program follows the "--" at argv[end]. */
int need_program(const struct usage *, int argc, int end, struct err *);

/* What a command's arguments name. */
enum command_reads {
	COMMAND_READS_NOTHING, /* no input: words of its own, or none */
	COMMAND_READS_CAPTURE,
	COMMAND_READS_CAPTURES, /* any number of captures, and folders with some */
	COMMAND_READS_RUNS,	/* two captures, files of counts, or folders */
	COMMAND_READS_PROGRAM,
	COMMAND_READS_MACHINE, /* this machine */
	COMMAND_READS_DATASET, /* a folder of tables, or a place in a store */
	N_COMMAND_READS,
};

struct command {
	const struct usage *usage; /* name, and what --help prints before the options */
	const char *purpose;	   /* one line for `cyclops --help` */
	enum command_reads reads;
	/* argv[0] is the command's name; returns the exit status */
	int (*run)(int argc, char **argv);
};

#endif

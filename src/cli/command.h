/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subcommand, as everything sees it that goes through all of them: main, help, completion of
 * shells, and the tests. Each is a constant in src/NAME/command.c, listed in main/commands.c.
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
	EXIT_GATE = 3, /* done, but a --fail-if condition is met */
};

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

/* What it is asked about: its arguments that are no options. */
enum command_reads {
	COMMAND_READS_NOTHING, /* words of its own */
	COMMAND_READS_CAPTURE,
	COMMAND_READS_RUNS, /* two captures, counts or folders */
	COMMAND_READS_PROGRAM,
	COMMAND_READS_MACHINE, /* the one that it runs on */
	N_COMMAND_READS,
};

struct command {
	const struct usage *usage; /* its name, and what --help says before the options */
	const char *purpose;	   /* a line for `cyclops --help` */
	enum command_reads reads;
	int (*run)(int argc, char **argv); /* argv[0] is its name; returns the exit status */
};

#endif

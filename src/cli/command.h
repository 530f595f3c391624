/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subcommand, as everything sees it that goes through all of them: main, help, completion of
 * shells, and the tests. Each is a constant in src/NAME/command.c, listed in main/commands.c.
 */
#ifndef CYCLOPS_CLI_COMMAND_H
#define CYCLOPS_CLI_COMMAND_H

#include "cli/common.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops: finds the subcommand and runs it. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "command/commands.h"
#include "command/common.h"
#include "command/tell.h"
#include "command/version.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "run", command_run, "the whole method: count, decide, sample, report" },
	{ "stat", command_stat, "counts and metrics, top-down first" },
	{ "record", command_record, "a capture of a running program" },
	{ "report", command_report, "what is in this capture, which code is hot, what stands out" },
	{ "hot", command_hot, "hotspots by process, function, line, instruction, event, source …" },
	{ "annotate", command_annotate, "a function's source and instructions with their numbers" },
	{ "mem", command_mem, "latency of loads and stores, data sources, translation, bandwidth" },
	{ "c2c", command_c2c, "cache lines that threads fight over: false and true sharing" },
	{ "addr", command_addr, "objects, members and pages: which data is hot, what to move" },
	{ "quality", command_quality,
	  "can this capture be trusted: lost, filtered, saturated, biased" },
	{ "diff", command_diff, "what changed between two captures or counts; a gate for CI" },
	{ "list", command_list, "what is known about CPUs: events, metrics, groups" },
	{ "doctor", command_doctor, "can this machine measure, what is missing, what fixes it" },
	{ "model", command_model, "a capture of an AArch64 program, without the hardware" },
	{ "dump", command_dump, "what the bytes say: records and SPE packets" },
	{ "export", command_export, "every record, for other tools" },
	{ "help", command_help, "the manual page of a command" },
};

static const char *command_name_at(const void *context, size_t i)
{
	(void)context;
	return i < COUNT(commands) ? commands[i].name : NULL;
}

const char *command_nearest(const char *word)
{
	return nearest_word(word, command_name_at, NULL);
}

static void print_usage(FILE *stream)
{
	fprintf(stream, "usage: cyclops COMMAND [OPTIONS] [FILE]\n\n"
			"Where do the cycles go, in which instruction, on which data?\n\n");
	for (size_t i = 0; i < COUNT(commands); i++)
		fprintf(stream, "  %-8s %s\n", commands[i].name, commands[i].help);
	fprintf(stream,
		"\nFILE is a perf.data capture; it defaults to perf.data, and - is a pipe.\n"
		"Options of a command: cyclops COMMAND --help\n");
}

static int print_version(void)
{
	printf("cyclops %s (%s)\n", CYCLOPS_VERSION, CYCLOPS_COMMIT);
	printf("built with %s\n", CYCLOPS_BUILD);
	return EXIT_DONE;
}

static int unknown_command(const char *name)
{
	const char *nearest = command_nearest(name);

	if (name[0] == '-') {
		tell("there is no option %s before a command, only --help and "
		     "--version",
		     name);
		return EXIT_USAGE;
	}
	if (access(name, F_OK) == 0)
		tell("there is no command '%s'; did you mean 'cyclops report %s'?", name, name);
	else if (nearest != NULL)
		tell("there is no command '%s'; did you mean 'cyclops %s'?", name, nearest);
	else
		tell("there is no command '%s' (cyclops --help lists them)", name);
	return EXIT_USAGE;
}

/* Files are read where they are mapped: bytes that are gone by then end in this signal. */
static void say_file_is_gone(int signal)
{
	static const char text[] = "cyclops: a file became shorter while it was read, or its disk "
				   "failed; copy it when it is complete\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)signal;
	(void)written;
	_exit(EXIT_FAILED);
}

/*
 * Large tables come and go with the steps of an answer. Left alone, glibc takes the size of the
 * largest that was freed for a sign to keep blocks of that size, and the next step needs as much
 * again.
 */
static void give_back_large_blocks(void)
{
	enum { LARGE_BYTES = 256 << 10 };

	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

int main(int argc, char **argv)
{
	const struct sigaction gone = { .sa_handler = say_file_is_gone };

	give_back_large_blocks();
	sigaction(SIGBUS, &gone, NULL);
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_usage(stdout);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0)
		return print_version();
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	return unknown_command(argv[1]);
}

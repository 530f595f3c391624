/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the subcommand and runs it. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "main/commands.h"
#include "main/version.h"

static void print_usage(FILE *stream)
{
	fprintf(stream, "usage: cyclops COMMAND [OPTIONS] [FILE]\n\n"
			"Where do the cycles go, in which instruction, on which data?\n\n");
	for (const struct command *const *c = commands; *c != NULL; c++)
		fprintf(stream, "  %-8s %s\n", (*c)->usage->command, (*c)->purpose);
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
		message_print("there is no option %s before a command, only --help and "
			      "--version",
			      name);
		return EXIT_USAGE;
	}
	if (access(name, F_OK) == 0)
		message_print("there is no command '%s'; did you mean 'cyclops report %s'?", name,
			      name);
	else if (nearest != NULL)
		message_print("there is no command '%s'; did you mean 'cyclops %s'?", name,
			      nearest);
	else
		message_print("there is no command '%s' (cyclops --help lists them)", name);
	return EXIT_USAGE;
}

/* Captures are memory-mapped. Reading a part that was cut off since raises SIGBUS. */
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
 * Gives freed large blocks back to the system at once. By default glibc raises its mmap threshold
 * to the largest block that was freed. It then keeps such blocks, and the next large table is
 * allocated beside them.
 */
static void give_back_large_blocks(void)
{
	enum { LARGE_BYTES = 256 << 10 };

	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

int main(int argc, char **argv)
{
	const struct sigaction gone = { .sa_handler = say_file_is_gone };
	const struct command *command;

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
	if (strcmp(argv[1], "--list-commands") == 0) {
		commands_print_list();
		return EXIT_DONE;
	}
	command = command_find(argv[1]);
	return command != NULL ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}

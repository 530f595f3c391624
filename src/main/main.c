/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the subcommand and runs it. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "base/text.h"
#include "cli/habits.h"
#include "cli/message.h"
#include "main/commands.h"
#include "html/html.h"
#include "main/catalog_date.h"
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
	printf("features: %s, %s\n", CYCLOPS_FEATURES,
	       html_viewer() != NULL ? "--html" : "no --html");
	printf("catalog of %s\n", CYCLOPS_CATALOG_DATE);
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

/* Tells whoever typed perf's words what they are here. */
static void say_ours(const struct habit_line *line)
{
	struct text text = { 0 };

	for (int i = 0; i < line->argc; i++)
		text_format(&text, " %s", line->argv[i]);
	message_print("here this is: cyclops%.*s", (int)text.n, text.bytes);
	text_release(&text);
}

/* Runs a command; argv[0] is its name. */
static int run_line(int argc, char **argv)
{
	struct habit_line line;
	struct err err;
	int status = EXIT_USAGE;

	if (habit_line_read(argc, argv, &line, &err) < 0) {
		status = fail(&err);
	} else if (strcmp(line.argv[0], "--version") == 0) {
		status = print_version();
	} else {
		const struct command *command = command_find(line.argv[0]);

		if (line.has_changed && command != NULL)
			say_ours(&line);
		status = command != NULL ? command->run(line.argc, line.argv)
					 : unknown_command(line.argv[0]);
	}
	habit_line_release(&line);
	return status;
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
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return print_version();
	if (strcmp(argv[1], "--list-commands") == 0) {
		commands_print_list();
		return EXIT_DONE;
	}
	return run_line(argc - 1, argv + 1);
}

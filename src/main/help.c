/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops help: shows manual pages. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/config.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "main/commands.h"
#include "main/manual.h"

static const struct usage usage = {
	"help", "[COMMAND]",
	"Shows the manual page of a command, or of the terms on screens: cyclops help terms."
};

/* Is it the page of cyclops itself, under which help is found, too? */
static bool is_about_all(const char *name)
{
	return strcmp(name, "cyclops") == 0 || strcmp(name, "help") == 0 ||
	       strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
}

static int no_page(const char *name)
{
	const char *nearest = command_nearest(name);

	if (nearest != NULL && strcmp(nearest, name) != 0)
		message_print("there is no manual page for '%s'; did you mean 'cyclops help %s'?",
			      name, nearest);
	else
		message_print(
			"there is no manual page for '%s' (cyclops --help lists the commands)",
			name);
	return EXIT_USAGE;
}

/* Returns the exit status. */
static int show_page(const char *page, const char *pager_command)
{
	FILE *stream = stdout;
	pid_t pager = isatty(STDOUT_FILENO) ? pager_start(pager_command, &stream) : 0;

	bool is_written = fputs(page, stream) >= 0;

	if (pager > 0)
		return pager_end(stream, pager, 0) == 0 ? EXIT_DONE : EXIT_FAILED;
	if (is_written && fflush(stream) == 0)
		return EXIT_DONE;
	message_print("standard output: cannot write: %s", strerror(errno));
	return EXIT_FAILED;
}

static int help_command(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const char *page;
	struct user_config config;
	struct err err;
	int status;

	if (argc > 2) {
		message_print("too many arguments: '%s' (usage: cyclops help [COMMAND])", argv[2]);
		return EXIT_USAGE;
	}
	page = manual_page(is_about_all(name) ? "" : name);
	if (page == NULL)
		return no_page(name);
	if (user_config_read(&config, &err) < 0)
		message_print("%s", err.text); /* help is most wanted then */
	status = show_page(page, config.values[CONFIG_PAGER]);
	user_config_release(&config);
	return status;
}

const struct command command_help = {
	.usage = &usage,
	.purpose = "the manual page of a command",
	.run = help_command,
};

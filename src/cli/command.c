/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/message.h"

int fail(const struct err *err)
{
	/* Positions 0 and "none" are not worth printing. */
	if (err->at == ERR_NOWHERE || err->at == 0 || err->code == ERR_USAGE)
		message_print("%s", err->text);
	else
		message_print("%s (at 0x%" PRIx64 ")", err->text, err->at);
	switch (err->code) {
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_NO_DATA:
		return EXIT_NO_DATA;
	default:
		return EXIT_FAILED;
	}
}

/* The width of help: at most a page, also on a wide terminal. */
static size_t help_width(void)
{
	enum { PAGE = 100 };
	unsigned width = output_width(stdout);

	return width < PAGE ? width : PAGE;
}

static void print_help(const struct usage *usage, const struct option_set *sets, size_t n_sets)
{
	size_t width = help_width();
	struct text text = { 0 };

	text_format(&text, "usage: cyclops %s", usage->command);
	put_words(&text, usage->synopsis, text.n, text.n + 1, width);
	put_words(&text, usage->summary, 0, 0, width);
	options_help(sets, n_sets, width, &text);
	text_format(&text, "\nThe manual page: cyclops help %s\n", usage->command);
	fwrite(text.bytes, 1, text.n, stdout);
	text_release(&text);
}

/* Options for programs: shells complete them. */
static void print_list(const struct option_set *sets, size_t n_sets)
{
	struct text text = { 0 };

	options_list(sets, n_sets, &text);
	fwrite(text.bytes, 1, text.n, stdout);
	text_release(&text);
}

/* Applies the configuration file. */
static int set_defaults(const struct option_set *sets, size_t n_sets, struct arguments *out,
			struct err *err)
{
	struct user_config config;
	int rc = user_config_read(&config, err);

	if (rc == 0)
		rc = options_set_defaults(sets, n_sets, &config, out, err);
	user_config_release(&config);
	return rc;
}

/* As options_parse(), with the configuration; fails if there are more arguments than a command takes. */
static int parse_command(const struct usage *usage, int argc, char **argv,
			 const struct option_set *sets, size_t n_sets, size_t max_arguments,
			 const bool *wants_help, struct arguments *out, struct err *err)
{
	if (options_parse(argc, argv, sets, n_sets, out, err) < 0)
		return -1;
	if (*wants_help)
		return 0;
	if (set_defaults(sets, n_sets, out, err) < 0 ||
	    options_protect_inputs(sets, n_sets, out, err) < 0)
		return -1;
	if (out->n <= max_arguments)
		return 0;
	if (usage->has_dashes)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "'%s': put -- before the program: cyclops %s [OPTIONS] -- %s",
			       out->items[max_arguments], usage->command,
			       out->items[max_arguments]);
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "too many arguments: '%s' (usage: cyclops %s %s)", out->items[max_arguments],
		       usage->command, usage->synopsis);
}

int start_command(const struct usage *usage, int argc, char **argv, const struct option_set *sets,
		  size_t n_sets, size_t max_arguments, const bool *wants_help,
		  struct arguments *out)
{
	struct err err;

	if (argc == 2 && strcmp(argv[1], "--list-options") == 0) {
		print_list(sets, n_sets);
		return EXIT_DONE;
	}
	if (parse_command(usage, argc, argv, sets, n_sets, max_arguments, wants_help, out, &err) <
	    0) {
		arguments_release(out);
		return fail(&err);
	}
	if (!*wants_help)
		return -1;
	arguments_release(out);
	print_help(usage, sets, n_sets);
	return EXIT_DONE;
}

int need_program(const struct usage *usage, int argc, int end, struct err *err)
{
	if (end < argc - 1)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "no program given (usage: cyclops %s %s)",
		       usage->command, usage->synopsis);
}

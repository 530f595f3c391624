/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: defaults for options, one "key = value" in a line. Blank lines and lines
 * that begin with # say nothing. Each key is the name of an option, and holds for the commands that
 * have it.
 */
#ifndef CYCLOPS_CLI_CONFIG_H
#define CYCLOPS_CLI_CONFIG_H

#include "base/arena.h"
#include "base/err.h"

enum config_key {
	CONFIG_SYMFS,
	CONFIG_DEBUGINFOD, /* "yes" or "no" */
	CONFIG_CPU,	   /* for commands that read a capture */
	CONFIG_WIDTH,
	CONFIG_PAGER,
	CONFIG_COLOR,
	N_CONFIG_KEYS,
};

/* What the file says. Zeroed is empty. */
struct user_config {
	const char *values[N_CONFIG_KEYS]; /* NULL: nothing; checked */
	struct arena memory;
};

/* The name of a key, which is that of an option. */
const char *user_config_key_name(enum config_key);

/*
 * Reads the text of a file. The error names line, what was found and what was wanted. To be released
 * also after a failure.
 */
int user_config_parse(const char *text, size_t size, const char *path, struct user_config *,
		      struct err *);

/*
 * Reads $XDG_CONFIG_HOME/cyclops/config, or else ~/.config/cyclops/config. It is empty if there is no
 * such file. COLUMNS of the environment replaces CONFIG_WIDTH.
 */
int user_config_read(struct user_config *, struct err *);

void user_config_release(struct user_config *);

#endif

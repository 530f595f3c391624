/* SPDX-License-Identifier: Apache-2.0 */
/* All subcommands: the one list of them. */
#ifndef CYCLOPS_MAIN_COMMANDS_H
#define CYCLOPS_MAIN_COMMANDS_H

#include "cli/command.h"

/* In the order of `cyclops --help`; ends with NULL. */
extern const struct command *const commands[];

/* The command of this name, or NULL. */
const struct command *command_find(const char *name);

/* The name of a command that is most like this word, or NULL. */
const char *command_nearest(const char *word);

/* A line for each, for programs: its name, what it reads, its purpose, with tabs between them. */
void commands_print_list(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all subcommands. */
#ifndef CYCLOPS_MAIN_COMMANDS_H
#define CYCLOPS_MAIN_COMMANDS_H

#include "cli/command.h"

/* In the order of `cyclops --help`; ends with NULL. */
extern const struct command *const commands[];

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* The name of the most similar command, or NULL. */
const char *command_nearest(const char *word);

/* Prints a line for each command, for programs: name, what it reads, purpose, separated by tabs. */
void commands_print_list(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands. Each takes its own name as argv[0] and returns the exit status. */
#ifndef CYCLOPS_COMMAND_COMMANDS_H
#define CYCLOPS_COMMAND_COMMANDS_H

/* The command whose name is most like this word, or NULL. */
const char *command_nearest(const char *word);

int command_report(int argc, char **argv);
int command_c2c(int argc, char **argv);
int command_hot(int argc, char **argv);
int command_annotate(int argc, char **argv);
int command_mem(int argc, char **argv);
int command_addr(int argc, char **argv);
int command_list(int argc, char **argv);
int command_stat(int argc, char **argv);
int command_quality(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_export(int argc, char **argv);
int command_run(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_record(int argc, char **argv);
int command_model(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_help(int argc, char **argv);

#endif

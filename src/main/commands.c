/* SPDX-License-Identifier: Apache-2.0 */
#include "main/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

#define COMMANDS(X)                                                                                \
	X(run)                                                                                     \
	X(stat)                                                                                    \
	X(record)                                                                                  \
	X(report)                                                                                  \
	X(hot)                                                                                     \
	X(annotate)                                                                                \
	X(blocks)                                                                                  \
	X(calls)                                                                                   \
	X(mem)                                                                                     \
	X(c2c)                                                                                     \
	X(addr)                                                                                    \
	X(cycles)                                                                                  \
	X(quality)                                                                                 \
	X(diff)                                                                                    \
	X(collect)                                                                                 \
	X(fleet)                                                                                   \
	X(list)                                                                                    \
	X(catalog)                                                                                 \
	X(doctor)                                                                                  \
	X(kernel)                                                                                  \
	X(latency)                                                                                 \
	X(model)                                                                                   \
	X(dump)                                                                                    \
	X(export)                                                                                  \
	X(help)

#define DECLARE(name) extern const struct command command_##name;
COMMANDS(DECLARE)
#undef DECLARE

#define POINT_TO(name) &command_##name,
const struct command *const commands[] = { COMMANDS(POINT_TO) NULL };
#undef POINT_TO

static const char *const reads_words[N_COMMAND_READS] = {
	[COMMAND_READS_NOTHING] = "nothing", [COMMAND_READS_CAPTURE] = "capture",
	[COMMAND_READS_RUNS] = "runs",	     [COMMAND_READS_PROGRAM] = "program",
	[COMMAND_READS_MACHINE] = "machine", [COMMAND_READS_CAPTURES] = "captures",
	[COMMAND_READS_DATASET] = "dataset",
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c != NULL; c++)
		if (strcmp((*c)->usage->command, name) == 0)
			return *c;
	return NULL;
}

static const char *command_name_at(const void *context, size_t i)
{
	(void)context;
	return commands[i] == NULL ? NULL : commands[i]->usage->command;
}

const char *command_nearest(const char *word)
{
	return nearest_word(word, command_name_at, NULL);
}

void commands_print_list(void)
{
	for (const struct command *const *c = commands; *c != NULL; c++)
		printf("%s\t%s\t%s\n", (*c)->usage->command, reads_words[(*c)->reads],
		       (*c)->purpose);
}

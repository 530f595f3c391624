/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops kernel: microbenchmarks, and what they show of this machine's events. */
#include <stddef.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "kernel/checks.h"

static const struct usage usage = {
	"kernel",
	"--validate|--calibrate [OPTIONS] [NAME]...",
	"Microbenchmarks: what they show of the events of this machine.",
};

struct kernel_command {
	bool wants_help;
};

static const struct option options[] = {
	{ "help", 'h', OPTION_FLAG, offsetof(struct kernel_command, wants_help), NULL,
	  "this text" },
};

static int kernel_command(int argc, char **argv)
{
	struct kernel_command command = { 0 };
	struct kernel_checks checks = { 0 };
	struct output_options output = { 0 };
	struct gate_options gates = { 0 };
	const struct option_set sets[] = {
		kernel_check_option_set(&checks),
		gate_option_set(&gates),
		output_option_set(&output),
		{ "Other:", options, COUNT(options), &command },
	};
	struct arguments arguments;
	struct err err;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), ARGUMENTS_MAX,
				   &command.wants_help, &arguments);

	if (status >= 0)
		return status;
	if (gate_options_check(&gates, &err) < 0 || kernel_checks_check(&checks, &gates, &err) < 0)
		return fail(&err);
	status = kernel_checks_run(&checks, &arguments, &output, &gates, &err);
	return status < 0 ? fail(&err) : status;
}

const struct command command_kernel = {
	.usage = &usage,
	.purpose = "microbenchmarks; checks of events and their penalties",
	.reads = COMMAND_READS_MACHINE,
	.run = kernel_command,
};

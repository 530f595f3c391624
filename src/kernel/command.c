/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops kernel: microbenchmarks, and what they show of this machine's events. */
#include <stddef.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "kernel/checks.h"
#include "kernel/one_run.h"

static const struct usage usage = {
	"kernel",
	"NAME [--PARAMETER N]... | --validate [NAME]... | --calibrate [OPTIONS]",
	"Runs a microbenchmark, and compares what events count with what it makes them count; or\n"
	"checks all events of this machine, or measures what they cost.",
};

struct kernel_command {
	bool wants_help;
};

static const struct option options[] = {
	{ "help", 'h', OPTION_FLAG, offsetof(struct kernel_command, wants_help), NULL,
	  "this text" },
};

/* Without --validate and --calibrate. */
static int run_one(const struct kernel_checks *checks, const struct one_run *one_run,
		   const struct arguments *arguments, const struct output_options *output,
		   struct err *err)
{
	const struct subject_options subject = kernel_checks_subject(checks);

	if (arguments->n != 1)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "kernel: wanted one NAME; cyclops list kernels has them");
	return one_run_print(one_run, arguments->items[0], &subject, output, err);
}

static int kernel_command(int argc, char **argv)
{
	struct kernel_command command = { 0 };
	struct kernel_checks checks = { 0 };
	struct one_run one_run = { 0 };
	struct output_options output = { 0 };
	struct gate_options gates = { 0 };
	const struct option_set sets[] = {
		one_run_option_set(&one_run),
		kernel_check_option_set(&checks),
		gate_option_set(&gates),
		output_option_set(&output),
		{ "Other:", options, COUNT(options), &command },
	};
	struct arguments arguments;
	struct err err;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), ARGUMENTS_MAX,
				   &command.wants_help, &arguments);

	output.inputs = &arguments;
	if (status >= 0)
		return status;
	if (gate_options_check(&gates, &err) < 0 || kernel_checks_check(&checks, &gates, &err) < 0)
		return fail(&err);
	if (!checks.validates && !checks.calibrates) {
		status = run_one(&checks, &one_run, &arguments, &output, &err);
		return status < 0 ? fail(&err) : status;
	}
	if (one_run_given(&one_run) != NULL) {
		err_set(&err, ERR_USAGE, ERR_NOWHERE, "--%s is about one run, without %s",
			one_run_given(&one_run), checks.validates ? "--validate" : "--calibrate");
		return fail(&err);
	}
	if (checks.calibrates && arguments.n > 0) {
		err_set(&err, ERR_USAGE, ERR_NOWHERE,
			"'%s': --calibrate measures all penalties, and takes no NAME",
			arguments.items[0]);
		return fail(&err);
	}
	status = kernel_checks_run(&checks, &arguments, &output, &gates, &err);
	return status < 0 ? fail(&err) : status;
}

const struct command command_kernel = {
	.usage = &usage,
	.purpose = "microbenchmarks; checks of events and their penalties",
	.reads = COMMAND_READS_MACHINE,
	.run = kernel_command,
};

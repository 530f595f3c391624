/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops model: a capture of an AArch64 program from a modelled CPU. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/message.h"
#include "cli/printer.h"
#include "model/experiments.h"
#include "model/run.h"
#include "model/what_if.h"
#include "spe/names.h"

static const struct usage usage = {
	"model",
	"[OPTIONS] -- PROGRAM [ARGUMENTS]",
	"Runs an AArch64 program on a modelled Neoverse N1, and records it as SPE would.",
	.has_dashes = true,
};

enum { DEFAULT_INTERVAL = 1024 };

struct model_command {
	const char *output, *counts, *truth, *model, *sysroot, *root, *emulator, *plugin;
	const char *what_if, *gains, *branch_stack;
	struct option_list sets, events, samples;
	unsigned interval, seed, min_latency, counters;
	bool without_jitter, loads, stores, branches, has_chains, wants_help;
};

#define AT(field) offsetof(struct model_command, field)

static const struct option sampling_options[] = {
	{ "interval", 'c', OPTION_COUNT, AT(interval), "N",
	  "operations between samples (default 1024)" },
	{ "no-jitter", 0, OPTION_FLAG, AT(without_jitter), NULL, "do not vary the interval" },
	{ "loads", 0, OPTION_FLAG, AT(loads), NULL, "record loads (and what else is asked for)" },
	{ "stores", 0, OPTION_FLAG, AT(stores), NULL, "record stores" },
	{ "branches", 0, OPTION_FLAG, AT(branches), NULL, "record branches" },
	{ "min-latency", 0, OPTION_NUMBER, AT(min_latency), "N",
	  "record operations of N cycles or more" },
	{ "event", 'e', OPTION_LIST, AT(events), "NAME",
	  "record operations with this event (l1d-refill …); repeated: with all of them" },
	{ "seed", 0, OPTION_NUMBER, AT(seed), "N", "seed of the choice of samples (default 0)" },
};

static const struct option pmu_options[] = {
	{ "sample", 0, OPTION_LIST, AT(samples), "EVENT:PERIOD[:skid=N|precise]",
	  "sample an event of the PMU instead of SPE, or with -c both; repeated: several" },
	{ "counters", 0, OPTION_COUNT, AT(counters), "N",
	  "multiplex these events on N counters (default: one for each)" },
	{ "stacks", 'g', OPTION_FLAG, AT(has_chains), NULL,
	  "with call chains, of the calls that were executed" },
	{ "branch-stack", 0, OPTION_OPTIONAL, AT(branch_stack), "[=N][,any|ret|call]",
	  "with the last N branches (default 32), or returns or calls" },
};

static const struct option what_if_options[] = {
	{ "what-if", 0, OPTION_OPTIONAL_WORD, AT(what_if), "[=LIST]",
	  "cycles if one resource were perfect: all resources, or some\n                          "
	  "(dram,page-walks@FUNCTION); list names them" },
	{ "gains", 0, OPTION_OUTPUT, AT(gains), "FILE",
	  "write that as json, by block of code, instead of a table" },
};

static const struct option output_options[] = {
	{ "format", 0, OPTION_TEXT, offsetof(struct output_options, format), "NAME",
	  "text, csv, json, parquet or markdown" },
	{ "table", 0, OPTION_TEXT, offsetof(struct output_options, table), "NAME",
	  "only this table" },
};

static const struct option machine_options[] = {
	{ "output", 'o', OPTION_OUTPUT, AT(output), "FILE", "the capture (default perf.data)" },
	{ "counts", 0, OPTION_OUTPUT, AT(counts), "FILE", "write the PMU's counts, as json" },
	{ "truth", 0, OPTION_OUTPUT, AT(truth), "FILE", "write every modelled event, as json" },
	{ "sysroot", 'L', OPTION_TEXT, AT(sysroot), "DIR",
	  "folder of the program's loader and libraries" },
	{ "root", 0, OPTION_TEXT, AT(root), "DIR",
	  "record paths without DIR; --symfs DIR finds them later" },
	{ "model", 0, OPTION_TEXT, AT(model), "NAME", "neoverse-n1, or a file of that form" },
	{ "set", 0, OPTION_LIST, AT(sets), "NAME=N", "another value of a parameter of the model" },
	{ "emulator", 0, OPTION_TEXT, AT(emulator), "PATH", "path of qemu-aarch64" },
	{ "plugin", 0, OPTION_TEXT, AT(plugin), "PATH", "path of cyclops-model.so" },
	{ "help", 'h', OPTION_FLAG, AT(wants_help), NULL, "this text" },
};

static int read_event_filter(const struct option_list *names, uint64_t *out, struct err *err)
{
	for (size_t i = 0; i < names->n; i++) {
		int bit = spe_event_find(names->items[i]);

		if (bit < 0)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--event: '%s' is not an SPE event; some are l1d-refill, "
				       "tlb-walk, mispredicted",
				       names->items[i]);
		*out |= (uint64_t)1 << bit;
	}
	return 0;
}

/* Says how many processes executed another program, after which they are not modelled. */
static void report_executed(const struct model_options *o, const struct model_end *end)
{
	if (end->n_executed > 0)
		message_print("%u process%s of the program executed another program, which is not "
			      "modelled; "
			      "%s has what %s did until then",
			      end->n_executed, end->n_executed > 1 ? "es" : "", o->output,
			      end->n_executed > 1 ? "they" : "it");
}

/* Says why a program did not end by itself, and which files are incomplete. */
static void report_end(const struct model_options *o, const struct model_end *end)
{
	struct text text = { 0 };

	if (end->signal == 0 && !end->is_unfinished)
		return;
	if (end->signal != 0)
		text_format(&text, "signal %d (%s) killed the program; ", end->signal,
			    strsignal(end->signal));
	else
		text_str(&text, "the program executed another program, which is not modelled; ");
	text_format(&text, "%s has the events until then", o->output);
	if (end->is_unfinished && o->truth != NULL)
		text_format(&text, ", %s was not written", o->truth);
	message_print("%.*s", (int)text.n, text.bytes);
	text_release(&text);
}

/* Format and rows of the tables of --what-if. */
struct what_if_output {
	struct output_options to;
	struct row_options rows;
};

static int print_what_if(const struct model_command *command, const struct what_if_output *output,
			 const char *capture, const struct gains *gains, struct err *err)
{
	const struct session_options session_options = {
		.path = capture,
		.symbols = { .use_this_machine = true, .symfs = command->root },
	};
	struct what_if what_if = { 0 };
	struct session session = { 0 };
	struct printer out = { 0 };
	int rc = session_open(&session, &session_options, err);

	if (rc == 0)
		what_if_make(gains, &session, rows_to_show(&output->rows), &what_if);
	if (rc == 0)
		rc = printer_open(&out, &output->to, "text", usage.command, &session, err);
	if (rc == 0)
		rc = printer_finish(&out, &output->to, &what_if.shown, 0, err);
	what_if_release(&what_if);
	session_release(&session);
	return rc;
}

/* Runs the experiments of --what-if; writes their cycles to --gains, or prints the tables. */
static int run_what_if_list(const struct model_command *command,
			    const struct what_if_output *output,
			    const struct model_options *options, struct model_end *end,
			    struct err *err)
{
	struct what_if_list list = { 0 };
	struct gains gains;
	int rc = what_if_list_read(command->what_if, &list, err);

	gains_init(&gains);
	if (rc == 0)
		rc = experiments_run(options, &list, command->root, &gains, end, err);
	if (rc == 0 && gains.runs.n > 0 && command->gains != NULL)
		rc = gains_write(&gains, command->gains, options->output, err);
	else if (rc == 0 && gains.runs.n > 0)
		rc = print_what_if(command, output, options->output, &gains, err);
	gains_release(&gains);
	what_if_list_release(&list);
	return rc;
}

static bool asks_for_spe(const struct model_command *command)
{
	return command->interval > 0 || command->without_jitter || command->loads ||
	       command->stores || command->branches || command->min_latency > 0 ||
	       command->events.n > 0;
}

/* Runs the program. argv[0] is "model"; the capture's header gets the whole command line. */
static int run_on_model(const struct model_command *command, const struct what_if_output *output,
			char **argv, int program, struct err *err)
{
	const char *line[ARGUMENTS_MAX * 32];
	struct model_options options = {
		.program = (const char *const *)&argv[program + 1],
		.command = line,
		.output = command->output != NULL ? command->output : "perf.data",
		.counts = command->counts,
		.truth = command->truth,
		.model = command->model,
		.sets = command->sets.items,
		.sysroot = command->sysroot,
		.root = command->root,
		.emulator = command->emulator,
		.plugin = command->plugin,
		.version = CYCLOPS_VERSION,
		.interval = command->interval > 0 ? command->interval : DEFAULT_INTERVAL,
		.seed = command->seed,
		.without_jitter = command->without_jitter,
		.loads = command->loads,
		.stores = command->stores,
		.branches = command->branches,
		.min_latency = command->min_latency,
		.samples = command->samples.items,
		.branch_stack = command->branch_stack,
		.has_chains = command->has_chains,
		.counters = command->counters,
		.without_spe = command->samples.n > 0 && !asks_for_spe(command),
	};
	struct model_end end;
	size_t n = 0;

	line[n++] = "cyclops";
	for (char **word = argv; *word != NULL && n < COUNT(line) - 1; word++)
		line[n++] = *word;
	line[n] = NULL;
	if (check_capture_output(options.output, err) < 0 ||
	    read_event_filter(&command->events, &options.event_filter, err) < 0)
		return -1;
	if (command->what_if != NULL)
		return run_what_if_list(command, output, &options, &end, err) < 0 ? -1 : end.status;
	if (model_run(&options, &end, err) < 0)
		return -1;
	report_end(&options, &end);
	report_executed(&options, &end);
	return end.status;
}

static int print_what_if_names(void)
{
	struct text names = { 0 };

	what_if_names(&names);
	fwrite(names.bytes, 1, names.n, stdout);
	text_release(&names);
	return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int model_command(int argc, char **argv)
{
	struct model_command command = { 0 };
	struct what_if_output output = { 0 };
	const struct option_set sets[] = {
		{ "What if:", what_if_options, COUNT(what_if_options), &command },
		{ "Output of --what-if:", output_options, COUNT(output_options), &output.to },
		unsorted_row_option_set(&output.rows),
		{ "Sampling:", sampling_options, COUNT(sampling_options), &command },
		{ "Samples of the PMU:", pmu_options, COUNT(pmu_options), &command },
		{ "Machine:", machine_options, COUNT(machine_options), &command },
	};
	int program = options_find_end(argc, argv);
	struct arguments arguments;
	struct err err;
	int status = start_command(&usage, program, argv, sets, COUNT(sets), 0, &command.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	if (command.what_if != NULL && strcmp(command.what_if, "list") == 0)
		return print_what_if_names();
	output.to.inputs = &arguments;
	if (need_program(&usage, argc, program, &err) < 0)
		return fail(&err);
	status = run_on_model(&command, &output, argv, program, &err);
	return status < 0 ? fail(&err) : status;
}

const struct command command_model = {
	.usage = &usage,
	.purpose = "a capture of an AArch64 program, without Arm hardware",
	.reads = COMMAND_READS_PROGRAM,
	.run = model_command,
};

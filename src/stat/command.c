/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops stat: counts, and what they mean. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "cli/command.h"
#include "cli/printer.h"
#include "estimate/stat_record.h"
#include "stat/gates.h"
#include "stat/live.h"
#include "stat/probes/answer.h"
#include "stat/regions/regions.h"
#include "stat/stat.h"
#include "stat/stream.h"
#include "stat/types.h"

static const struct usage usage = {
	"stat",
	"[OPTIONS] [-- COMMAND [ARGUMENTS]]",
	"What limits a program: counts and metrics, top-down.",
};

struct stat_command {
	const char *import, *against, *cpu, *catalog;
	struct option_list regions, groups, metrics, events, thresholds;
	struct live_options live;
	struct gate_options gates;
	struct gates *results; /* of the gates */
	unsigned level, slots;
	const char *template;
	bool all, tree, by_region, wants_help;
};

#define STAT(field) offsetof(struct stat_command, field)

static const struct option input_list[] = {
	{ "import", 0, OPTION_INPUT, STAT(import), "FILE",
	  "read counts of perf stat (plain, -x, -j, record), topdown-tool (csv),\n                 "
	  "         rpistat, cyclops stat, cyclops model (json) or libcyclops (json, csv);\n       "
	  "                   - is a pipe" },
	{ "against", 0, OPTION_INPUT, STAT(against), "FILE",
	  "counts of another run, to compare with" },
	{ "region", 0, OPTION_LIST, STAT(regions), "NAME",
	  "with --import, this region alone of a program that measured itself; with\n              "
	  "           "
	  " -- COMMAND, calls of this function: NAME, MODULE:NAME; may be repeated" },
	{ "cpu", 0, OPTION_TEXT, STAT(cpu), "NAME", "take the CPU to be this one" },
	{ "catalog", 0, OPTION_INPUT, STAT(catalog), "FILE",
	  "more facts about CPUs; Arm's telemetry files, too" },
	{ "slots", 0, OPTION_COUNT, STAT(slots), "N",
	  "slots in a cycle, where only the kernel of the machine knows them" },
	{ "help", 'h', OPTION_FLAG, STAT(wants_help), NULL, "this text" },
};

static const struct option what_list[] = {
	{ "level", 0, OPTION_COUNT, STAT(level), "N", "levels of the tree to show (1: its roots)" },
	{ "groups", 0, OPTION_LIST, STAT(groups), "NAME[,NAME]", "these groups of metrics" },
	{ "metrics", 0, OPTION_LIST, STAT(metrics), "NAME[,NAME]", "these metrics" },
	{ "events", 'e', OPTION_LIST, STAT(events), "NAME[,NAME]", "these events" },
	{ "all", 0, OPTION_FLAG, STAT(all), NULL, "all metrics and events" },
	{ "tree", 0, OPTION_FLAG, STAT(tree), NULL,
	  "with --import, instead: what cycles were lost for (see cycles)" },
	{ "by-region", 0, OPTION_FLAG, STAT(by_region), NULL,
	  "with --import, instead: the regions of a program that measured\n                        "
	  " "
	  " itself, and what stands out in each" },
	{ "template", 0, OPTION_TEXT, STAT(template), "NAME|FILE",
	  "with --tree: another tree than that of the CPU" },
	{ "threshold", 0, OPTION_LIST, STAT(thresholds), "NAME=VALUE",
	  "value from which on a metric is a finding" },
};

static const char *const *list_or_null(const struct option_list *list)
{
	return list->n > 0 ? list->items : NULL;
}

/* The text format "rates" is of this command alone. */
static bool wants_rates(const struct output_options *output)
{
	return output->format != NULL && strcmp(output->format, "rates") == 0;
}

static struct stat_options options_of(const struct stat_command *command,
				      const struct output_options *output)
{
	bool as_rates = wants_rates(output);
	bool is_chosen = command->groups.n + command->metrics.n + command->events.n > 0;

	return (struct stat_options){
		.level = command->level,
		.groups = list_or_null(&command->groups),
		.metrics = list_or_null(&command->metrics),
		.events = list_or_null(&command->events),
		.thresholds = list_or_null(&command->thresholds),
		.all = command->all || (as_rates && !is_chosen),
		.tree = command->template != NULL ? command->template
			: command->tree		  ? ""
						  : NULL,
		.slots = command->slots,
		.as_rates = as_rates,
		.for_programs =
			output->format != NULL && !as_rates && !printer_is_for_people(output),
	};
}

static int read_counts(const char *path, struct counts *out, struct err *err)
{
	bool is_pipe = strcmp(path, "-") == 0;
	struct mapped file = { 0 };
	int rc;

	if ((is_pipe ? mapped_from_fd(&file, 0, "standard input", err)
		     : mapped_open(&file, path, err)) < 0)
		return -1;
	rc = counts_read(file.bytes, file.size, is_pipe ? NULL : path, out, err);
	mapped_release(&file);
	return rc < 0 ? err_within(err, "%s", is_pipe ? "standard input" : path) : 0;
}

/* "rates" is text. */
static struct output_options as_tables(const struct output_options *asked)
{
	struct output_options output = *asked;

	if (wants_rates(asked))
		output.format = "text";
	return output;
}

static int stat_print(const struct tables *answer, const struct output_options *asked,
		      bool is_modelled, struct err *err)
{
	struct output_options output = as_tables(asked);
	struct printer out = { 0 };
	int rc;

	if (printer_open(&out, &output, "text", usage.command, NULL, err) < 0)
		return -1;
	out.document.is_modelled = is_modelled;
	rc = printer_finish(&out, &output, answer, 0, err);
	return rc;
}

/* What is counted here is what was asked for; a file has what it has. */
static int keep_events(const struct stat_command *command, struct stat_types *made, struct err *err)
{
	const char *const *lists = list_or_null(&command->events);

	return command->import == NULL || lists == NULL ? 0
							: stat_types_keep_events(made, lists, err);
}

/* Judges the conditions, prints the tables with theirs, and writes the report. */
static int stat_finish(const struct stat_command *command, struct stat_types *made,
		       struct counts *counts, const struct output_options *output, bool is_modelled,
		       struct err *err)
{
	struct stat_options options = options_of(command, output);
	struct tables shown = { 0 };
	int rc = stat_judge(&command->gates, made, counts, &options, command->results, err);

	if (rc == 0) {
		command->results->is_modelled = is_modelled;
		shown = gates_shown(command->results, &made->shown);
		rc = stat_print(&shown, output, is_modelled, err);
	}
	if (rc == 0)
		rc = gate_options_report(&command->gates, command->results, output, usage.command,
					 err);
	vec_release(&shown.list);
	return rc;
}

static int stat_compare(const struct catalog *catalog, const struct stat_command *command,
			struct counts *these, const struct output_options *output, struct err *err)
{
	struct stat_options options = options_of(command, output);
	struct counts others = { 0 };
	struct stat_types before = { 0 }, made = { 0 };
	int rc = -1;

	if (read_counts(command->against, &others, err) == 0 &&
	    (command->regions.n == 0 ||
	     counts_take_region(&others, command->regions.items[0], err) == 0) &&
	    stat_types_compare(catalog, command->cpu, &others, these, &options, &before, &made,
			       err) == 0 &&
	    keep_events(command, &made, err) == 0)
		rc = stat_finish(command, &made, these, output,
				 these->is_modelled || others.is_modelled, err);
	stat_types_release(&made);
	stat_types_release(&before);
	counts_release(&others);
	return rc;
}

static int explain(const struct catalog *catalog, const struct stat_command *command,
		   struct counts *counts, const struct output_options *output, struct err *err)
{
	struct stat_options options = options_of(command, output);
	struct stat_types made = { 0 };
	int rc = stat_types_make(catalog, command->cpu, counts, &options, &made, err);

	if (rc == 0)
		rc = keep_events(command, &made, err);
	if (rc == 0)
		rc = stat_finish(command, &made, counts, output, counts->is_modelled, err);
	stat_types_release(&made);
	return rc;
}

/* Counts on this machine. What is counted is told on the way if intervals were asked for. */
static int answer_live(const struct catalog *catalog, const struct stat_command *command,
		       const struct output_options *output, struct counts *counts, int *status,
		       struct err *err)
{
	struct stat_options options = options_of(command, output);
	struct output_options tables = as_tables(output);
	struct stat_stream stream = {
		.catalog = catalog,
		.cpu_name = command->cpu,
		.options = &options,
		.output = &tables,
		.command = usage.command,
	};
	const struct live_ticks ticks = {
		.begin = stat_stream_begin,
		.tick = stat_stream_tick,
		.context = &stream,
	};
	int rc;

	if (command->against != NULL && command->live.interval_ms > 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--against compares whole runs: not together with --interval");
	if (command->gates.conditions.n > 0 && command->live.interval_ms > 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--fail-if is about whole runs: not together with --interval");
	rc = live_count(&command->live, &options, catalog, command->cpu, &ticks, counts, status,
			err);
	if (rc == 0 && stream.is_open)
		rc = stat_stream_end(&stream, counts, err);
	else if (rc == 0)
		rc = (command->against != NULL ? stat_compare : explain)(catalog, command, counts,
									 output, err);
	stat_stream_release(&stream);
	return rc;
}

/* One row for each region. */
static int show_regions(const struct catalog *catalog, const struct stat_command *command,
			struct counts *counts, const struct output_options *output, struct err *err)
{
	struct stat_options options = options_of(command, output);
	struct table regions = { 0 };
	struct tables shown = { 0 };
	struct cpu_pmu *pmu = NULL;
	int rc = -1;

	if (counts->regions.n == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "%s: the counts are of a whole program; regions are what libcyclops "
			       "writes (cyclops_measure(3))",
			       command->import);
	if (stat_facts(catalog, command->cpu, counts, &pmu, err) == 0) {
		stat_regions_table(pmu, counts, &options, &regions);
		*vec_add(&shown.list) = &regions;
		rc = stat_print(&shown, output, counts->is_modelled, err);
	}
	table_release(&regions);
	vec_release(&shown.list);
	cpu_pmu_free(pmu);
	return rc;
}

static int answer_import(const struct catalog *catalog, const struct stat_command *command,
			 const struct output_options *output, struct counts *counts,
			 struct err *err)
{
	if (live_is_wanted(&command->live))
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--import reads counts from a file: it excludes options that count here");
	if (read_counts(command->import, counts, err) < 0)
		return -1;
	if (command->by_region)
		return show_regions(catalog, command, counts, output, err);
	if (command->regions.n > 0 &&
	    counts_take_region(counts, command->regions.items[0], err) < 0)
		return -1;
	return (command->against != NULL ? stat_compare : explain)(catalog, command, counts, output,
								   err);
}

/* A program is not run for a condition that makes no sense. */
static int check_conditions(const struct stat_command *command, struct err *err)
{
	struct condition c;

	for (size_t i = 0; i < command->gates.conditions.n; i++)
		if (condition_parse(command->gates.conditions.items[i], &c, err) < 0)
			return -1;
	return 0;
}

/* Calls of functions of a program that runs now. */
static bool wants_calls(const struct stat_command *command)
{
	return command->regions.n > 0 && command->import == NULL;
}

/* They are counted in one way. */
static int check_calls(const struct stat_command *command, const struct output_options *output,
		       struct err *err)
{
	const struct live_options *live = &command->live;

	if (live->command == NULL)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--region: counts calls of a function in a program (cyclops stat --region "
			"FUNCTION -- COMMAND), or reads what libcyclops wrote (cyclops stat "
			"--import FILE --region NAME)");
	if (live->pids != NULL || live->tids != NULL || live->cpus != NULL ||
	    live->cgroup != NULL || live->all_cpus || live->by_cpu || live->repeat > 0 ||
	    live->interval_ms > 0 || live->no_mux || live->delay != NULL || live->control != NULL)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--region counts in each thread of a command: not together with --pid, "
			"--tid, --cpus, --all-cpus, --cgroup, --by-cpu, --repeat, --interval, "
			"--no-mux, --delay or --control");
	if (command->against != NULL || command->tree || command->template != NULL ||
	    command->groups.n + command->metrics.n + command->thresholds.n > 0 || command->all ||
	    command->level > 0 || command->gates.conditions.n > 0 || wants_rates(output))
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--region -- COMMAND counts events (--events): not together with "
			"--against, "
			"--tree, --groups, --metrics, --all, --level, --fail-if or --format rates; "
			"--output FILE.json, then --import FILE.json and diff do this");
	return 0;
}

/* Regions are those of a file, and each is asked the same. */
static int check_regions(const struct stat_command *command, const struct output_options *output,
			 struct err *err)
{
	if (command->by_region && command->import == NULL)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--by-region reads what libcyclops wrote: cyclops stat --import FILE "
			"--by-region");
	if (wants_calls(command))
		return check_calls(command, output, err);
	if (command->regions.n > 1)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--region: one at a time with --import; --by-region shows all");
	if (command->by_region &&
	    (command->regions.n > 0 || command->against != NULL || command->tree ||
	     command->template != NULL || wants_rates(output) || command->gates.conditions.n > 0 ||
	     command->groups.n + command->metrics.n + command->events.n > 0))
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--by-region is a question of its own: not with --region, --against, "
			"--tree, --groups, --metrics, --events, --fail-if or --format rates");
	return 0;
}

/* A tree is of counts that are there, and of one run. */
static int check_tree(const struct stat_command *command, const struct output_options *output,
		      struct err *err)
{
	if (!command->tree && command->template == NULL)
		return 0;
	if (command->import == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--tree reads counts from a file: cyclops stat --all --format json "
			       "--output FILE -- COMMAND, then cyclops stat --import FILE --tree");
	if (command->against != NULL || wants_rates(output) ||
	    command->groups.n + command->metrics.n + command->events.n > 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--tree is a question of its own: not with --against, --groups, "
			       "--metrics, --events or --format rates");
	return 0;
}

static int answer_calls(const struct stat_command *command, const struct output_options *output,
			int *status, struct err *err)
{
	const struct probe_options options = {
		.functions = command->regions.items,
		.events = list_or_null(&command->events),
		.command = command->live.command,
		.by_thread = command->live.by_thread,
		.without_children = command->live.no_inherit,
		.user_only = command->live.user,
		.kernel_only = command->live.kernel,
	};

	return probes_answer(&options, output, status, err);
}

/* *status becomes that of the command that was counted. */
static int answer(const struct stat_command *command, const struct output_options *output,
		  int *status, struct err *err)
{
	struct catalog *catalog = NULL;
	struct counts counts = { 0 };
	int rc = -1;

	if (gate_options_check(&command->gates, err) < 0 || check_conditions(command, err) < 0 ||
	    check_tree(command, output, err) < 0 || check_regions(command, output, err) < 0)
		return -1;
	if (wants_calls(command))
		return answer_calls(command, output, status, err);
	if (catalog_open(command->catalog, &catalog, err) == 0)
		rc = command->import == NULL
			     ? answer_live(catalog, command, output, &counts, status, err)
			     : answer_import(catalog, command, output, &counts, err);
	catalog_free(catalog);
	counts_release(&counts);
	return rc;
}

static int stat_command(int argc, char **argv)
{
	struct stat_command command = { 0 };
	struct output_options output = { 0 };
	const struct option_set sets[] = {
		{ "Input:", input_list, COUNT(input_list), &command },
		live_option_set(&command.live),
		{ "What:", what_list, COUNT(what_list), &command },
		gate_option_set(&command.gates),
		output_option_set(&output),
	};
	struct arguments arguments;
	struct gates results;
	struct err err;
	int program = options_find_end(argc, argv);
	int status = start_command(&usage, program, argv, sets, COUNT(sets), ARGUMENTS_MAX,
				   &command.wants_help, &arguments);

	output.inputs = &arguments;
	if (status >= 0)
		return status;
	if (arguments.n > 0) {
		err_set(&err, ERR_USAGE, ERR_NOWHERE,
			"'%s': put -- before the command: cyclops stat [OPTIONS] -- %s",
			arguments.items[0], arguments.items[0]);
		return fail(&err);
	}
	if (program < argc - 1)
		command.live.command = &argv[program + 1];
	status = EXIT_DONE;
	gates_init(&results);
	command.results = &results;
	if (answer(&command, &output, &status, &err) < 0) {
		program = gate_options_fail(&command.gates, &results, usage.command, &err);
		status = status > program ? status : program;
		results.n_failed = 0; /* there is no answer that says so */
	}
	status = gate_options_status(&command.gates, &results, status);
	gates_release(&results);
	return status;
}

const struct command command_stat = {
	.usage = &usage,
	.purpose = "what limits a program: counts and metrics, top-down",
	.reads = COMMAND_READS_PROGRAM,
	.run = stat_command,
};

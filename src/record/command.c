/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops record: a capture of a running program. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/message.h"
#include "record/amounts.h"
#include "record/attr.h"
#include "record/record.h"

static const struct usage usage = {
	"record",
	"[OPTIONS] [--] [PROGRAM [ARGUMENTS]]",
	"Records a program, other processes or the whole machine into perf.data.",
};

struct record_command {
	struct option_list events;
	const char *period, *frequency, *call_graph, *branches, *registers, *clock, *spe, *cycles;
	const char *pids, *tids, *cpus, *cgroup;
	const char *output, *compression, *max_size, *duration, *delay, *ring, *aux;
	bool fp_stacks, no_stacks, addresses, physical, weight, switches, system_wide, no_inherit;
	bool snapshot, quiet, wants_help;
};

#define AT(field) offsetof(struct record_command, field)

static const struct option what_options[] = {
	{ "event", 'e', OPTION_LIST, AT(events), "EVENT[,EVENT]",
	  "what to sample: cycles, l1d_cache_refill:u, r11,\n"
	  "                          PMU/event=0x11/, {a,b}:S, mem:ADDRESS:x (default cycles)" },
	{ "count", 'c', OPTION_TEXT, AT(period), "N", "a sample each N events" },
	{ "freq", 'F', OPTION_TEXT, AT(frequency), "HZ",
	  "samples per second, or max (default 4000; of stacks beside\n"
	  "                          --spe: 199)" },
	{ "spe", 0, OPTION_OPTIONAL, AT(spe), "[=FILTERS]",
	  "Arm SPE: loads, stores, branches, latency>=N, event=NAME,\n"
	  "                          event!=NAME, source!=N, interval=N, no-jitter, …" },
	{ "cycles", 0, OPTION_OPTIONAL, AT(cycles), "[=all]",
	  "the events of cycle accounting on this CPU, for 'cyclops cycles'; all: also those\n"
	  "                          that only explain others. --count: of cycles (default 2 000 "
	  "003)" },
	{ "snapshot", 'S', OPTION_FLAG, AT(snapshot), NULL,
	  "SPE: keep only the newest records; write them on SIGUSR2 and at the end" },
};

static const struct option sample_options[] = {
	{ "stacks", 'g', OPTION_FLAG, AT(fp_stacks), NULL, "call chains, by frame pointers" },
	{ "no-stacks", 0, OPTION_FLAG, AT(no_stacks), NULL,
	  "with --spe: no call chains beside it, from which its callers are estimated" },
	{ "call-graph", 0, OPTION_TEXT, AT(call_graph), "KIND",
	  "call chains: fp, dwarf[,BYTES] (copies the stack), lbr" },
	{ "branches", 'b', OPTION_OPTIONAL, AT(branches), "[=KINDS]",
	  "branch stacks, the branches before each sample: any, any_call, cond, u …" },
	{ "data", 'd', OPTION_FLAG, AT(addresses), NULL,
	  "data addresses (with SPE, where possible and without -e)" },
	{ "phys-data", 0, OPTION_FLAG, AT(physical), NULL, "physical data addresses, too" },
	{ "weight", 'W', OPTION_FLAG, AT(weight), NULL, "weight of samples: latency on most CPUs" },
	{ "regs", 0, OPTION_OPTIONAL, AT(registers), "[=REG,REG]",
	  "registers at each sample: x0,x1,sp … (default all)" },
	{ "switch-events", 0, OPTION_FLAG, AT(switches), NULL, "a record for each context switch" },
	{ "clockid", 'k', OPTION_TEXT, AT(clock), "CLOCK",
	  "clock of timestamps: mono, raw, boot, real or tai" },
};

static const struct option whom_options[] = {
	{ "all-cpus", 'a', OPTION_FLAG, AT(system_wide), NULL, "all CPUs" },
	{ "cpus", 'C', OPTION_TEXT, AT(cpus), "LIST", "only these CPUs: 0-3,8" },
	{ "pid", 'p', OPTION_TEXT, AT(pids), "PID[,PID]", "running processes" },
	{ "tid", 't', OPTION_TEXT, AT(tids), "TID[,TID]", "running threads" },
	{ "cgroup", 'G', OPTION_TEXT, AT(cgroup), "PATH", "the processes of this cgroup" },
	{ "no-inherit", 'i', OPTION_FLAG, AT(no_inherit), NULL, "exclude children" },
	{ "duration", 0, OPTION_TEXT, AT(duration), "TIME", "stop after 500ms, 10s or 2m" },
	{ "delay", 'D', OPTION_TEXT, AT(delay), "TIME", "begin after this time" },
};

static const struct option file_options[] = {
	{ "output", 'o', OPTION_OUTPUT, AT(output), "FILE", "the capture (default perf.data)" },
	{ "compress", 'z', OPTION_OPTIONAL, AT(compression), "[=LEVEL]",
	  "compress with zstd, level 1 (default) to 22" },
	{ "max-size", 0, OPTION_TEXT, AT(max_size), "SIZE", "stop at about 512M or 2G" },
	{ "ring", 'm', OPTION_TEXT, AT(ring), "SIZE",
	  "memory for each CPU's records (default: enough)" },
	{ "aux", 0, OPTION_TEXT, AT(aux), "SIZE", "memory for each CPU's SPE data (default 4M)" },
	{ "quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "no summary at the end" },
	{ "help", 'h', OPTION_FLAG, AT(wants_help), NULL, "this text" },
};

/* "fp", "lbr", "dwarf" or "dwarf,BYTES" */
static int read_stacks(const struct record_command *c, struct record_options *out, struct err *err)
{
	const char *kind = c->call_graph;
	uint64_t bytes = 0;

	out->without_callers = c->no_stacks;
	if (c->no_stacks && (c->fp_stacks || kind != NULL))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--no-stacks excludes --stacks and --call-graph");
	if (c->fp_stacks)
		out->stacks = RECORD_FRAME_POINTERS;
	if (kind == NULL)
		return 0;
	if (strcmp(kind, "fp") == 0) {
		out->stacks = RECORD_FRAME_POINTERS;
	} else if (strcmp(kind, "lbr") == 0) {
		out->stacks = RECORD_LBR;
	} else if (strcmp(kind, "dwarf") == 0 || strncmp(kind, "dwarf,", 6) == 0) {
		out->stacks = RECORD_DWARF;
		if (kind[5] == ',' && read_count("call-graph", kind + 6, &bytes, err) < 0)
			return -1;
		if (bytes > RECORD_STACK_MAX)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--call-graph '%s': at most %d bytes fit in a record", kind,
				       RECORD_STACK_MAX);
		out->stack_bytes = (uint32_t)(bytes + 7) & ~7u;
	} else {
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--call-graph '%s': there are fp, dwarf[,BYTES] and lbr", kind);
	}
	return 0;
}

static int read_rates(const struct record_command *c, struct record_options *out, struct err *err)
{
	if (c->cycles != NULL && c->frequency != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--cycles excludes --freq: what samples represent must be known, so "
			       "periods are constant; --count N sets that of cycles");
	if (c->cycles != NULL && c->cycles[0] != '\0' && strcmp(c->cycles, "all") != 0)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--cycles=%.40s: there is only --cycles=all, for events that explain "
			"others, too",
			c->cycles);
	if (c->period != NULL && c->frequency != NULL)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--count excludes --freq (one event's own period: PMU/NAME,period=N/)");
	if (c->frequency != NULL && strcmp(c->frequency, "max") == 0) {
		out->frequency = UINT64_MAX;
		return 0;
	}
	if (read_count("freq", c->frequency, &out->frequency, err) < 0)
		return -1;
	return read_count("count", c->period, &out->period, err);
}

static int read_sizes(const struct record_command *c, struct record_options *out, struct err *err)
{
	uint64_t level = 1;

	if (c->compression != NULL && c->compression[0] != '\0' &&
	    read_count("compress", c->compression, &level, err) < 0)
		return -1;
	out->compression = c->compression != NULL ? (int)(level > 99 ? 99 : level) : 0;
	if (read_bytes("max-size", c->max_size, &out->max_bytes, err) < 0 ||
	    read_bytes("ring", c->ring, &out->ring_bytes, err) < 0 ||
	    read_bytes("aux", c->aux, &out->aux_bytes, err) < 0 ||
	    read_time_ns("duration", c->duration, &out->duration_ns, err) < 0)
		return -1;
	return read_time_ns("delay", c->delay, &out->delay_ns, err);
}

static int check_whom(const struct record_command *c, bool has_program, struct err *err)
{
	if (c->system_wide && (c->pids != NULL || c->tids != NULL))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--all-cpus excludes --pid and --tid");
	if (c->cgroup != NULL && (c->pids != NULL || c->tids != NULL))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--cgroup excludes --pid and --tid");
	if (!has_program && !c->system_wide && c->pids == NULL && c->tids == NULL &&
	    c->cpus == NULL && c->cgroup == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "nothing to record: give a program, --pid, or --all-cpus (usage: "
			       "cyclops %s %s)",
			       usage.command, usage.synopsis);
	return 0;
}

static int read_options(const struct record_command *c, struct record_options *out, struct err *err)
{
	out->output = c->output != NULL ? c->output : "perf.data";
	if (check_capture_output(out->output, err) < 0)
		return -1;
	out->version = CYCLOPS_VERSION;
	out->pids = c->pids;
	out->tids = c->tids;
	out->cpus = c->cpus;
	out->cgroup = c->cgroup;
	out->is_system_wide = c->system_wide;
	out->without_children = c->no_inherit;
	out->events = c->events.items;
	out->n_events = c->events.n;
	out->spe = c->spe;
	out->cycles = c->cycles;
	out->with_addresses = c->addresses;
	out->with_physical = c->physical;
	out->with_weight = c->weight;
	out->with_registers = c->registers != NULL;
	out->with_switches = c->switches;
	out->clock = c->clock;
	out->is_snapshot = c->snapshot;
	if (c->registers != NULL && record_registers_parse(c->registers, &out->registers, err) < 0)
		return -1;
	if (c->branches != NULL && record_branches_parse(c->branches, &out->branch_filter, err) < 0)
		return -1;
	return read_rates(c, out, err) < 0 || read_stacks(c, out, err) < 0
		       ? -1
		       : read_sizes(c, out, err);
}

/* Prints the summary in one line, then the diagnostics. */
static void print_summary(const struct record_options *o, const struct record_summary *s,
			  const struct diags *diags, bool is_quiet)
{
	struct text line = { 0 };

	record_sum_up(o, s, &line);
	if (!is_quiet || record_has_losses(s))
		message_print("%.*s", (int)line.n, line.bytes);
	text_release(&line);
	for (size_t i = 0; i < diags->list.n; i++)
		message_print("%s", diags->list.items[i].text);
}

/*
 * *out_status is the exit status of the program, as a shell gives it. It is set after a failure,
 * too.
 */
static int record_run(const struct record_command *command, char **argv, int program,
		      int *out_status, struct err *err)
{
	struct record_options options = { 0 };
	struct record_summary summary = { 0 };
	struct diags diags = { 0 };
	const char **line;
	size_t n = 0;
	int rc;

	if (argv[program] != NULL)
		options.program = &argv[program];
	if (check_whom(command, options.program != NULL, err) < 0 ||
	    read_options(command, &options, err) < 0)
		return -1;
	while (argv[n] != NULL)
		n++;
	line = mem_zalloc(n + 2, sizeof(*line));
	line[0] = "cyclops";
	for (size_t i = 0; i < n; i++)
		line[i + 1] = argv[i];
	options.command_line = line;
	rc = record(&options, &kernel_linux, &summary, &diags, err);
	free(line);
	if (rc == 0)
		print_summary(&options, &summary, &diags, command->quiet);
	diags_release(&diags);
	*out_status = summary.status;
	return rc;
}

static int record_command(int argc, char **argv)
{
	struct record_command command = { 0 };
	const struct option_set sets[] = {
		{ "What:", what_options, COUNT(what_options), &command },
		{ "Each sample:", sample_options, COUNT(sample_options), &command },
		{ "What and how long:", whom_options, COUNT(whom_options), &command },
		{ "File:", file_options, COUNT(file_options), &command },
	};
	int program = options_find_program(argc, argv, sets, COUNT(sets));
	struct arguments arguments;
	int program_status = 0;
	struct err err;
	int status = start_command(&usage, program, argv, sets, COUNT(sets), 0, &command.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	if (record_run(&command, argv, program, &program_status, &err) == 0)
		return program_status;
	status = fail(&err);
	return program_status != 0 ? program_status : status;
}

const struct command command_record = {
	.usage = &usage,
	.purpose = "a capture of a running program",
	.reads = COMMAND_READS_PROGRAM,
	.run = record_command,
};

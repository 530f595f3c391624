/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops list: what is known about CPUs. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/printer.h"
#include "doctor/doctor.h"
#include "list/catalog_tables.h"
#include "list/kernels_table.h"
#include "list/penalties.h"
#include "metrics/cpu_choice.h"
#include "pmu/here.h"
#include "pmu/machine.h"

static const struct usage usage = {
	"list",
	"[events|metrics|groups|penalties|cpus|kernels] [PATTERN] [--cpu NAME] [OPTIONS]",
	"Lists the events, metrics and groups of a CPU, what its events cost, the known CPUs, or "
	"the "
	"microbenchmarks of cyclops kernel. "
	"PATTERN "
	"is a part of a name or label (tlb), or all of it with * and ? ('L1D_*RD').",
};

struct list_command {
	const char *cpu, *catalog;
	bool wants_help;
};

static const struct option options[] = {
	{ "cpu", 0, OPTION_TEXT, offsetof(struct list_command, cpu), "NAME",
	  "of this CPU (default: that of this machine, else what\n                          all "
	  "Arm CPUs have in common)" },
	{ "catalog", 0, OPTION_INPUT, offsetof(struct list_command, catalog), "FILE",
	  "more facts about CPUs; Arm's telemetry files, too" },
	{ "help", 'h', OPTION_FLAG, offsetof(struct list_command, wants_help), NULL, "this text" },
};

/* The lists that can be asked for. */
static const struct subject {
	const char *name;
	void (*fill)(const struct catalog_view *, struct table *);
} subjects[] = {
	{ "events", catalog_events_table },
	{ "metrics", catalog_metrics_table },
	{ "groups", catalog_groups_table },
};

/* Lists that are of no CPU's facts, or of trees that have names of their own. */
static const char *const others[] = { "penalties", "cpus", "kernels" };
enum { PENALTIES, CPUS, KERNELS };

static const char *subject_at(const void *context, size_t i)
{
	(void)context;
	if (i < COUNT(subjects))
		return subjects[i].name;
	i -= COUNT(subjects);
	return i < COUNT(others) ? others[i] : NULL;
}

static int unknown_subject(const char *name, struct err *err)
{
	char names[64];

	return err_set(err, ERR_USAGE, ERR_NOWHERE, "list: there is no list '%s'; there are %s",
		       name, list_words(subject_at, NULL, names, sizeof(names)));
}

/* Tries whether this user may count hardware events. */
static bool may_count(void)
{
	struct doctor_trial trial;

	doctor_try(&trial);
	return trial.error == 0;
}

/* Fills a table, with what this machine can count if it has the CPU. */
static void fill_with_here(const struct subject *subject, struct here *here, struct cpu_pmu *pmu,
			   struct table *out)
{
	struct catalog_view view = { .pmu = pmu };

	if (here->is_this_machine) {
		view.can_count = here_can_count;
		view.context = here;
	}
	subject->fill(&view, out);
	if (pmu->is_architectural)
		table_note(out,
			   "the catalog lacks the events of %s: these are what all PMUv3 cores "
			   "have in common",
			   cpu_name(pmu->cpu));
	if (here->is_this_machine && table_column(out, "here") >= 0 && here_why_not(here) != NULL)
		table_note(out, "%s", here_why_not(here));
}

static int fill_subject(const struct catalog *catalog, const struct subject *subject,
			const char *name, struct cpu_pmu **pmu, struct table *out, struct err *err)
{
	uint64_t midr = machine_midr("", 0);
	struct here here = { 0 };
	uint64_t asked = 0; /* MIDR of the revision that --cpu names */
	const struct cpu *cpu = name == NULL ? NULL : catalog_cpu_named(catalog, name, &asked, err);
	int rc;

	if (name != NULL && cpu == NULL)
		return -1;
	here_init(&here, "", catalog, cpu, may_count());
	if (cpu == NULL)
		cpu = here.cpu;
	if (cpu == NULL)
		cpu = midr == 0 ? catalog_cpu_find(catalog, CPU_ANY_ARM)
				: catalog_cpu_stand_in(catalog, midr);
	rc = cpu_pmu_open(catalog, cpu, asked, pmu, err);
	if (rc == 0)
		fill_with_here(subject, &here, *pmu, out);
	here_release(&here);
	return rc;
}

/* The tree of --cpu, which may name a CPU or a tree; else of this machine, else all trees. */
static int fill_penalties(const struct catalog *catalog, const char *name, struct table *out,
			  struct err *err)
{
	const struct cpu *cpu = name != NULL ? catalog_cpu_find(catalog, name)
					     : catalog_cpu_of_midr(catalog, machine_midr("", 0));

	return penalties_table(name, cpu, out, err);
}

/* The table borrows texts of *pmu, which must be freed after it. */
static int fill_table(const struct catalog *catalog, const char *what, const char *cpu,
		      struct cpu_pmu **pmu, struct table *out, struct err *err)
{
	if (strcmp(what, others[CPUS]) == 0)
		return catalog_cpus_table(catalog, out, err);
	if (strcmp(what, others[PENALTIES]) == 0)
		return fill_penalties(catalog, cpu, out, err);
	if (strcmp(what, others[KERNELS]) == 0) {
		kernels_table(out);
		return 0;
	}
	for (size_t i = 0; i < COUNT(subjects); i++)
		if (strcmp(what, subjects[i].name) == 0)
			return fill_subject(catalog, &subjects[i], cpu, pmu, out, err);
	return unknown_subject(what, err);
}

/* `more` is not printed if it has no rows. */
static int list_print(struct table *table, struct table *more, const struct output_options *output,
		      struct err *err)
{
	struct tables tables = { 0 };
	struct printer out = { 0 };
	int rc;

	if (printer_open(&out, output, "text", usage.command, NULL, err) < 0)
		return -1;
	printer_page(&out, output);
	*vec_add(&tables.list) = table;
	if (table_n_rows(more) > 0)
		*vec_add(&tables.list) = more;
	rc = printer_finish(&out, output, &tables, 0, err);
	vec_release(&tables.list);
	return rc;
}

/* Answers `cyclops list SUBJECT [PATTERN]`. */
static int list_answer(const struct list_command *command, const struct arguments *arguments,
		       const struct output_options *output, struct err *err)
{
	bool has_parameters = strcmp(arguments->items[0], others[KERNELS]) == 0;
	struct catalog *catalog = NULL;
	struct cpu_pmu *pmu = NULL;
	struct table table = { 0 }, more = { 0 };
	int rc;

	if (catalog_open(command->catalog, &catalog, err) < 0)
		return -1;
	rc = fill_table(catalog, arguments->items[0], command->cpu, &pmu, &table, err);
	if (rc == 0 && arguments->n > 1)
		rc = catalog_keep_matches(&table, arguments->items[1], err);
	if (rc == 0 && has_parameters) {
		parameters_table(&table, &more);
		if (arguments->n < 2)
			more.readers = TABLE_FOR_PROGRAMS;
	}
	if (rc == 0)
		rc = list_print(&table, &more, output, err);
	table_release(&table);
	table_release(&more);
	cpu_pmu_free(pmu);
	catalog_free(catalog);
	return rc;
}

static int list_command(int argc, char **argv)
{
	struct list_command command = { 0 };
	struct output_options output = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		output_option_set(&output),
	};
	struct arguments arguments;
	struct err err;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 2, &command.wants_help,
				   &arguments);

	output.inputs = &arguments;
	if (status >= 0)
		return status;
	if (arguments.n == 0)
		arguments.items[arguments.n++] = "events"; /* as perf list does */
	if (list_answer(&command, &arguments, &output, &err) == 0)
		return EXIT_DONE;
	return fail(&err);
}

const struct command command_list = {
	.usage = &usage,
	.purpose = "events, metrics and groups of CPUs; microbenchmarks",
	.reads = COMMAND_READS_NOTHING,
	.run = list_command,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops doctor: can this machine measure, what is missing, what fixes it. */
#include "doctor/doctor.h"

#include <stddef.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/printer.h"
#include "counting/event_checks.h"
#include "doctor/events.h"
#include "pmu/here.h"
#include "pmu/machine.h"
#include "table/answer.h"
#include "table/sort.h"

static const struct usage usage = {
	"doctor",
	"[OPTIONS]",
	"Whether this machine can measure, what is missing, and how to fix it.\nExit status: 0 if "
	"hardware events can be counted, 1 if not.",
};

struct doctor_command {
	const char *catalog, *events;
	bool wants_help;
};

static const struct option options[] = {
	{ "events", 0, OPTION_OPTIONAL_WORD, offsetof(struct doctor_command, events), "[NAME,NAME]",
	  "check events with loops of known counts: which read 0 or are\n                          "
	  "off? The result is stored for this machine, and used" },
	{ "catalog", 0, OPTION_INPUT, offsetof(struct doctor_command, catalog), "FILE",
	  "more facts about CPUs" },
	{ "help", 'h', OPTION_FLAG, offsetof(struct doctor_command, wants_help), NULL,
	  "this text" },
};

/* Can it measure, and how much is to be fixed? */
static void say_answer(bool can_count, const struct table *fixes, struct table *answer)
{
	size_t n = table_n_rows(fixes);

	answer_init(answer);
	answer_say(answer, "Hardware events can%s be counted here.%s", can_count ? "" : "not",
		   n == 0 ? "" : table_format(answer, " %zu thing%s to fix:", n, plural(n)));
	if (n == 0)
		return;
	answer_say_sentence(answer, table_cell(fixes, 0, 0)->text);
	if (n == 1 && !cell_is_absent(table_cell(fixes, 0, 2)))
		answer_say_sentence(answer,
				    table_format(answer, "Fix: %s", table_cell(fixes, 0, 2)->text));
}

static int print_checks(const struct catalog *catalog, const struct output_options *output,
			bool *can_count, struct err *err)
{
	struct doctor_trial trial;
	struct table answer, checks = { 0 }, fixes = { 0 };
	struct tables tables = { 0 };
	struct printer out = { 0 };
	int rc = -1;

	doctor_try(&trial);
	*can_count = doctor_examine(catalog, "", &trial, &checks, &fixes);
	say_answer(*can_count, &fixes, &answer);
	if (printer_open(&out, output, "text", usage.command, NULL, err) == 0) {
		*vec_add(&tables.list) = &answer;
		*vec_add(&tables.list) = &checks;
		/* the answer has the only one */
		if (table_n_rows(&fixes) > 1 || !printer_shows_screen(&out, output))
			*vec_add(&tables.list) = &fixes;
		rc = printer_finish(&out, output, &tables, 0, err);
	}
	vec_release(&tables.list);
	table_release(&answer);
	table_release(&checks);
	table_release(&fixes);
	return rc;
}

/* The catalog's events of this CPU. A CPU that is not in the catalog has those of its stand-in. */
static int open_core_events(const struct catalog *catalog, const struct here *here, uint64_t midr,
			    struct cpu_pmu **out, struct err *err)
{
	const struct cpu *cpu = here->cpu;

	if (cpu == NULL)
		cpu = catalog_cpu_stand_in(catalog, midr);
	return cpu_pmu_open(catalog, cpu, midr, out, err);
}

static int print_event_table(struct table *events, const struct output_options *output,
			     struct err *err)
{
	struct tables tables = { 0 };
	struct printer out = { 0 };
	int rc;

	*vec_add(&tables.list) = events;
	rc = printer_open(&out, output, "text", usage.command, NULL, err);
	if (rc == 0)
		rc = printer_finish(&out, output, &tables, 0, err);
	vec_release(&tables.list);
	return rc;
}

/* Checks events on the first type of core, prints the results and saves them for this machine. */
static int check_events_of_core(const struct catalog *catalog, struct here *here, const char *names,
				const struct output_options *output, struct err *err)
{
	struct doctor_counter counter = { &kernel_linux, &here->pmus, here->core, NULL };
	struct event_checks found = { 0 };
	struct machine machine = { 0 };
	struct cpu_pmu *facts = NULL;
	struct table events = { 0 };
	const struct machine_core *core;
	struct err not_kept;
	const char *key;
	uint64_t midr;
	int rc;

	machine_read(&machine, "");
	core = machine.cores.n > 0 ? &machine.cores.items[0] : NULL;
	midr = machine_midr("", here->core->cpus.n > 0 ? here->core->cpus.items[0].first : 0);
	rc = open_core_events(catalog, here, midr, &facts, err);
	counter.facts = facts;
	if (rc == 0)
		rc = doctor_events(&counter, names, &events, &found, err);
	if (rc == 0)
		rc = print_event_table(&events, output, err);
	key = event_checks_key(&found.memory, midr, core != NULL ? core->name : NULL);
	if (rc == 0 && event_checks_save(key, &found, &not_kept) < 0)
		message_print("result not stored: %s", not_kept.text);
	table_release(&events);
	cpu_pmu_free(facts);
	event_checks_release(&found);
	machine_release(&machine);
	return rc;
}

/* The --events option. Prints the reason instead if no event can be counted. */
static int check_events_if_countable(const struct catalog *catalog, const char *names,
				     const struct output_options *output, int *out_status,
				     struct err *err)
{
	struct doctor_trial trial;
	struct here here;
	int rc = 0;

	doctor_try(&trial);
	here_init(&here, "", catalog, NULL, trial.error == 0);
	*out_status = EXIT_DONE;
	if (here_why_not(&here) != NULL) {
		message_print("events cannot be checked: %s", here_why_not(&here));
		*out_status = EXIT_FAILED;
	} else {
		rc = check_events_of_core(catalog, &here, names, output, err);
	}
	here_release(&here);
	return rc;
}

static int doctor_command(int argc, char **argv)
{
	struct doctor_command command = { 0 };
	struct output_options output = { 0 };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		output_option_set(&output),
	};
	struct arguments arguments;
	struct catalog *catalog = NULL;
	struct err err;
	bool can_count = false;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 0, &command.wants_help,
				   &arguments);

	output.inputs = &arguments;
	if (status >= 0)
		return status;
	if (catalog_open(command.catalog, &catalog, &err) < 0)
		return fail(&err);
	if (command.events != NULL) {
		if (check_events_if_countable(catalog, command.events, &output, &status, &err) < 0)
			status = fail(&err);
	} else if (print_checks(catalog, &output, &can_count, &err) < 0)
		status = fail(&err);
	else
		status = can_count ? EXIT_DONE : EXIT_FAILED;
	catalog_free(catalog);
	return status;
}

const struct command command_doctor = {
	.usage = &usage,
	.purpose = "whether this machine can measure, and how to fix what is missing",
	.reads = COMMAND_READS_MACHINE,
	.run = doctor_command,
};

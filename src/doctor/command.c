/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops doctor: can this machine measure, what is missing, what fixes it. */
#include "doctor/doctor.h"

#include <stddef.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/printer.h"

static const struct usage usage = {
	"doctor",
	"[OPTIONS]",
	"Can this machine measure, what is missing, and what fixes it.\n"
	"Exit status: 0 if hardware events can be counted, 1 if not.",
};

struct doctor_command {
	const char *catalog;
	bool wants_help;
};

static const struct option options[] = {
	{ "catalog", 0, OPTION_TEXT, offsetof(struct doctor_command, catalog), "FILE",
	  "more facts about CPUs" },
	{ "help", 'h', OPTION_FLAG, offsetof(struct doctor_command, wants_help), NULL,
	  "this text" },
};

static int examine(const struct catalog *catalog, const struct output_options *output,
		   bool *can_count, struct err *err)
{
	struct pmus pmus = { 0 };
	struct doctor_trial trial;
	struct table checks = { 0 }, fixes = { 0 };
	struct tables tables = { 0 };
	struct printer out = { 0 };
	int rc = -1;

	pmus_read(&pmus, "");
	doctor_try(&pmus, &trial);
	*can_count = doctor_examine(catalog, "", &trial, &checks, &fixes);
	*vec_add(&tables.list) = &checks;
	*vec_add(&tables.list) = &fixes;
	if (printer_open(&out, output, "text", usage.command, NULL, err) == 0) {
		rc = printer_finish(&out, output, &tables, 0, err);
	}
	vec_release(&tables.list);
	table_release(&checks);
	table_release(&fixes);
	pmus_release(&pmus);
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

	if (status >= 0)
		return status;
	if (catalog_open(command.catalog, &catalog, &err) < 0 ||
	    examine(catalog, &output, &can_count, &err) < 0)
		status = fail(&err);
	else
		status = can_count ? EXIT_DONE : EXIT_FAILED;
	catalog_free(catalog);
	return status;
}

const struct command command_doctor = {
	.usage = &usage,
	.purpose = "can this machine measure, what is missing, what fixes it",
	.reads = COMMAND_READS_MACHINE,
	.run = doctor_command,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops diff: what changed between two runs. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/gates.h"
#include "cli/input.h"
#include "cli/printer.h"
#include "diff/diff.h"
#include "diff/html.h"
#include "diff/load.h"

static const struct usage usage = {
	"diff",
	"[OPTIONS] A B",
	"What changed from run A to run B, and whether it is significant.",
};

struct diff_command {
	const char *by, *per, *baseline, *save;
	const char *html; /* a file; NULL: none */
	struct cycle_options accounting;
};

static const struct option options[] = {
	{ "by", 0, OPTION_TEXT, offsetof(struct diff_command, by), "KIND[,KIND]",
	  "function, line, instruction, source, shared, cycles\n"
	  "                          (default: function,source,shared)" },
	{ "per", 0, OPTION_TEXT, offsetof(struct diff_command, per), "UNIT",
	  "compare costs of a whole run (the default), costs per second, or\n                      "
	  "    shares of the total: run, second, total" },
	{ "baseline", 0, OPTION_INPUT, offsetof(struct diff_command, baseline), "FILE",
	  "this is run A" },
	{ "save", 0, OPTION_PLACE, offsetof(struct diff_command, save), "FILE",
	  "write the last run as a baseline" },
	{ "html", 0, OPTION_OUTPUT, offsetof(struct diff_command, html), "FILE", HTML_HELP },
};

static const char *kind_at(const void *context, size_t i)
{
	(void)context;
	return i + MEASURE_FUNCTION < MEASURE_REGION
		       ? measure_kind_name((enum measure_kind)(i + MEASURE_FUNCTION))
		       : NULL;
}

static int parse_kinds(const char *text, uint32_t *out, struct err *err)
{
	char names[128];

	*out = 0;
	while (*text != '\0') {
		size_t size = strcspn(text, ",");
		char *word = mem_strndup(text, size);
		int kind = measure_kind_find(word);

		bool is_asked = kind >= MEASURE_FUNCTION && kind < MEASURE_REGION;

		if (!is_asked)
			err_set(err, ERR_USAGE, ERR_NOWHERE,
				"--by: there is no kind '%s'; there are %s", word,
				list_words(kind_at, NULL, names, sizeof(names)));
		free(word);
		if (!is_asked)
			return -1;
		*out |= 1u << kind;
		text += size + (text[size] == ',');
	}
	return 0;
}

static int save_baseline(const char *path, const struct measures *m, struct err *err)
{
	struct text text = { 0 };
	int rc;

	measures_write(m, &text);
	rc = text_save(&text, path, err);
	text_release(&text);
	return rc;
}

/* Chooses the files of runs A and B. *a is NULL if there is one run only, to be saved. */
static int choose_runs(const struct diff_command *command, const struct input_options *input,
		       const struct arguments *arguments, const char **a, const char **b,
		       struct err *err)
{
	size_t n = arguments->n, wanted = command->baseline != NULL ? 1 : 2;

	if (input->path != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--input names one capture; diff takes two: cyclops diff A B");
	if (n == 1 && wanted == 2 && command->save != NULL) {
		*a = NULL;
		*b = arguments->items[0];
		return 0;
	}
	if (n != wanted)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "%s",
			       command->baseline != NULL
				       ? "--baseline FILE is run A: name one more, B"
				       : "two runs are compared: cyclops diff A B, or "
					 "cyclops diff --baseline FILE B");
	*a = command->baseline != NULL ? command->baseline : arguments->items[0];
	*b = arguments->items[n - 1];
	return 0;
}

static int parse_gates(const struct gate_options *o, struct diff_gate *out, struct err *err)
{
	for (size_t i = 0; i < o->conditions.n; i++)
		if (diff_gate_parse(o->conditions.items[i], &out[i], err) < 0)
			return -1;
	return 0;
}

/* How the comparison is answered. */
struct answering {
	const struct row_options *rows;
	const struct output_options *output;
	const struct gate_options *gates;
	const struct input_options *input;
	const char *html; /* a file; NULL: none */
};

static int print_answer(const struct diff *d, const struct answering *how,
			const struct diff_gate *gates, struct gates *results, struct err *err)
{
	size_t n_gates = how->gates->conditions.n;
	struct diff_tables tables = { 0 };
	struct printer out = { 0 };
	int rc = printer_open(&out, how->output, "text", usage.command, NULL, err);

	if (rc == 0) {
		tables.is_for_screen = printer_shows_screen(&out, how->output);
		rc = diff_tables(d, gates, n_gates, rows_to_show(how->rows), &tables, results, err);
		out.document.is_modelled = d->a->is_modelled || d->b->is_modelled;
		results->is_modelled = out.document.is_modelled;
		results->files[0] = d->a->origin;
		results->files[1] = d->b->origin;
		if (rc == 0)
			printer_page(&out, how->output);
		rc = printer_finish(&out, how->output, &tables.shown, rc, err);
	}
	if (rc == 0 && how->html != NULL)
		rc = diff_html(d, gates, n_gates, how->input, &out, how->html, err);
	if (rc == 0)
		rc = gate_options_report(how->gates, results, how->output, usage.command, err);
	diff_tables_release(&tables);
	return rc;
}

static void put_measure_kinds(const struct measures *m, struct text *out)
{
	const char *separator = "";

	for (int kind = 0; kind < N_MEASURE_KINDS; kind++)
		if (m->kinds >> kind & 1) {
			text_format(out, "%s%s", separator,
				    measure_kind_name((enum measure_kind)kind));
			separator = ", ";
		}
	if (m->kinds == 0)
		text_str(out, "nothing");
}

static int nothing_in_common(const struct diff *d, struct err *err)
{
	struct text text = { 0 };

	text_format(&text, "%s and %s have no data of the same kind: A has ", d->a->origin,
		    d->b->origin);
	put_measure_kinds(d->a, &text);
	text_str(&text, "; B has ");
	put_measure_kinds(d->b, &text);
	text_str(&text, "; compare counts with counts, a capture with a capture, or folders of "
			"`cyclops run`, which have both");
	text_char(&text, '\0');
	err_set(err, ERR_NO_DATA, ERR_NOWHERE, "%s", text.bytes);
	text_release(&text);
	return -1;
}

/* Options of cycle accounting say nothing without it. */
static int check_accounting(struct diff_command *command, uint32_t kinds, struct err *err)
{
	if (cycle_options_given(&command->accounting) && !(kinds >> MEASURE_CYCLES & 1))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--penalty, --ghz and --template are of cycle accounting: add "
			       "--by cycles");
	return cycle_options_check(&command->accounting, err);
}

static int diff_answer(struct diff_command *command, const struct input_options *input,
		       const struct arguments *arguments, const struct answering *how,
		       struct gates *results, struct err *err)
{
	struct loader loader = { .input = input,
				 .accounting = &command->accounting,
				 .kinds_are_given = command->by != NULL };
	struct measures from = { 0 }, to = { 0 };
	struct diff_gate gates[OPTION_LIST_MAX];
	struct diff diff = { 0 };
	const char *a = NULL, *b = NULL;
	int per = command->per != NULL ? diff_per_find(command->per) : DIFF_PER_RUN;
	int rc = -1;

	if (per < 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--per: '%s' is not one of run, second, total", command->per);
	if (command->html != NULL && html_check(err) < 0)
		return -1;
	if (parse_kinds(command->by != NULL ? command->by : "function,source,shared", &loader.kinds,
			err) < 0 ||
	    check_accounting(command, loader.kinds, err) < 0 ||
	    gate_options_check(how->gates, err) < 0 || parse_gates(how->gates, gates, err) < 0 ||
	    choose_runs(command, input, arguments, &a, &b, err) < 0 ||
	    (command->save != NULL && arguments_spare(arguments, "save", command->save, err) < 0))
		return -1;
	if (load_runs(&loader, a, b, &from, &to, err) < 0)
		goto out;
	if (command->save != NULL && save_baseline(command->save, &to, err) < 0)
		goto out;
	rc = 0;
	if (a != NULL) {
		diff_make(&from, &to, (enum diff_per)per, &diff);
		rc = diff.rows.n > 0 ? 0 : nothing_in_common(&diff, err);
	}
	if (rc == 0 && a != NULL)
		rc = print_answer(&diff, how, gates, results, err);
out:
	diff_release(&diff);
	measures_release(&from);
	measures_release(&to);
	return rc;
}

static int diff_command(int argc, char **argv)
{
	struct input_options input = { 0 };
	struct row_options rows = { 0 };
	struct output_options output = { 0 };
	struct diff_command command = { 0 };
	struct gate_options gate_options = { 0 };
	struct answering how = { &rows, &output, &gate_options, &input, NULL };
	const struct option_set sets[] = {
		{ "What:", options, COUNT(options), &command },
		cycle_option_set(&command.accounting),
		gate_option_set(&gate_options),
		input_option_set(&input),
		unsorted_row_option_set(&rows),
		output_option_set(&output),
	};
	struct arguments arguments;
	struct err err;
	struct gates results;
	int status = start_command(&usage, argc, argv, sets, COUNT(sets), 2, &input.wants_help,
				   &arguments);

	if (status >= 0)
		return status;
	enter_sandbox(sets, COUNT(sets), &arguments);
	how.html = command.html;
	output.inputs = &arguments;
	gates_init(&results);
	if (diff_answer(&command, &input, &arguments, &how, &results, &err) < 0)
		status = gate_options_fail(&gate_options, &results, usage.command, &err);
	else
		status = gate_options_status(&gate_options, &results, EXIT_DONE);
	gates_release(&results);
	return status;
}

const struct command command_diff = {
	.usage = &usage,
	.purpose = "what changed between two captures or counts; a gate for CI",
	.reads = COMMAND_READS_RUNS,
	.run = diff_command,
};

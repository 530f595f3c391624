/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gates.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/message.h"
#include "gate/junit.h"

static const struct option options[] = {
	{ "fail-if", 0, OPTION_LIST, offsetof(struct gate_options, conditions), "EXPR",
	  "exit with 3 if 'NAME > 5%' or the like is met; repeatable" },
	{ "junit", 0, OPTION_OUTPUT, offsetof(struct gate_options, junit), "FILE",
	  "write the results of --fail-if there, as JUnit XML" },
};

struct option_set gate_option_set(struct gate_options *into)
{
	return (struct option_set){ "Gates for CI:", options, COUNT(options), into };
}

int gate_options_check(const struct gate_options *o, struct err *err)
{
	if (o->junit != NULL && o->conditions.n == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--junit writes the results of --fail-if, and there is none");
	return 0;
}

int gate_options_parse(const struct gate_options *o, const struct quantity *quantities, size_t n,
		       struct gate out[OPTION_LIST_MAX], struct err *err)
{
	for (size_t i = 0; i < o->conditions.n; i++)
		if (gate_parse(o->conditions.items[i], quantities, n, &out[i], err) < 0)
			return -1;
	return 0;
}

int gate_options_judge(const struct gate_options *o, const struct quantity *quantities, size_t n,
		       gate_measure *measure, void *context, struct gates *out, struct err *err)
{
	struct gate gates[OPTION_LIST_MAX];

	if (gate_options_parse(o, quantities, n, gates, err) < 0)
		return -1;
	for (size_t i = 0; i < o->conditions.n; i++) {
		struct measured m;

		if (measure(context, &gates[i], &m, err) < 0)
			return err_within(err, "--fail-if '%s'", gates[i].condition.text);
		gates_add(out, &gates[i], &quantities[gates[i].quantity], &m);
	}
	return 0;
}

int gate_options_status(const struct gate_options *o, const struct gates *gates, int program_status)
{
	if (gates->n_failed > 0)
		return EXIT_GATE;
	return o->conditions.n > 0 && program_status == EXIT_GATE ? EXIT_FAILED : program_status;
}

static bool shows_gates(const struct output_options *output, const struct gates *g)
{
	return output->columns == NULL &&
	       (output->table == NULL || strcmp(output->table, g->table.name) == 0);
}

int gate_options_report(const struct gate_options *o, const struct gates *gates,
			const struct output_options *output, const char *command, struct err *err)
{
	for (size_t i = 0; i < gates->results.n && !shows_gates(output, gates); i++)
		if (gates->results.items[i].is_failed)
			message_print("%s", gates->results.items[i].sentence);
	return o->junit == NULL ? 0 : junit_write(gates, command, o->junit, err);
}

void gate_options_report_failure(const struct gate_options *o, struct gates *gates,
				 const char *command, const char *why)
{
	const char *sentence = table_format(&gates->table, "not judged: %s", why);
	struct err err;

	for (size_t i = gates->results.n; i < o->conditions.n; i++)
		gates_add_error(gates, o->conditions.items[i], sentence);
	if (o->junit != NULL && junit_write(gates, command, o->junit, &err) < 0)
		message_print("%s", err.text);
}

int gate_options_fail(const struct gate_options *o, struct gates *gates, const char *command,
		      const struct err *err)
{
	gate_options_report_failure(o, gates, command, err->text);
	return fail(err);
}

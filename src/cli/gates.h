/* SPDX-License-Identifier: Apache-2.0 */
/* --fail-if and --junit: gates for continuous integration, in commands that have them. */
#ifndef CYCLOPS_CLI_GATES_H
#define CYCLOPS_CLI_GATES_H

#include "cli/options.h"
#include "cli/printer.h"
#include "gate/gate.h"

struct gate_options {
	struct option_list conditions; /* of --fail-if, as given */
	const char *junit;	       /* a file for the results; NULL: none */
};

struct option_set gate_option_set(struct gate_options *);

/* Does the file of --junit have anything to hold? */
int gate_options_check(const struct gate_options *, struct err *);

/* Reads all conditions, which are about `n` quantities: as many gates as there are conditions. */
int gate_options_parse(const struct gate_options *, const struct quantity *, size_t n,
		       struct gate out[OPTION_LIST_MAX], struct err *);

/* What a command measured of a quantity: fails if it is not known. */
typedef int gate_measure(void *context, const struct gate *, struct measured *out, struct err *);

/* Measures and judges all gates. */
int gate_options_judge(const struct gate_options *, const struct quantity *, size_t n,
		       gate_measure *, void *context, struct gates *out, struct err *);

/*
 * The exit status of a command that passes that of a program on: with --fail-if, 3 means that a gate failed,
 * and nothing else, so a program's own 3 becomes 1.
 */
int gate_options_status(const struct gate_options *, const struct gates *, int program_status);

/*
 * After the answer: writes the file of --junit. What failed is said on standard error if --table or
 * --columns keep the gates' table from being shown.
 */
int gate_options_report(const struct gate_options *, const struct gates *,
			const struct output_options *, const char *command, struct err *);

/* After a failure: the conditions of the file of --junit that were not judged are errors, for this reason. */
void gate_options_report_failure(const struct gate_options *, struct gates *, const char *command,
				 const char *why);

/* The same for an error that ends the command: prints it, and returns the exit status. */
int gate_options_fail(const struct gate_options *, struct gates *, const char *command,
		      const struct err *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What commands that ask a capture read: their options, opening, what was damaged. */
#ifndef CYCLOPS_CLI_INPUT_H
#define CYCLOPS_CLI_INPUT_H

#include <stdbool.h>

#include "cli/options.h"
#include "scan/select.h"
#include "session/session.h"

/* Options about what is read. */
struct input_options {
	const char *path;
	const char *select;
	const char *cpu;
	const char *catalog;
	const char *symfs;
	const char *kallsyms;
	const char *vmlinux;
	struct option_list debug_dirs;
	bool use_debuginfod, no_debuginfod;
	unsigned n_workers;
	unsigned interval;
	bool wants_help;
};

struct option_set input_option_set(struct input_options *);

/* Refuses `-` as the place of a capture to be written: that takes a file. */
int check_capture_output(const char *path, struct err *);

/*
 * The capture that --input or the only argument names, or the default, which has to be there.
 */
int choose_path(const char *input, const struct arguments *, const char **out, struct err *);

/* Opens what the options and arguments say. */
int open_input(const struct input_options *, const struct arguments *, struct session *,
	       struct select **out_select, struct err *);

/*
 * Ends what open_input() began, also where it failed: says what was damaged or lost, given the
 * exit status so far, which it returns.
 */
int close_input(struct session *, struct select *, int status);

/*
 * Says on standard error what was damaged or lost and, if there was an answer (the status is
 * EXIT_DONE), for which modules names are missing; each once.
 */
void print_diagnostics(const struct session *, int status);

#endif

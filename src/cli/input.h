/* SPDX-License-Identifier: Apache-2.0 */
/* Input of commands that read a capture: options, opening, messages about damage. */
#ifndef CYCLOPS_CLI_INPUT_H
#define CYCLOPS_CLI_INPUT_H

#include <stdbool.h>

#include "cli/options.h"
#include "scan/select.h"
#include "session/session.h"

/* Options for reading a capture. */
struct input_options {
	const char *path;
	struct raw_options raw;
	const char *select;
	const char *cpu;
	const char *catalog;
	const char *symfs;
	const char *kallsyms;
	const char *vmlinux;
	const char *guest_kallsyms, *guest_mount;
	const char *counts;
	struct option_list debug_dirs;
	bool use_debuginfod, no_debuginfod;
	bool no_sandbox; /* for enter_sandbox() */
	unsigned n_workers;
	unsigned interval;
	/* set by commands that have read the capture, which a stream gives once: its path is for messages then */
	const void *bytes;
	size_t n_bytes;
	bool wants_help;
	bool is_quiet; /* set by commands that open many captures: no progress is shown for each */
	unsigned
		n_at_once; /* set by commands that open so many at the same time: they share the threads */
};

struct option_set input_option_set(struct input_options *);

/* Those of a command that reads many: without --input, --select and --counts. */
struct option_set inputs_option_set(struct input_options *);

/*
 * Starts the sandbox, unless --no-sandbox is given: before anything of a capture is read and before there are
 * threads. Files that options and arguments name stay open to it. Where the kernel has no such thing, nothing
 * happens: `cyclops doctor` says so.
 */
void enter_sandbox(const struct option_set *sets, size_t n_sets, const struct arguments *);

/* Fails for "-": a capture cannot be written to standard output. */
int check_capture_output(const char *path, struct err *);

/* The path of the capture: --input, the argument, or the default file, which must exist. */
int choose_path(const char *input, const struct arguments *, const char **out, struct err *);

/* Opens the capture of the options and arguments. */
int open_input(const struct input_options *, const struct arguments *, struct session *,
	       struct select **out_select, struct err *);

/* Has it neither samples nor SPE data? */
bool capture_is_empty(const struct capture *);

/*
 * Closes what open_input() opened, also if it failed. Prints damage and losses. Takes the exit
 * status so far and returns it.
 */
int close_input(struct session *, struct select *, int status);

/* The same without a word. */
void release_input(struct session *, struct select *);

/*
 * Prints damage and losses on standard error and, after an answer (status EXIT_DONE), modules
 * without names; each message once.
 */
void print_diagnostics(const struct session *, int status);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of the program that `cyclops run` makes: inside this folder only. */
#ifndef CYCLOPS_RUN_STEPS_H
#define CYCLOPS_RUN_STEPS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/gates.h"
#include "cli/printer.h"
#include "count/counts.h"
#include "cpu/pmu.h"

struct run_command {
	const char *folder, *sysroot, *sweep, *what_if;
	unsigned runs, interval, seed;
	bool model, verbose, wants_help;
	struct gate_options gates;
	const char *html; /* a file; NULL: none */
};

/* What is on the way from the program to the answer. */
struct run {
	const struct run_command *command;
	char *const *program; /* NULL ends it */
	struct arena memory;
	const char *folder;
	char *counts_path, *capture_path, *gains_path;
	bool has_gains;		   /* gains_path has what the model said to --what-if */
	int64_t input_start;	   /* of the standard input; -1: it is no file */
	unsigned n_done, n_wanted; /* runs of the program */
	const char *environment; /* "DIST=5", of a sweep, for who does it by hand; NULL: nothing */
	int program_status;	 /* of the last run */
	bool is_interrupted;

	struct catalog *catalog;
	struct counts counts;
	struct cpu_pmu *pmu; /* NULL: nothing was counted */
	struct gates results;
};

/* Runs the program on the machine model: counts and samples go to the paths of the run. */
int run_model(struct run *, struct err *);

/* Counts the program, so many times in a row. */
int run_counting(struct run *, unsigned n_times, struct err *);

/* Reads the counts that a step has written, and finds the facts about their CPU. */
int run_read_counts(struct run *, struct err *);

/*
 * Runs the program once for each value of command->sweep ("NAME=V1,V2"), counts it, and prints
 * how fast each was.
 */
int run_sweep(struct run *, const struct output_options *, struct err *);

/* Is the text of --sweep as it should be? */
int run_sweep_check(const char *text, struct err *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops kernel NAME: one run of a microbenchmark, its time, and its counts beside what is expected. */
#ifndef CYCLOPS_KERNEL_ONE_RUN_H
#define CYCLOPS_KERNEL_ONE_RUN_H

#include "cli/options.h"
#include "cli/printer.h"
#include "kernel/subject.h"

enum { ONE_RUN_OPTIONS = N_PARAMETERS + 3 };

struct one_run {
	const char *values[N_PARAMETERS]; /* as typed; NULL: not given */
	const char *level, *cpu;
	bool shows_all;
	struct option options[ONE_RUN_OPTIONS]; /* one for each parameter, and others */
};

/* Fills the options of `into`. */
struct option_set one_run_option_set(struct one_run *into);

/* Is any of them given? Its name, or NULL. */
const char *one_run_given(const struct one_run *);

/*
 * Runs the microbenchmark, or the case of expected.json, of that name, and prints what it counted. Returns the
 * exit status, or -1 and an error.
 */
int one_run_print(const struct one_run *, const char *name, const struct subject_options *,
		  const struct output_options *, struct err *);

#endif

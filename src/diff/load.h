/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the runs that are compared: captures, baselines, counts, and folders of `cyclops run`. */
#ifndef CYCLOPS_DIFF_LOAD_H
#define CYCLOPS_DIFF_LOAD_H

#include "cli/input.h"
#include "cycles/options.h"
#include "diff/measures.h"

/* How runs are loaded: the options, and the kinds of measures to compare. */
struct loader {
	const struct input_options *input;
	const struct cycle_options *accounting;
	uint32_t kinds;
	bool kinds_are_given; /* by --by */
};

/*
 * Loads run A, unless `a` is NULL, and run B. Says on standard error what is wrong with their captures. Both measures are to be
 * released also after a failure.
 */
int load_runs(const struct loader *, const char *a, const char *b, struct measures *from,
	      struct measures *to, struct err *);

#endif

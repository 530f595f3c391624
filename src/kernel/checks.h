/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops kernel --validate and --calibrate: options, and what they do. */
#ifndef CYCLOPS_KERNEL_CHECKS_H
#define CYCLOPS_KERNEL_CHECKS_H

#include "cli/gates.h"
#include "cli/options.h"
#include "cli/printer.h"
#include "kernel/subject.h"

struct kernel_checks {
	bool validates, calibrates;
	const char *model; /* --model; NULL: this machine; "": the built-in model */
	struct option_list sets;
	const char *expected; /* another file of expected counts */
	unsigned n_repeats, l1_tlb, l2_tlb;
	bool is_forced;
	const char *catalog, *emulator, *plugin, *runner;
};

struct option_set kernel_check_option_set(struct kernel_checks *);

/* The machine or model that the options name; borrows of them. */
struct subject_options kernel_checks_subject(const struct kernel_checks *);

/* Fails if an option is given to what does not have it. */
int kernel_checks_check(const struct kernel_checks *, const struct gate_options *, struct err *);

/*
 * Does what was asked for, and prints it. `names` are events, kernels or cases to validate. Returns the exit
 * status, or -1 and an error.
 */
int kernel_checks_run(const struct kernel_checks *, const struct arguments *names,
		      const struct output_options *, const struct gate_options *, struct err *);

#endif

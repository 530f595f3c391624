/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs an AArch64 program under qemu-aarch64 with the machine model (model/) as its plugin,
 * which writes the capture.
 */
#ifndef CYCLOPS_COLLECT_MODEL_H
#define CYCLOPS_COLLECT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct model_options {
	const char *const *program; /* its path and arguments; NULL ends them */
	const char *const *command; /* the whole command line, for the capture; NULL ends it */
	const char *output;
	const char *counts;	 /* json of PMU counts, or NULL */
	const char *truth;	 /* json of everything that happened, or NULL */
	const char *model;	 /* "neoverse-n1", or a file of that form; NULL: the former */
	const char *const *sets; /* "NAME=VALUE" of parameters; NULL ends them */
	const char *sysroot;	 /* where the program's loader and libraries are, or NULL */
	const char *root;	 /* taken off the front of recorded paths, or NULL */
	const char *emulator;	 /* path of qemu-aarch64, or NULL: looked for in PATH */
	const char *plugin;	 /* path of the plugin, or NULL: that of this build */
	const char *version;	 /* of cyclops, for the capture */
	uint32_t interval;	 /* operations between samples */
	uint64_t seed;
	bool without_jitter;
	bool loads, stores, branches; /* if any: only these */
	uint32_t min_latency;
	uint64_t event_filter; /* bits of the SPE events packet */
};

/*
 * Runs the program to its end. *out_status is what a shell would say: its exit status, or 128
 * plus the signal that killed it. *out_signal is that signal, or 0; it takes with it what has not
 * been written yet. Fails if the program could not be run, saying what would help.
 */
int model_run(const struct model_options *, int *out_status, int *out_signal, struct err *);

#endif

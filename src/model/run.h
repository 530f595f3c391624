/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs an AArch64 program under qemu-aarch64 with the machine model (model/) as its plugin,
 * which writes the capture.
 */
#ifndef CYCLOPS_MODEL_RUN_H
#define CYCLOPS_MODEL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/ideal.h"

struct model_options {
	const char *const *program; /* its path and arguments; NULL ends them */
	const char *const *command; /* the whole command line, for the capture; NULL ends it */
	const char *output;
	const char *counts;	    /* json of PMU counts, or NULL */
	const char *truth;	    /* json of everything that happened, or NULL */
	const char *gains;	    /* json of cycles by block of code, or NULL */
	const struct ideal *ideals; /* what is perfect: of the machine, then of its replicas */
	size_t n_ideals;
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
	bool shows_progress;	      /* on a terminal, while it runs */
	uint32_t min_latency;
	uint64_t event_filter; /* bits of the SPE events packet */
};

/* How the program ended. */
struct model_end {
	int status;	     /* what a shell would say: its exit status, or 128 plus `signal` */
	int signal;	     /* that killed it, or 0 */
	unsigned n_executed; /* processes that became another program, which was not modelled */
	bool is_cut; /* the model could not finish: the truth is lost, capture and counts are whole */
};

/*
 * Runs the program to its end, and finishes its files if the model could not. SIGTERM and SIGHUP
 * go on to the program meanwhile; the keys that interrupt reach it from the terminal. Fails if the
 * program could not be run, saying what would help, or if its files cannot be finished.
 */
int model_run(const struct model_options *, struct model_end *out, struct err *);

#endif

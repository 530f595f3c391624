/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs an AArch64 program under qemu-aarch64. The machine model (model/) is its plugin, which
 * writes the capture.
 */
#ifndef CYCLOPS_MODEL_RUN_H
#define CYCLOPS_MODEL_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/ideal.h"

struct model_options {
	const char *const *program; /* path and arguments; NULL ends them */
	const char *const *command; /* the whole command line, for the capture; NULL ends it */
	const char *output;	    /* path of the capture */
	const char *counts;	    /* path for PMU counts as json, or NULL */
	const char *truth;	    /* path for everything that happened as json, or NULL */
	const char *gains;	    /* path for cycles by block of code as json, or NULL */
	const struct ideal *ideals; /* the first is the machine's, the others are for replicas */
	size_t n_ideals;
	const char *model;	 /* built-in model, or path of a model; NULL: "neoverse-n1" */
	const char *const *sets; /* parameters, "NAME=VALUE"; NULL ends them */
	const char *sysroot;	 /* folder of the program's loader and libraries, or NULL */
	const char *root;	 /* prefix to remove from recorded paths, or NULL */
	const char *emulator;	 /* path of qemu-aarch64; NULL: the one in PATH */
	const char *plugin;	 /* path of the plugin; NULL: the one of this build */
	const char *version;	 /* of cyclops, for the capture */
	uint32_t interval;	 /* operations between samples */
	uint64_t seed;
	bool without_jitter;
	bool loads, stores, branches; /* filters; none set: all operations */
	bool shows_progress;	      /* on the terminal, while the program runs */
	uint32_t min_latency;	      /* filter, in cycles */
	uint64_t event_filter;	      /* bits of the SPE events packet */
	const char *const *samples;   /* --sample (sampled_events.h); NULL ends them */
	const char *branch_stack;     /* --branch-stack (sampled_events.h); NULL: none */
	bool has_chains;	      /* samples of the PMU have call chains */
	uint32_t counters;	      /* that sampled events share; 0: one for each */
	bool without_spe;

	const char *const *environment; /* of the program; NULL ends it. NULL: this process's */
};

/* How the program ended. */
struct model_end {
	int status;	     /* as of a shell: its exit status, or 128 plus `signal` */
	int signal;	     /* the signal that killed it; 0: none */
	unsigned n_executed; /* processes that executed another program, which is not modelled */
	bool is_unfinished; /* the plugin did not finish: there is no truth, the rest is complete */
};

/*
 * Runs the program to its end, and completes its files if the plugin did not. Meanwhile SIGTERM and
 * SIGHUP are passed on to the program, and the terminal's SIGINT and SIGQUIT are left to it. Fails
 * if the program cannot be run, or its files cannot be completed. The error says what would help.
 */
int model_run(const struct model_options *, struct model_end *out, struct err *);

/*
 * The path of a file that comes with cyclops: the first of the places that can be read. They begin with
 * a slash, and are ways from the folder of this program. False if there is none.
 */
bool beside_program(const char *const *places, size_t n, char out[PATH_MAX]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of microbenchmarks on the machine model. */
#ifndef CYCLOPS_KERNEL_VALIDATION_ON_MODEL_H
#define CYCLOPS_KERNEL_VALIDATION_ON_MODEL_H

#include "base/arena.h"
#include "kernel/validation/measurer.h"
#include "model/run.h"

/* The model, and where its files are. Zeroed is empty. */
struct on_model {
	const char *model;	 /* its name or file; NULL: the built-in one */
	const char *const *sets; /* parameters, "NAME=VALUE"; NULL ends them; NULL: none */
	const char *emulator, *plugin, *runner; /* NULL: those that are found */
	const char *capture; /* path for the SPE capture of the last run; NULL: it is not kept */
	unsigned interval;   /* operations between its samples; 0: a usual one */

	/* filled by on_model_init(): */
	char runner_path[4096];
	char name[64], cpu[64]; /* "Neoverse N1"; its id in the catalog */
	double ghz;
	struct cache_sizes sizes;
};

/* Finds the runner, and what the model is. Fails if either is missing. */
int on_model_init(struct on_model *, struct err *);

/* The measurer; the model is borrowed. */
struct measurer on_model_measurer(struct on_model *);

#endif

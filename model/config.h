/* SPDX-License-Identifier: Apache-2.0 */
/* What the command tells the plugin: entries "key=value", each ended by a NUL. */
#ifndef CYCLOPS_MODEL_CONFIG_H
#define CYCLOPS_MODEL_CONFIG_H

#include "base/err.h"
#include "base/vec.h"
#include "model/ideal.h"
#include "model/params.h"
#include "model/pmu_sampler.h"
#include "model/sampler.h"

struct config {
	struct params params;
	bool without_spe;	     /* then `sampling` is not used */
	struct sampling sampling;    /* of SPE */
	struct pmu_sampling samples; /* of the PMU */
	uint64_t seed;
	uint32_t journal;		/* file descriptor of shared memory (journal.h); 0: none */
	const char *output;		/* the capture to write */
	const char *name;		/* of the program: comm */
	const char *counts;		/* json of PMU counts to write, NULL for none */
	const char *truth;		/* the same of everything that happened */
	const char *gains;		/* the same of cycles by block */
	VEC_OF(struct ideal) ideals;	/* what is perfect: of the machine, then of its replicas */
	const char *root;		/* taken off the front of paths; "" for none */
	const char *version;		/* of cyclops */
	const char *model;		/* "Neoverse N1" */
	VEC_OF(const char *) arguments; /* the command line */
	char *text;			/* holds all of these */
};

/*
 * Reads the entries and takes the bytes over: config_release() frees them. Fails on a key that
 * is not known, on a value that does not fit, and if something needed is missing.
 */
int config_read(char *text, size_t size, struct config *out, struct err *);
void config_release(struct config *);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The settings that the command hands to the plugin: entries "key=value", each ended by a NUL. */
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
	uint32_t journal;	     /* file descriptor of shared memory (journal.h); 0: none */
	const char *output;	     /* path of the capture to write */
	const char *name;	     /* of the program, for COMM records */
	const char *counts;	     /* path for PMU counts as json; NULL: none */
	const char *truth;	     /* path for everything that happened as json; NULL: none */
	const char *gains;	     /* path for cycles by block as json; NULL: none */
	VEC_OF(struct ideal) ideals; /* the first is the machine's, the others are for replicas */
	const char *root;	     /* prefix to remove from recorded paths; "" for none */
	const char *version;	     /* of cyclops */
	const char *model;	     /* "Neoverse N1" */
	VEC_OF(const char *) arguments; /* the command line */
	char *text;			/* holds all texts */
};

/*
 * Parses the entries. Takes `text` over, which config_release() frees. Fails if a key is unknown, a
 * value is out of range, or a setting is missing that every run needs.
 */
int config_read(char *text, size_t size, struct config *out, struct err *);
void config_release(struct config *);

#endif

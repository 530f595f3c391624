/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the samples of one capture: for each raw group of an answer and each event. */
#ifndef CYCLOPS_CYCLES_SUMS_H
#define CYCLOPS_CYCLES_SUMS_H

#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "base/uint128.h"
#include "estimate/mux.h"
#include "keys/keys.h"
#include "session/analysis.h"
#include "session/names.h"

struct cycle_sums_options {
	uint32_t dimensions;   /* bits by enum dimension; DIM_EVENT is always one */
	const struct mux *mux; /* whose followers are counted at the samples of their leaders */
};

/* Samples of one event. */
struct sample_sum {
	uint64_t weight;	/* sum of periods: events they stand for without multiplexing */
	struct uint128 squares; /* sum of the squares of periods */
	uint64_t n;
};

/* Result: raw groups, numbered. */
struct cycle_sums {
	const struct session *session;
	const struct cycle_sums_options *options;
	enum dimension dimensions[N_DIMENSIONS];
	size_t n_dimensions;
	struct tuples keys; /* words in the order of `dimensions` */
	VEC_OF(struct sample_sum) sums;
	uint64_t *words; /* of a batch */
	uint32_t *numbers;
};

/* Options: struct cycle_sums_options. Result: struct cycle_sums. */
extern const struct analysis_class cycle_sums_class;

/* The key of a group: a word for each dimension; 0 for those that are not grouped by. */
void cycle_sums_key(const struct cycle_sums *, uint32_t group, uint64_t key[N_DIMENSIONS]);

/*
 * The groups in an order that is the same in each run: that in which sums of doubles are added up. To be
 * freed.
 */
uint32_t *cycle_sums_order(const struct cycle_sums *);

/* The CPU of a group; UINT32_MAX: all, or not known. */
uint32_t cycle_sums_cpu(const struct cycle_sums *, const uint64_t key[N_DIMENSIONS]);

#endif

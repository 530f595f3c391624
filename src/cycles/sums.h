/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of samples for cycle accounting: for each object of an answer and each event. */
#ifndef CYCLOPS_CYCLES_SUMS_H
#define CYCLOPS_CYCLES_SUMS_H

#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
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
	uint64_t weight;	   /* sum of periods: events they stand for without multiplexing */
	unsigned __int128 squares; /* sum of the squares of periods */
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

/* What the samples of an event come to in an object. */
struct event_sum {
	double weight;	 /* events without multiplexing */
	double events;	 /* weight x multiplex factor of each CPU */
	double variance; /* of `events` */
	uint64_t n;
};

/* The objects of an answer by some keys, and the sums of each event in them. */
struct cycle_rows {
	const struct names *names;
	const struct keys *keys;
	size_t n_words, n_events;
	struct tuples words;
	VEC_OF(struct event_sum) sums; /* row x event */
};

/* Groups by what the keys say. All arguments are borrowed. */
void cycle_rows_init(struct cycle_rows *, const struct cycle_sums *, const struct names *,
		     const struct keys *);
void cycle_rows_release(struct cycle_rows *);

static inline struct event_sum *cycle_rows_sums(const struct cycle_rows *r, uint32_t row)
{
	return &r->sums.items[row * r->n_events];
}

/* Names for the places of the sums, as far as the keys need them. */
void cycle_names(struct session *, const struct cycle_sums *, const struct keys *,
		 struct names *out);

#endif

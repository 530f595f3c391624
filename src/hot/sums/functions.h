/* SPDX-License-Identifier: Apache-2.0 */
/* Hotspots by function with what findings need: data sources, and the heaviest place by aspect. */
#ifndef CYCLOPS_HOT_SUMS_FUNCTIONS_H
#define CYCLOPS_HOT_SUMS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "hot/sums/sums.h"
#include "session/names.h"

/* What the heaviest place of a function is looked for by. */
enum hot_aspect {
	ASPECT_WEIGHT,
	ASPECT_FAR,	     /* latency of data from memory or another socket */
	ASPECT_PEER,	     /* latency of data from another core's cache */
	ASPECT_WALKS,	     /* records with a translation table walk */
	ASPECT_MISPREDICTED, /* mispredicted branches */
	N_ASPECTS,
};

/* A function and its sums for one event. All places of a module without a name are one function. */
struct hot_function {
	uint64_t event; /* as in DIM_EVENT */
	struct hot_cost cost;
	uint64_t weight;	 /* of the cost: cycles of SPE records, periods of samples */
	uint64_t n_sourced;	 /* SPE: records with a known data source */
	uint64_t sourced_cycles; /* total latency of those */
	uint64_t n_far;		 /* … that came from memory or another socket */
	uint64_t far_cycles;	 /* total latency of those */
	uint64_t n_peer;	 /* … that came from another core's cache */
	uint64_t peer_cycles;	 /* total latency of those */

	/* The heaviest place by each aspect, of equals the first in its module. */
	uint32_t places[N_ASPECTS];
	uint64_t place_weights[N_ASPECTS];
};

struct hot_functions {
	const struct hot *hot;
	VEC_OF(struct hot_function) list;
	struct hot_cost *totals; /* by event: hot_totals() */
};

/*
 * Sums up a result whose dimensions include the place, and the source for *_cycles. All borrowed.
 */
void hot_functions_init(struct hot_functions *, const struct hot *, const struct names *);
void hot_functions_release(struct hot_functions *);

/* Is place `a` before `b` by (module, offset)? Does not depend on how places were numbered. */
bool hot_place_is_before(const struct session *, uint32_t a, uint32_t b);

#endif

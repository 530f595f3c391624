/* SPDX-License-Identifier: Apache-2.0 */
/* Hotspots by function, with what findings need to know of each: waits, sources, its place. */
#ifndef CYCLOPS_HOT_FUNCTIONS_H
#define CYCLOPS_HOT_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "hot/hot.h"
#include "session/names.h"

/* What a place of a function can be the heaviest by. */
enum hot_aspect {
	ASPECT_WEIGHT,
	ASPECT_FAR,  /* latency of data from memory or another socket */
	ASPECT_PEER, /* latency of data from another core's cache */
	ASPECT_WALKS,
	ASPECT_MISPREDICTED,
	N_ASPECTS,
};

/* A function, for one event. What has no name in a module counts as one function. */
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

/* Sums up a result that tells places apart, and sources for the waits. All borrowed. */
void hot_functions_init(struct hot_functions *, const struct hot *, const struct names *);
void hot_functions_release(struct hot_functions *);

/* Does place `a` stand before `b`, by module and offset? The same for any numbering. */
bool hot_place_is_before(const struct session *, uint32_t a, uint32_t b);

#endif

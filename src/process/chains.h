/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains as one tree: equal ways to a place are one frame. */
#ifndef CYCLOPS_PROCESS_CHAINS_H
#define CYCLOPS_PROCESS_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "process/place_cache.h"

/* PERF_CONTEXT_USER: the addresses behind this marker are of user code. */
#define CHAIN_USER ((uint64_t)-512)

struct chains {
	struct tuples frames;	   /* (caller's frame, place); 0 is the root */
	struct place_cache *cache; /* borrowed */
};

void chains_init(struct chains *, struct place_cache *);
void chains_release(struct chains *);

/* What a chain needs to know of its sample. */
struct chain_sample {
	uint32_t process; /* whose user addresses are; PLACE_OF_NOBODY if not known */
	uint32_t whose;	  /* the addresses before the first context marker */
	uint64_t time_ns; /* below UINT64_MAX */
};

/*
 * The frame of a chain as recorded: `n` addresses and context markers, innermost first. 0 if
 * there is no address in it. Of chains longer than 1024 only the inner part counts.
 */
uint32_t chains_add(struct chains *, const struct chain_sample *, const uint64_t *words, size_t n);

/* The frame of a single place that nobody is known to have called. */
uint32_t chains_add_leaf(struct chains *, uint32_t place);

#endif

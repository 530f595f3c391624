/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains as a tree: chains with the same callers share frames. */
#ifndef CYCLOPS_PROCESS_CHAINS_H
#define CYCLOPS_PROCESS_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "process/place_cache.h"

/* PERF_CONTEXT_USER: the addresses behind this marker are of user code. */
#define CHAIN_USER ((uint64_t)-512)

struct chains {
	struct tuples frames;	   /* (caller's frame, place); 0 is the root */
	struct place_cache *cache; /* borrowed */
	uint64_t n_links;	   /* of chains that were added since all were forgotten */
	unsigned
		n_loose; /* how often they will be forgotten until equal frames are looked for again; 0: they are now */
};

void chains_init(struct chains *, struct place_cache *);
void chains_release(struct chains *);

/*
 * Forgets all chains. If most frames were new ones, equal frames of the next chains are not looked for: they have numbers of their
 * own (chains_are_loose()), for some time.
 */
void chains_reset(struct chains *);

/* What a chain needs to know of its sample. */
struct chain_sample {
	uint32_t process; /* that user addresses belong to; PLACE_OF_NOBODY: not known */
	uint32_t whose;	  /* to whom addresses before the first context marker belong */
	uint64_t time_ns; /* below UINT64_MAX */
};

enum { CHAIN_MAX = 1024 };

/* An address of a chain, with what place_cache_look_up() needs. */
struct chain_link {
	uint64_t address;  /* inside the call instruction */
	uint64_t recorded; /* the same as it was recorded: of callers, where the call returns to */
	uint32_t whose;
};

/*
 * Takes the context markers out of a recorded chain, innermost first; returns how many addresses there are.
 * Callers are recorded as return addresses, which may belong to the next line or even the next function. One
 * is subtracted, to be inside the call instruction. The innermost address of each context is the pc, and is
 * left as it is.
 */
size_t chains_read(const struct chain_sample *, const uint64_t *words, size_t n,
		   struct chain_link links[CHAIN_MAX]);

/*
 * The innermost frame of a recorded chain of `n` addresses and context markers, innermost first. 0
 * if it has no address. Of chains longer than 1024 only the inner 1024 are used.
 */
uint32_t chains_add(struct chains *, const struct chain_sample *, const uint64_t *words, size_t n);

/* May equal frames have different numbers? */
static inline bool chains_are_loose(const struct chains *c)
{
	return c->n_loose > 0;
}

/* The frame of a place without known callers. */
uint32_t chains_add_leaf(struct chains *, uint32_t place);

#endif

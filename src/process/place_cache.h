/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers answers of timeline_place() for one worker, and numbers the places. */
#ifndef CYCLOPS_PROCESS_PLACE_CACHE_H
#define CYCLOPS_PROCESS_PLACE_CACHE_H

#include <stdint.h>

#include "base/hash.h"
#include "base/tuples.h"
#include "process/timeline.h"

/* Whose address it is, besides the index of a process. */
#define PLACE_OF_KERNEL 0u
#define PLACE_OF_NOBODY UINT32_MAX /* the process is not known, or nothing of ours */

enum {
	PLACE_PAGE_SHIFT = 12,
	PLACE_PAGE = 1 << PLACE_PAGE_SHIFT,
	PLACE_CODE_SIZE = 4, /* of an A64 instruction: what numbers are kept for */
};

/* The numbers of the places of a page, + 1; 0: has none yet. */
struct place_numbers {
	uint32_t at[PLACE_PAGE / PLACE_CODE_SIZE];
};

/* An answer about addresses of someone in one page, or all zero. */
struct place_range {
	uint64_t first, last; /* addresses, both included */
	uint64_t from_ns, to_ns;
	uint64_t first_offset;
	struct module_id module;
	uint32_t whose;
	struct place_numbers *numbers; /* NULL: too many pages have some */
};

struct place_cache {
	const struct timeline *timeline; /* borrowed */
	struct tuples places;		 /* (module, offset) */
	struct place_range *ranges;	 /* each page has one slot where its range may be */
	unsigned shift;			 /* 64 - log2 of the number of slots */
	uint64_t seed;
	uint64_t n_misses;   /* since the cache last grew */
	struct tuples pages; /* (module, offset of the page), which have … */
	struct place_numbers *numbers;
};

void place_cache_init(struct place_cache *, const struct timeline *);
void place_cache_release(struct place_cache *);

/* Asks the timeline, and remembers. */
const struct place_range *place_cache_miss_(struct place_cache *, uint32_t whose, uint64_t address,
					    uint64_t time_ns);

static inline struct place_range *place_cache_slot(const struct place_cache *c, uint32_t whose,
						   uint64_t address)
{
	uint64_t page = address >> PLACE_PAGE_SHIFT;

	return &c->ranges[hash_mix(page ^ c->seed, whose ^ 0x9e3779b97f4a7c15u) >> c->shift];
}

/*
 * The range that an address lies in, valid until the next call. `time_ns` must be below
 * UINT64_MAX.
 */
static inline const struct place_range *place_cache_look_up(struct place_cache *c, uint32_t whose,
							    uint64_t address, uint64_t time_ns)
{
	const struct place_range *r = place_cache_slot(c, whose, address);

	if (address - r->first > r->last - r->first ||
	    time_ns - r->from_ns >= r->to_ns - r->from_ns || r->whose != whose)
		r = place_cache_miss_(c, whose, address, time_ns);
	return r;
}

static inline uint64_t place_range_offset(const struct place_range *r, uint64_t address)
{
	return r->first_offset + (address - r->first);
}

/* Where the number of the place is kept, or NULL. Valid as long as the cache. */
static inline uint32_t *place_range_number(const struct place_range *r, uint64_t address)
{
	if (r->numbers == NULL || address % PLACE_CODE_SIZE != 0)
		return NULL;
	return &r->numbers->at[address % PLACE_PAGE / PLACE_CODE_SIZE];
}

/* The number in `places` of where an address is. */
static inline uint32_t place_cache_find(struct place_cache *c, uint32_t whose, uint64_t address,
					uint64_t time_ns)
{
	const struct place_range *r = place_cache_look_up(c, whose, address, time_ns);
	const uint64_t place[2] = { r->module.v, place_range_offset(r, address) };

	return tuples_add(&c->places, place);
}

#endif

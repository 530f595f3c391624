/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's cache of timeline_place() and of place numbers. Not thread-safe. */
#ifndef CYCLOPS_PROCESS_PLACE_CACHE_H
#define CYCLOPS_PROCESS_PLACE_CACHE_H

#include <stdint.h>

#include "base/hash.h"
#include "process/place_numbers.h"
#include "process/timeline.h"

enum {
	MAPPED_PAGES =
		16, /* pages of a range at most: whatever is mapped by itself often has as many */
	MAPPED_UNIT = MAPPED_PAGES * PLACE_PAGE,
};

/*
 * Addresses of a unit of MAPPED_UNIT bytes that are mapped alike at times [from_ns, to_ns); all zero: an empty slot of the
 * cache. In lines of the cache: one for the question, one for the page.
 */
struct mapped_range {
	_Alignas(64) uint64_t first; /* addresses, both included */
	uint64_t last;
	uint64_t from_ns, to_ns;
	uint64_t first_offset;
	struct module_id module;
	uint32_t whose;
	uint32_t asked; /* bit n: page n was asked for */
	/* By page of the unit: numbers of its places; NULL: not asked yet, or each is looked up on its own. */
	struct place_page *pages[MAPPED_PAGES];
};

/* A place whose number is not in a struct place_page. */
struct known_place {
	struct place place;
	uint32_t number;
};

struct place_cache {
	const struct timeline *timeline; /* borrowed */
	struct place_numbers *places;	 /* borrowed, shared with other workers */
	struct mapped_range *ranges;	 /* direct-mapped cache: unit, or page, → range */
	unsigned shift;			 /* 64 - log2 of the number of slots */
	uint64_t seed;			 /* of the hash */
	uint64_t n_misses;		 /* since the cache last grew */
	struct known_place *known;	 /* direct-mapped cache: place → number */
	unsigned known_shift;		 /* the same of it */
	uint64_t n_known_misses;
};

void place_cache_init(struct place_cache *, const struct timeline *, struct place_numbers *);
void place_cache_release(struct place_cache *);

/* It is not in the slot of its unit: looks in that of its page, or asks the timeline and fills a slot. */
struct mapped_range *place_cache_miss_(struct place_cache *, uint32_t whose, uint64_t address,
				       uint64_t time_ns);

/* Does a range tell of an address at a time, which is below UINT64_MAX? */
static inline bool mapped_range_has(const struct mapped_range *r, uint32_t whose, uint64_t address,
				    uint64_t time_ns)
{
	return address - r->first <= r->last - r->first &&
	       time_ns - r->from_ns < r->to_ns - r->from_ns && r->whose == whose;
}

static inline struct mapped_range *place_cache_slot(const struct place_cache *c, uint32_t whose,
						    uint64_t address)
{
	uint64_t unit = address / MAPPED_UNIT;

	return &c->ranges[hash_mix(unit ^ c->seed, whose ^ 0x9e3779b97f4a7c15u) >> c->shift];
}

/*
 * The range that has an address at a time, which is below UINT64_MAX. `whose` is a process index
 * or PLACE_OF_…. Valid until the next call.
 */
static inline struct mapped_range *place_cache_look_up(struct place_cache *c, uint32_t whose,
						       uint64_t address, uint64_t time_ns)
{
	struct mapped_range *r = place_cache_slot(c, whose, address);

	return mapped_range_has(r, whose, address, time_ns)
		       ? r
		       : place_cache_miss_(c, whose, address, time_ns);
}

static inline struct place mapped_range_place(const struct mapped_range *r, uint64_t address)
{
	return (struct place){ r->module, r->first_offset + (address - r->first) };
}

/* The number of a place outside of all struct place_page. */
uint32_t place_cache_number_(struct place_cache *, struct place);

/* The number of a place; `kept` is place_numbers_kept() of it, or NULL. */
static inline uint32_t place_cache_number(struct place_cache *c, _Atomic uint32_t *kept,
					  struct place place)
{
	struct kept_place its = { .kept = kept, .place = place };

	if (kept == NULL)
		return place_cache_number_(c, place);
	its.number = place_numbers_look(kept);
	if (place_is_none(its.number))
		place_numbers_add_kept(c->places, &its, 1);
	return its.number;
}

static inline size_t mapped_range_page_(uint64_t address)
{
	return address / PLACE_PAGE % MAPPED_PAGES;
}

/* Asks for the page that an address of a range is on. */
void place_cache_ask_page_(struct place_cache *, struct mapped_range *, uint64_t address);

/* The same, if it was not asked yet. NULL: places on it are looked up on their own. */
static inline struct place_page *place_cache_page(struct place_cache *c, struct mapped_range *r,
						  uint64_t address)
{
	if (!(r->asked >> mapped_range_page_(address) & 1))
		place_cache_ask_page_(c, r, address);
	return r->pages[mapped_range_page_(address)];
}

/* The page that has the number of an instruction at an address of a range; NULL: it is no whole word, or there is no page yet. */
static inline struct place_page *mapped_range_page(const struct mapped_range *r, uint64_t address)
{
	/* Where there is a page, those of memory and of the module coincide. */
	return address % PLACE_CODE_SIZE == 0 ? r->pages[mapped_range_page_(address)] : NULL;
}

/* The number of the place of an address of a range. */
static inline uint32_t mapped_range_number(struct place_cache *c, struct mapped_range *r,
					   uint64_t address)
{
	struct place place = mapped_range_place(r, address);
	struct place_page *page = place_cache_page(c, r, address);

	return place_cache_number(c, place_numbers_kept(page, place.offset), place);
}

/* The place number of an address. */
static inline uint32_t place_cache_find(struct place_cache *c, uint32_t whose, uint64_t address,
					uint64_t time_ns)
{
	return mapped_range_number(c, place_cache_look_up(c, whose, address, time_ns), address);
}

#endif

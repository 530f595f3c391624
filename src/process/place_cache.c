/* SPDX-License-Identifier: Apache-2.0 */
#include "process/place_cache.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Sizes. A range is 56 bytes: the cache grows from 56 KiB to 3.5 MiB. A place is 24 bytes: from 96 KiB to 1.5 MiB. */
enum {
	FIRST_LOG = 10,
	LAST_LOG = 16,
	KNOWN_FIRST_LOG = 12,
	KNOWN_LAST_LOG = 16,
	GROWTH_LOG = 2,
};

void place_cache_init(struct place_cache *c, const struct timeline *timeline,
		      struct place_numbers *places)
{
	*c = (struct place_cache){
		.timeline = timeline,
		.places = places,
		.ranges = mem_zalloc((size_t)1 << FIRST_LOG, sizeof(*c->ranges)),
		.shift = 64 - FIRST_LOG,
		.seed = hash_seed(),
		.known = mem_zalloc((size_t)1 << KNOWN_FIRST_LOG, sizeof(*c->known)),
		.known_shift = 64 - KNOWN_FIRST_LOG,
	};
}

void place_cache_release(struct place_cache *c)
{
	free(c->known);
	free(c->ranges);
	*c = (struct place_cache){ 0 };
}

/* Makes the cache twice as large, and empty: entries in use come back with their next miss. */
static void place_cache_grow(struct place_cache *c)
{
	c->n_misses = 0;
	if (c->shift == 64 - LAST_LOG)
		return;
	c->shift -= GROWTH_LOG;
	free(c->ranges);
	c->ranges = mem_zalloc_pages((size_t)1 << (64 - c->shift), sizeof(*c->ranges));
}

/* The numbers of the page that a place is in; NULL if pages in memory and in the module do not coincide. */
static struct place_page *numbers_of(struct place_cache *c, uint64_t address, struct place place)
{
	return (address - place.offset) % PLACE_PAGE == 0
		       ? place_numbers_page(c->places, place.module, place.offset)
		       : NULL;
}

const struct mapped_range *place_cache_miss_(struct place_cache *c, uint32_t whose,
					     uint64_t address, uint64_t time_ns)
{
	struct placed p = timeline_place_of(c->timeline, whose, address, time_ns);
	uint64_t page = address & -(uint64_t)PLACE_PAGE, page_end = page + (PLACE_PAGE - 1);
	uint64_t first = p.first > page ? p.first : page;
	struct mapped_range *slot;

	if (++c->n_misses > (uint64_t)1 << (64 - c->shift))
		place_cache_grow(c);
	slot = place_cache_slot(c, whose, address);
	*slot = (struct mapped_range){
		.first = first,
		.last = p.last < page_end ? p.last : page_end,
		.from_ns = p.from_ns,
		.to_ns = p.to_ns,
		.first_offset = p.place.offset - (address - first),
		.module = p.place.module,
		.whose = whose,
		.numbers = numbers_of(c, address, p.place),
	};
	return slot;
}

static uint64_t known_hash(const struct place_cache *c, struct place place)
{
	return hash_mix(place.offset ^ c->seed, place.module.v ^ 0x9e3779b97f4a7c15u);
}

/* Twice as many misses as slots: there are more places than that, as where callers are of a large program. */
static void grow_known(struct place_cache *c)
{
	c->n_known_misses = 0;
	if (c->known_shift == 64 - KNOWN_LAST_LOG)
		return;
	c->known_shift -= GROWTH_LOG;
	free(c->known);
	c->known = mem_zalloc_pages((size_t)1 << (64 - c->known_shift), sizeof(*c->known));
}

__attribute__((noinline)) static uint32_t known_miss(struct place_cache *c, struct place place)
{
	uint32_t number = place_numbers_add(c->places, place);

	if (++c->n_known_misses > (uint64_t)2 << (64 - c->known_shift))
		grow_known(c);
	c->known[known_hash(c, place) >> c->known_shift] = (struct known_place){ place, number };
	return number;
}

uint32_t place_cache_number_(struct place_cache *c, struct place place)
{
	const struct known_place *known = &c->known[known_hash(c, place) >> c->known_shift];

	if (known->place.module.v != place.module.v || known->place.offset != place.offset)
		return known_miss(c, place);
	return known->number;
}

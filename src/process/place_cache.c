/* SPDX-License-Identifier: Apache-2.0 */
#include "process/place_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Sizes. A range is 192 bytes: the cache grows from 48 KiB to 3 MiB. A place is 24 bytes: from 96 KiB to 1.5 MiB. */
enum {
	FIRST_LOG = 8,
	LAST_LOG = 14,
	KNOWN_FIRST_LOG = 12,
	KNOWN_LAST_LOG = 16,
	GROWTH_LOG = 2,
};

/* Empty slots. */
static void place_cache_make_ranges(struct place_cache *c)
{
	size_t n = (size_t)1 << (64 - c->shift);

	c->ranges = mem_aligned(n, sizeof(*c->ranges));
	memset(c->ranges, 0, n * sizeof(*c->ranges));
}

void place_cache_init(struct place_cache *c, const struct timeline *timeline,
		      struct place_numbers *places)
{
	*c = (struct place_cache){
		.timeline = timeline,
		.places = places,
		.shift = 64 - FIRST_LOG,
		.seed = hash_seed(),
		.known = mem_zalloc((size_t)1 << KNOWN_FIRST_LOG, sizeof(*c->known)),
		.known_shift = 64 - KNOWN_FIRST_LOG,
	};
	place_cache_make_ranges(c);
}

void place_cache_release(struct place_cache *c)
{
	free(c->known);
	free(c->ranges);
	*c = (struct place_cache){ 0 };
}

/* Makes the cache larger, and empty: entries in use come back with their next miss. */
static void place_cache_grow(struct place_cache *c)
{
	c->n_misses = 0;
	if (c->shift == 64 - LAST_LOG)
		return;
	c->shift -= GROWTH_LOG;
	free(c->ranges);
	place_cache_make_ranges(c);
}

void place_cache_ask_page_(struct place_cache *c, struct mapped_range *r, uint64_t address)
{
	const struct place place = mapped_range_place(r, address);

	r->asked |= 1u << mapped_range_page_(address);
	if ((address - place.offset) % PLACE_PAGE ==
	    0) /* pages in memory and in the module coincide */
		r->pages[mapped_range_page_(address)] =
			place_numbers_page(c->places, place.module, place.offset);
}

/*
 * Which slot a range goes to that is not in the slot of its unit: to that, unless a neighbour of the same unit is there, as
 * where kernel modules or compiled functions are side by side. Then to a slot of its page: each would push out the other.
 */
static struct mapped_range *slot_to_fill(const struct place_cache *c, uint32_t whose,
					 uint64_t address, uint64_t time_ns)
{
	struct mapped_range *slot = place_cache_slot(c, whose, address);
	uint64_t page = address / PLACE_PAGE;

	if (slot->first / MAPPED_UNIT != address / MAPPED_UNIT ||
	    !mapped_range_has(slot, whose, slot->first, time_ns))
		return slot;
	return &c->ranges[hash_mix(page ^ c->seed, whose ^ 0xd1b54a32d192ed03u) >> c->shift];
}

struct mapped_range *place_cache_miss_(struct place_cache *c, uint32_t whose, uint64_t address,
				       uint64_t time_ns)
{
	struct mapped_range *slot = slot_to_fill(c, whose, address, time_ns);
	uint64_t unit = address & -(uint64_t)MAPPED_UNIT, unit_end = unit + (MAPPED_UNIT - 1);
	uint64_t first;
	struct placed p;

	if (mapped_range_has(slot, whose, address, time_ns))
		return slot;
	if (++c->n_misses > (uint64_t)1 << (64 - c->shift)) {
		place_cache_grow(c);
		slot = slot_to_fill(c, whose, address, time_ns);
	}
	p = timeline_place_of(c->timeline, whose, address, time_ns);
	first = p.first > unit ? p.first : unit;
	*slot = (struct mapped_range){
		.first = first,
		.last = p.last < unit_end ? p.last : unit_end,
		.from_ns = p.from_ns,
		.to_ns = p.to_ns,
		.first_offset = p.place.offset - (address - first),
		.module = p.place.module,
		.whose = whose,
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

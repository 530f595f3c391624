/* SPDX-License-Identifier: Apache-2.0 */
#include "process/place_cache.h"

#include <stdlib.h>

#include "base/alloc.h"

/* 64 bytes each: from 64 KiB to 4 MiB for a worker, and 8 MiB of numbers. */
enum {
	FIRST_LOG = 10,
	LAST_LOG = 16,
	GROWTH_LOG = 2,
	MAX_NUMBERED = 2048, /* pages */
};

void place_cache_init(struct place_cache *c, const struct timeline *timeline)
{
	*c = (struct place_cache){
		.timeline = timeline,
		.ranges = mem_zalloc((size_t)1 << FIRST_LOG, sizeof(*c->ranges)),
		.shift = 64 - FIRST_LOG,
		.seed = hash_seed(),
		.numbers =
			mem_zalloc(MAX_NUMBERED, sizeof(*c->numbers)), /* unused: costs nothing */
	};
	tuples_init(&c->pages, 2);
	tuples_init(&c->places, 2);
	tuples_add(&c->places, (const uint64_t[2]){ 0, 0 });
}

void place_cache_release(struct place_cache *c)
{
	free(c->numbers);
	tuples_release(&c->pages);
	free(c->ranges);
	tuples_release(&c->places);
	*c = (struct place_cache){ 0 };
}

/* What was remembered is not worth moving: it comes again if it is in use. */
static void grow(struct place_cache *c)
{
	c->n_misses = 0;
	if (c->shift == 64 - LAST_LOG)
		return;
	c->shift -= GROWTH_LOG;
	free(c->ranges);
	c->ranges = mem_zalloc((size_t)1 << (64 - c->shift), sizeof(*c->ranges));
}

static struct placed ask(const struct place_cache *c, uint32_t whose, uint64_t address,
			 uint64_t time_ns)
{
	uint32_t process = whose == PLACE_OF_NOBODY ? 0 : whose;

	return timeline_place(c->timeline, process, whose == PLACE_OF_KERNEL, address, time_ns);
}

/* Pages are known by what lies there, so that processes share the numbers of a module. */
static struct place_numbers *numbers_of(struct place_cache *c, uint64_t module, uint64_t offset)
{
	const uint64_t page[2] = { module, offset };
	uint32_t number = tuples_find(&c->pages, page);

	if (number != TUPLES_NONE)
		return &c->numbers[number];
	return c->pages.n < MAX_NUMBERED ? &c->numbers[tuples_add(&c->pages, page)] : NULL;
}

const struct place_range *place_cache_miss_(struct place_cache *c, uint32_t whose, uint64_t address,
					    uint64_t time_ns)
{
	struct placed p = ask(c, whose, address, time_ns);
	uint64_t page = address & -(uint64_t)PLACE_PAGE, page_end = page + (PLACE_PAGE - 1);
	uint64_t first = p.first > page ? p.first : page;
	struct place_range *slot;

	if (++c->n_misses > (uint64_t)1 << (64 - c->shift))
		grow(c);
	slot = place_cache_slot(c, whose, address);
	*slot = (struct place_range){
		.first = first,
		.last = p.last < page_end ? p.last : page_end,
		.from_ns = p.from_ns,
		.to_ns = p.to_ns,
		.first_offset = p.place.offset - (address - first),
		.module = p.place.module,
		.whose = whose,
		.numbers = numbers_of(c, p.place.module.v, p.place.offset - (address - page)),
	};
	return slot;
}

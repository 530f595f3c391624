/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of SPE records by place. Places are numbered as they come, so the first ones have most of the records, and these have
 * sums of whole width: in most captures that is all of them. There may be as many places as records, and the sums of those
 * behind have 16 bytes. What does not fit there is added to sums of whole width, which few of these have: nothing is lost.
 */
#ifndef CYCLOPS_HOT_SUMS_PLACE_COSTS_H
#define CYCLOPS_HOT_SUMS_PLACE_COSTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "hot/sums/cost.h"

/*
 * Like struct hot_cost, in two words, so that two additions add up all of it. No number of records is above `n`. Each
 * sum has a bit more than its half, so the halves of two never carry.
 *
 *	0: squares 31, NARROW_HAS_WIDE 1, cycles 16, xlat_cycles 16
 *	1: full 16, then 8 each: n, n_cycles, n_saturated, n_walks, n_branches, n_mispredicted
 */
struct narrow_cost {
	uint64_t words[2];
};

/* There are sums of whole width, too. */
#define NARROW_HAS_WIDE (UINT64_C(1) << 31)

/* Of which none is set in a half. */
#define NARROW_UPPER_0 (UINT64_C(1) << 30 | UINT64_C(1) << 47 | UINT64_C(1) << 63)
#define NARROW_UPPER_1 (UINT64_C(1) << 15 | UINT64_C(1) << 23)

/* The places below this have sums of whole width: a huge page of them, which is about what a core has close by. */
enum {
	PLACE_COSTS_WHOLE = MEM_HUGE / sizeof(struct hot_cost),
	PLACE_COSTS_BLOCK =
		MEM_HUGE / sizeof(struct narrow_cost), /* places of a block of those behind */
};

struct place_costs {
	VEC_OF(struct hot_cost) whole; /* by place */
	bool is_whole_huge;	       /* its memory is of mem_huge(), MEM_HUGE bytes */
	VEC_OF(struct narrow_cost *)
	narrow;			   /* by place - PLACE_COSTS_WHOLE: blocks of MEM_HUGE bytes */
	size_t n_narrow;	   /* places that they are asked for */
	struct hot_cost of_narrow; /* sum of all behind the first ones */
	struct tuples wide_places; /* a word each: the place; by its number: */
	VEC_OF(struct hot_cost) wide;
	pthread_mutex_t mutex; /* of what is wide, in place_costs_merge_part() */
};

void place_costs_init(struct place_costs *);
void place_costs_release(struct place_costs *);

/* There is room for places below this. */
static inline uint32_t place_costs_n(const struct place_costs *p)
{
	return (uint32_t)(p->whole.n + p->n_narrow);
}

/* Makes room for places below `n`. */
void place_costs_reach(struct place_costs *, size_t n);

static inline struct narrow_cost *place_costs_narrow(const struct place_costs *p, uint32_t place)
{
	uint32_t at = place - PLACE_COSTS_WHOLE;

	return &p->narrow.items[at / PLACE_COSTS_BLOCK][at % PLACE_COSTS_BLOCK];
}

/* For place_costs_get(): adds what is wide. */
void place_costs_add_wide(const struct place_costs *, uint32_t place, struct hot_cost *);

/* What is narrow. Inline, as most callers want few of the sums. */
static inline struct hot_cost narrow_cost_get(const struct narrow_cost *c)
{
	return (struct hot_cost){
		.squares = c->words[0] & (NARROW_HAS_WIDE - 1),
		.cycles = (uint16_t)(c->words[0] >> 32),
		.xlat_cycles = (uint16_t)(c->words[0] >> 48),
		.full = (uint16_t)c->words[1],
		.n = (uint8_t)(c->words[1] >> 16),
		.n_cycles = (uint8_t)(c->words[1] >> 24),
		.n_saturated = (uint8_t)(c->words[1] >> 32),
		.n_walks = (uint8_t)(c->words[1] >> 40),
		.n_branches = (uint8_t)(c->words[1] >> 48),
		.n_mispredicted = (uint8_t)(c->words[1] >> 56),
	};
}

/* The sums of a place, which there is room for. */
static inline struct hot_cost place_costs_get(const struct place_costs *p, uint32_t place)
{
	const struct narrow_cost *narrow;
	struct hot_cost out;

	if (place < PLACE_COSTS_WHOLE)
		return p->whole.items[place];
	narrow = place_costs_narrow(p, place);
	out = narrow_cost_get(narrow);
	if (narrow->words[0] & NARROW_HAS_WIDE)
		place_costs_add_wide(p, place, &out);
	return out;
}

/* One of the sums, for who compares all places. */
static inline uint64_t place_costs_cycles(const struct place_costs *p, uint32_t place)
{
	const struct narrow_cost *narrow;

	if (place < PLACE_COSTS_WHOLE)
		return p->whole.items[place].cycles;
	narrow = place_costs_narrow(p, place);
	return narrow->words[0] & NARROW_HAS_WIDE ? place_costs_get(p, place).cycles
						  : narrow_cost_get(narrow).cycles;
}

/* Does a place have no records? */
static inline bool place_costs_is_empty(const struct place_costs *p, uint32_t place)
{
	const struct narrow_cost *narrow;

	if (place < PLACE_COSTS_WHOLE)
		return p->whole.items[place].n == 0;
	narrow = place_costs_narrow(p, place);
	return narrow->words[0] == 0 && narrow->words[1] == 0;
}

/* Adds up the places of one part of n_parts of `into`, which has room for all. Parts may be added at the same time. */
void place_costs_merge_part(struct place_costs *into, const struct place_costs *from, size_t part,
			    size_t n_parts);

/* For place_costs_add_narrow(): what is narrow, and this, are added to what is wide. */
void place_costs_widen(struct place_costs *, uint32_t place, const struct hot_cost *);

/* Are both halves, whose sum is narrow? */
static inline bool place_costs_fit(const struct narrow_cost *to, const struct hot_cost *c)
{
	return ((to->words[0] & NARROW_UPPER_0) | (to->words[1] & NARROW_UPPER_1) |
		c->squares >> 30 | (c->cycles | c->xlat_cycles | c->full) >> 15 | c->n >> 7) == 0;
}

/* Adds to a place from PLACE_COSTS_WHOLE on, which there is room for. */
static inline void place_costs_add_narrow(struct place_costs *p, uint32_t place,
					  const struct hot_cost *c)
{
	struct narrow_cost *to = place_costs_narrow(p, place);

	if (!place_costs_fit(to, c)) {
		place_costs_widen(p, place, c);
		return;
	}
	to->words[0] += c->squares | c->cycles << 32 | c->xlat_cycles << 48;
	to->words[1] += c->full | (uint64_t)c->n << 16 | (uint64_t)c->n_cycles << 24 |
			(uint64_t)c->n_saturated << 32 | (uint64_t)c->n_walks << 40 |
			(uint64_t)c->n_branches << 48 | (uint64_t)c->n_mispredicted << 56;
}

#endif

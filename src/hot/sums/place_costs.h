/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of SPE records by place. There may be as many places as records, so the sums of each have 16 bytes. What does not fit
 * there is added to sums of whole width, so nothing is lost: every hundred records or so of a place, more often where latencies are
 * long, and each record of more than 32 767 cycles.
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

typedef uint64_t narrow_words __attribute__((vector_size(16), aligned(8)));

/*
 * Like struct hot_cost. No number of records is above `n`. Each sum has a bit more than its half, so two whose upper bits
 * are not set are added as words: nothing carries.
 */
struct narrow_cost {
	union {
		struct {
			uint32_t squares; /* and NARROW_HAS_WIDE */
			uint16_t cycles, xlat_cycles, full;
			uint8_t n, n_cycles, n_saturated, n_walks, n_branches, n_mispredicted;
		};
		narrow_words words;
	};
};

/* There are sums of whole width, too. */
#define NARROW_HAS_WIDE (UINT32_C(1) << 31)

/* Of which none is set in a half. */
static const struct narrow_cost narrow_upper = {
	.squares = 1 << 30, .cycles = 1 << 15, .xlat_cycles = 1 << 15, .full = 1 << 15, .n = 1 << 7
};

enum { PLACE_COSTS_BLOCK = MEM_HUGE / sizeof(struct narrow_cost) }; /* places of a block */

struct place_costs {
	size_t n;			     /* there is room for places below this */
	VEC_OF(struct narrow_cost *) blocks; /* by place: of mem_huge(), MEM_HUGE bytes … */
	size_t n_few;			     /* … but for a first one of only so many places */
	struct tuples wide_places;	     /* a word each: the place; by its number: */
	VEC_OF(struct hot_cost) wide;
	pthread_mutex_t mutex; /* of what is wide, in place_costs_merge_part() */
};

void place_costs_init(struct place_costs *);
void place_costs_release(struct place_costs *);

/* There is room for places below this. */
static inline uint32_t place_costs_n(const struct place_costs *p)
{
	return (uint32_t)p->n;
}

/* For place_costs_reach(). */
void place_costs_grow(struct place_costs *, size_t n);

/* Makes room for places below `n`. */
static inline void place_costs_reach(struct place_costs *p, size_t n)
{
	if (n > p->n)
		place_costs_grow(p, n);
}

/* What is narrow of a place that there is room for. */
static inline struct narrow_cost *place_costs_narrow(const struct place_costs *p, uint32_t place)
{
	return &p->blocks.items[place / PLACE_COSTS_BLOCK][place % PLACE_COSTS_BLOCK];
}

/* For place_costs_get(): adds what is wide. */
void place_costs_add_wide(const struct place_costs *, uint32_t place, struct hot_cost *);

/* What is narrow. Inline, as most callers want few of the sums. */
static inline struct hot_cost narrow_cost_get(const struct narrow_cost *c)
{
	return (struct hot_cost){
		.squares = c->squares & (NARROW_HAS_WIDE - 1),
		.cycles = c->cycles,
		.xlat_cycles = c->xlat_cycles,
		.full = c->full,
		.n = c->n,
		.n_cycles = c->n_cycles,
		.n_saturated = c->n_saturated,
		.n_walks = c->n_walks,
		.n_branches = c->n_branches,
		.n_mispredicted = c->n_mispredicted,
	};
}

/* The sums of a place, which there is room for. */
static inline struct hot_cost place_costs_get(const struct place_costs *p, uint32_t place)
{
	const struct narrow_cost *narrow = place_costs_narrow(p, place);
	struct hot_cost out = narrow_cost_get(narrow);

	if (narrow->squares & NARROW_HAS_WIDE)
		place_costs_add_wide(p, place, &out);
	return out;
}

/* One of the sums, for who compares all places. */
static inline uint64_t place_costs_cycles(const struct place_costs *p, uint32_t place)
{
	const struct narrow_cost *narrow = place_costs_narrow(p, place);

	return narrow->squares & NARROW_HAS_WIDE ? place_costs_get(p, place).cycles
						 : narrow->cycles;
}

/* Does a place have no records? */
static inline bool place_costs_is_empty(const struct place_costs *p, uint32_t place)
{
	const struct narrow_cost *narrow = place_costs_narrow(p, place);

	return (narrow->words[0] | narrow->words[1]) == 0;
}

/* The sums of all places. */
struct hot_cost place_costs_total(const struct place_costs *);

/* Adds up the places of one part of n_parts of `into`, which has room for all. Parts may be added at the same time. */
void place_costs_merge_part(struct place_costs *into, const struct place_costs *from, size_t part,
			    size_t n_parts);

/* What is narrow of a place, and this, are added to what is wide. */
void place_costs_widen(struct place_costs *, uint32_t place, const struct hot_cost *);

/* Adds `c`, which has nothing wide, to what is narrow; false, and nothing is added, if the sum may be too wide. */
static inline bool narrow_cost_add(struct narrow_cost *to, const struct narrow_cost *c)
{
	const narrow_words upper = (to->words | c->words) & narrow_upper.words;

	if ((upper[0] | upper[1]) != 0)
		return false;
	to->words += c->words;
	return true;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Place ↔ number. Numbers 0, 1, 2 … are given in order of first appearance. All workers share one
 * table, so counts by number can be added up without translation. All functions are thread-safe,
 * unless they say otherwise.
 */
#ifndef CYCLOPS_PROCESS_PLACE_NUMBERS_H
#define CYCLOPS_PROCESS_PLACE_NUMBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "process/module.h"

struct pool;

#define PLACE_NONE UINT32_MAX

enum {
	PLACE_PAGE = 4096,   /* bytes of a module */
	PLACE_CODE_SIZE = 4, /* bytes of an instruction, where all have one size */
	PLACE_WORDS = PLACE_PAGE / PLACE_CODE_SIZE,

	/* Places are stored in chunks: of 1024, 2048, 4096 … places. */
	PLACE_FIRST_LOG = 10,
	PLACE_CHUNKS = 32 - PLACE_FIRST_LOG,
};

/* In place of a number + 1: a thread is about to give it one. */
#define PLACE_BEING_ADDED UINT32_MAX

/*
 * By word of a page: number of the place + 1; 0: it has none yet; PLACE_BEING_ADDED. Of its first bytes, where instructions are,
 * and of its last ones, where callers of a chain are: one before the address that they return to. Most code is recorded without
 * callers: NULL until place_numbers_add() is asked for the first one.
 */
struct place_page {
	struct place start;
	_Atomic uint32_t first[PLACE_WORDS];
	_Atomic(_Atomic uint32_t *) last;
};

/* Opaque but for `chunks`: the places by number, which never move. */
struct place_numbers {
	_Atomic(struct place *) chunks[PLACE_CHUNKS];
	_Atomic uint32_t n;
	struct place_index *index;
	bool is_without_index; /* place_numbers_forget_index() */
};

/* A table with place 0, "unknown": (0, 0). new and free are not thread-safe. */
struct place_numbers *place_numbers_new(void);
void place_numbers_free(struct place_numbers *);

/* One more than the highest number. */
uint32_t place_numbers_n(const struct place_numbers *);

/* Of what is kept by number in such chunks: which of them it is in, and where. */
static inline unsigned place_chunk_of(uint32_t number, uint64_t *out_slot)
{
	uint64_t at = (uint64_t)number + (1u << PLACE_FIRST_LOG);
	unsigned log = 63u - (unsigned)__builtin_clzll(at);

	*out_slot = at - ((uint64_t)1 << log);
	return log - PLACE_FIRST_LOG;
}

/* The place of a number that place_numbers_add() gave. */
static inline struct place place_numbers_get(const struct place_numbers *p, uint32_t number)
{
	uint64_t slot;
	unsigned chunk = place_chunk_of(number, &slot);

	return atomic_load_explicit(&p->chunks[chunk], memory_order_relaxed)[slot];
}

/* The places of numbers from one on, which are beside each other: of `*n`, or of fewer, which `n` is then. */
static inline const struct place *place_numbers_from(const struct place_numbers *p, uint32_t number,
						     uint32_t *n)
{
	uint64_t slot;
	unsigned chunk = place_chunk_of(number, &slot);
	uint64_t n_there = ((uint64_t)1 << (chunk + PLACE_FIRST_LOG)) - slot;

	*n = n_there < *n ? (uint32_t)n_there : *n;
	return &atomic_load_explicit(&p->chunks[chunk], memory_order_relaxed)[slot];
}

/* The number of a place, which is added if it is new. */
uint32_t place_numbers_add(struct place_numbers *, struct place);

/*
 * Fills in all place_numbers_n() numbers and places (NULL: none), sorted by module and offset. No
 * thread may add places meanwhile.
 */
void place_numbers_sorted(const struct place_numbers *, struct pool *, uint32_t *out_numbers,
			  struct place *out_places);

/*
 * Frees what finds numbers, which is about half of the memory: place_numbers_get() and place_numbers_n() still answer,
 * nothing else does until it is restored, and no pages that were given may be used any more. Not thread-safe.
 */
void place_numbers_forget_index(struct place_numbers *);

/* Makes it anew from the places, if it was freed: they keep their numbers. Not thread-safe. */
void place_numbers_restore_index(struct place_numbers *);

/* The number of a place, or PLACE_NONE. */
uint32_t place_numbers_find(const struct place_numbers *, struct place);

/*
 * The numbers of the page that `offset` is in, of which this offset is about to be looked up. NULL if there are too many
 * pages: then use place_numbers_add(). Valid as long as the table.
 */
struct place_page *place_numbers_page(struct place_numbers *, struct module_id, uint64_t offset);

/* Where a page stores the number of an instruction, which is a whole word. Addresses may be of memory or of the module. */
static inline _Atomic uint32_t *place_page_kept(struct place_page *page, uint64_t address)
{
	return &page->first[address % PLACE_PAGE / PLACE_CODE_SIZE];
}

/*
 * Where the page stores the number of a place; NULL if it does not: inside of a word, no numbers of callers, or no page.
 */
static inline _Atomic uint32_t *place_numbers_kept(struct place_page *page, uint64_t offset)
{
	_Atomic uint32_t *last;

	if (page == NULL)
		return NULL;
	if (offset % PLACE_CODE_SIZE == 0)
		return place_page_kept(page, offset);
	if (offset % PLACE_CODE_SIZE != PLACE_CODE_SIZE - 1)
		return NULL;
	last = atomic_load_explicit(&page->last, memory_order_acquire);
	return last != NULL ? &last[offset % PLACE_PAGE / PLACE_CODE_SIZE] : NULL;
}

/* The stored number; place_is_none(): none yet, use place_numbers_add_kept(). */
static inline uint32_t place_numbers_look(const _Atomic uint32_t *kept)
{
	return atomic_load_explicit(kept, memory_order_acquire) - 1;
}

/* Is it no number, or one that is being added? */
static inline bool place_is_none(uint32_t number)
{
	return number >= PLACE_NONE - 1;
}

/* A place, where its number is stored, and the number. */
struct kept_place {
	_Atomic uint32_t *kept;
	struct place place;
	uint32_t number;
};

enum { KEPT_AT_ONCE = 128 };

/*
 * The same as place_numbers_add(), of at most KEPT_AT_ONCE places, some of which may be the same: fills in their numbers.
 * Several at once take less time than one after the other.
 */
void place_numbers_add_kept(struct place_numbers *, struct kept_place *, size_t n);

#endif
